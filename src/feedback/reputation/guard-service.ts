import { type GuardDeps, guardReputation } from './service.ts';

/** Judges a project after a permanent bounce or a complaint. Resolves when the effect is written down; never rejects. */
export type ReputationGuard = (projectId: string) => Promise<void>;

/**
 * The guard of a process. Of reports that come together for one project, the later ones share one check that begins after
 * the one that is running: a burst of bounces costs a handful of checks. What is missed here is judged by workers.
 */
export function createReputationGuard(deps: GuardDeps, onStop: (projectId: string) => void): ReputationGuard {
  const waiting = new Map<string, Promise<void>>();
  const last = new Map<string, Promise<void>>();
  const check = async (projectId: string) => {
    try {
      if (await guardReputation(deps, projectId)) onStop(projectId);
    } catch (error) {
      deps.log.warn({ err: error, projectId }, 'a reputation could not be judged; a worker does it soon');
    }
  };
  return (projectId) => {
    const shared = waiting.get(projectId);
    if (shared !== undefined) return shared;
    const mine = (last.get(projectId) ?? Promise.resolve()).then(() => {
      waiting.delete(projectId);
      return check(projectId);
    });
    waiting.set(projectId, mine);
    last.set(projectId, mine);
    void mine.then(() => {
      if (last.get(projectId) === mine) last.delete(projectId);
    });
    return mine;
  };
}
