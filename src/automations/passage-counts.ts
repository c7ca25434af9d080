import type { PassageCount } from './runs-queries.ts';

/** How many automations are remembered. */
const mostKept = 500;
/** A count is as old as this many times what it took, so that polling never costs more than a twentieth of a connection. */
const restFactor = 20;

interface Kept {
  counts: Promise<readonly PassageCount[]>;
  until: number;
}

/**
 * Counts of passages that were made lately. One entry of the index is counted for each step that anybody ever took, so that a
 * small automation is counted at every look, and one that millions walked through every few seconds or minutes.
 */
export class PassageCounts {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;

  /** `now` answers milliseconds that only grow. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The counts of an automation: those of before, or what `count` answers. Who asks meanwhile shares one count. */
  get(automationId: string, count: () => Promise<readonly PassageCount[]>): Promise<readonly PassageCount[]> {
    const known = this.#kept.get(automationId);
    if (known !== undefined && known.until > this.#now()) return known.counts;
    const begun = this.#now();
    const kept: Kept = { counts: count(), until: Number.POSITIVE_INFINITY };
    this.#kept.delete(automationId);
    this.#kept.set(automationId, kept);
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value as string);
    kept.counts.then(
      () => {
        const took = this.#now() - begun;
        kept.until = took < 20 ? 0 : this.#now() + restFactor * took;
      },
      () => {
        if (this.#kept.get(automationId) === kept) this.#kept.delete(automationId);
      },
    );
    return kept.counts;
  }
}
