import { foldMailChanges } from '../../mail/ledger/mail-count-queries.ts';
import { afterStop, type GuardDeps, type Stopped, stopIfHarmful } from './service.ts';

/**
 * Folds changes of mail into the counts, and judges each project that has new bounces or complaints among them: whatever
 * reported them, and whether or not the process that took the report lived to judge it. Answers how many changes there were.
 */
export async function foldAndJudge(deps: GuardDeps, stop?: AbortSignal): Promise<number> {
  const stopped: Stopped[] = [];
  const folded = await foldMailChanges(
    deps.db,
    async (db, harmed) => {
      for (const projectId of harmed) {
        const one = await stopIfHarmful(db, deps, projectId);
        if (one !== null) stopped.push(one);
      }
    },
    stop,
  );
  for (const one of stopped) await afterStop(deps, one);
  return folded;
}
