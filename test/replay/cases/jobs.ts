import { newId } from '../../../src/lib/ids.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { cancelling, failed, failedForGood, type ReplayCase, type Script } from './case.ts';

const finished = { state: 'finished', rows: 5000, failed: 2, progress: 100 } as const;
const unfinished = { state: 'unfinished', rows: 2000, failed: 1, progress: 40 } as const;
const busy = { state: 'busy', rows: 0, failed: 0, progress: 0 } as const;
const gone = { state: 'gone', rows: 0, failed: 0, progress: 0 } as const;

/** Ways through `importContacts` and `bulkContacts`. */
export const jobCases: readonly ReplayCase[] = [
  job('importContacts', 'finished', { importContactRows: [finished] }),
  job('importContacts', 'several-shares', { importContactRows: [unfinished, unfinished, finished] }),
  job('importContacts', 'beside-another-of-the-project', { importContactRows: [busy, busy, unfinished, finished] }),
  job('importContacts', 'gone', { importContactRows: [gone] }),
  job('importContacts', 'attempts-failed', { importContactRows: [unfinished, failed, failed, finished] }),
  job('importContacts', 'given-up', { importContactRows: [unfinished, failedForGood], failJob: [undefined] }),
  job('importContacts', 'cancelled-in-the-ui', {
    importContactRows: [cancelling(unfinished)],
    failJob: [failed, undefined],
  }),
  job('bulkContacts', 'several-shares', { changeContactRows: [unfinished, finished] }),
  job('bulkContacts', 'at-a-pace', { changeContactRows: [unfinished, { ...busy, waitMs: 1_200 }, finished] }),
  job('bulkContacts', 'given-up', { changeContactRows: [failedForGood], failJob: [undefined] }),
  job('bulkContacts', 'cancelled-in-the-ui', {
    changeContactRows: [cancelling(unfinished)],
    failJob: [undefined],
  }),
];

function job(workflow: 'importContacts' | 'bulkContacts', name: string, answers: Script): ReplayCase {
  const kind = workflow === 'importContacts' ? 'import' : 'bulk';
  const jobId = `${kind}-${newId()}`;
  return {
    name: `${workflow}-${name}`,
    launch: {
      workflow,
      id: workflowId[kind](jobId),
      input: { jobId },
      searchAttributes: { ProjectId: newId(), Kind: kind },
    },
    answers,
    // One that failed, or was cancelled, has said so in its job's row.
    ends: 'COMPLETED',
  };
}
