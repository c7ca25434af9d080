import { startOfErasure } from '../../../src/insight/erasures/work.ts';
import { newId } from '../../../src/lib/ids.ts';
import { failed, type ReplayCase, type Script } from './case.ts';

/** Ways through `eraseContact`. */
export const erasureCases: readonly ReplayCase[] = [
  erase('at-once', { eraseContactRows: ['emptied'], eraseAtProvider: [undefined], certifyErasure: [{ waitMs: null }] }),
  erase('mail-was-leaving', {
    eraseContactRows: ['leaving', failed, 'unfinished', 'importing', 'emptied'],
    eraseAtProvider: [failed, undefined],
    certifyErasure: [{ waitMs: null }],
  }),
  erase('waited-for-retention', {
    eraseContactRows: ['emptied', 'emptied'],
    eraseAtProvider: [undefined, undefined],
    certifyErasure: [{ waitMs: 1_000 }, { waitMs: null }],
  }),
  erase('done-before', { eraseContactRows: ['gone'] }),
];

function erase(name: string, answers: Script): ReplayCase {
  const launch = startOfErasure(newId(), newId());
  return { name: `eraseContact-${name}`, launch, answers, ends: 'COMPLETED' };
}
