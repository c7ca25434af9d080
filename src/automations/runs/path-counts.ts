import { RecentResults } from '../../core/lib/recent-results.ts';
import type { PathCount } from './queries.ts';

/** How many automations are remembered. */
const mostKept = 500;
/** A count is as old as this many times what it took, so that polling never costs more than a twentieth of a connection. */
const restFactor = 20;

/**
 * Recent path counts. One entry of the index is counted for each step that anybody ever took, so that a
 * small automation is counted for every request, and one that millions went through every few seconds or minutes.
 */
export class PathCountCache {
  readonly #counts: RecentResults<readonly PathCount[]>;

  /** `now` answers milliseconds that only grow. */
  constructor(now: () => number) {
    this.#counts = new RecentResults({ entries: mostKept, now });
  }

  /** The counts of an automation: those of before, or what `count` answers. Requests that come meanwhile share one count. */
  get(automationId: string, count: () => Promise<readonly PathCount[]>): Promise<readonly PathCount[]> {
    return this.#counts.get(automationId, count, (_, took) => (took < 20 ? 0 : restFactor * took));
  }
}
