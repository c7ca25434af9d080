import { newId } from '../../../src/lib/ids.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { failed, type ReplayCase, type Script } from './case.ts';

const unfinished = { state: 'unfinished', removed: 20_000 } as const;
const emptied = { state: 'emptied', removed: 31_000 } as const;
const gone = { state: 'gone', removed: 0 } as const;

/** Ways through `wipeProject`. */
export const wipeCases: readonly ReplayCase[] = [
  wipe('several-shares', {
    endProjectExecutions: [3, 0],
    wipeProjectRows: [unfinished, failed, unfinished, emptied],
    finishProjectWipe: [failed, undefined],
  }),
  wipe('nothing-ran', { endProjectExecutions: [0, 0], wipeProjectRows: [emptied], finishProjectWipe: [undefined] }),
  wipe('busy', {
    endProjectExecutions: [9, 5, 2, 1, 1],
    wipeProjectRows: [emptied],
    finishProjectWipe: [undefined],
  }),
  wipe('done-before', { endProjectExecutions: [0, 0], wipeProjectRows: [gone], finishProjectWipe: [undefined] }),
];

function wipe(name: string, answers: Script): ReplayCase {
  const wipeId = newId();
  return {
    name: `wipeProject-${name}`,
    launch: {
      workflow: 'wipeProject',
      id: workflowId.wipe(wipeId),
      input: { wipeId },
      searchAttributes: { Kind: 'wipe' },
    },
    answers,
    ends: 'COMPLETED',
  };
}
