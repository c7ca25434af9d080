import { LRUCache } from 'lru-cache';

interface Waiting {
  begin(): void;
  refuse(): void;
}

/**
 * How long a place stays empty after work, once work under its key took `freeMs` since the key was last idle. From then on until the key is
 * idle, its work is done one at a time.
 */
export interface TurnRest {
  freeMs: number;
  /** As a multiple of the time that the work took, and at most so long. */
  times: number;
  mostMs: number;
}

/** How many may work at once under one key, and wait for it. */
interface TurnLimits {
  atOnce: number;
  /** How many may wait; no limit when absent. */
  waiting?: number | null;
  /** How long each may wait; no limit when absent. */
  waitMs?: number | null;
  /** How a key that is never idle is slowed down; not at all when absent. */
  rest?: TurnRest | null;
  /** The error of whoever cannot wait, or has waited for too long. */
  refusal?(): Error;
}

interface Turns {
  running: number;
  waiting: Waiting[];
  /** Milliseconds of work since the key was last idle. */
  tookMs: number;
}

/** Work that takes turns with other work of the same key in this process, such as that of one project. First come, first served. */
export class KeyedTurns {
  readonly #limits: TurnLimits;
  readonly #keys = new Map<string, Turns>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Does the work when it is its turn. Rejects with the refusal when that never comes. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (!this.#takeFree(key)) await this.#wait(key);
    return this.#timed(key, work);
  }

  /** Does the work where nothing has to be waited for; null where something has. */
  tryRun<T>(key: string, work: () => Promise<T>): Promise<T> | null {
    if (!this.#takeFree(key)) return null;
    return this.#timed(key, work);
  }

  async #timed<T>(key: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.#endTurn(key, performance.now() - began);
    }
  }

  #endTurn(key: string, tookMs: number): void {
    const { rest = null } = this.#limits;
    const turns = this.#keys.get(key);
    if (turns !== undefined) turns.tookMs += tookMs;
    if (rest === null || turns === undefined || turns.tookMs <= rest.freeMs) this.#giveBack(key);
    else setTimeout(() => this.#giveBack(key), Math.min(rest.mostMs, rest.times * tookMs)).unref();
  }

  #atOnce({ tookMs }: Turns): number {
    const { atOnce, rest = null } = this.#limits;
    return rest !== null && tookMs > rest.freeMs ? 1 : atOnce;
  }

  #takeFree(key: string): boolean {
    const turns = this.#keys.get(key) ?? { running: 0, waiting: [], tookMs: 0 };
    this.#keys.set(key, turns);
    if (turns.running >= this.#atOnce(turns)) return false;
    turns.running += 1;
    return true;
  }

  #wait(key: string): Promise<void> {
    const turns = this.#keys.get(key);
    const { waiting: most = null, waitMs = null, refusal = () => new Error('Too many wait') } = this.#limits;
    if (turns === undefined || (most !== null && turns.waiting.length >= most)) throw refusal();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiting: Waiting = {
        begin() {
          clearTimeout(timer);
          resolve();
        },
        refuse() {
          turns.waiting = turns.waiting.filter((other) => other !== waiting);
          reject(refusal());
        },
      };
      if (waitMs !== null) timer = setTimeout(waiting.refuse, waitMs);
      turns.waiting.push(waiting);
    });
  }

  // Whoever is next takes over the place, so that nobody comes in between.
  #giveBack(key: string): void {
    const turns = this.#keys.get(key);
    if (turns === undefined) return;
    const next = turns.running > this.#atOnce(turns) ? undefined : turns.waiting.shift();
    if (next === undefined) turns.running -= 1;
    else next.begin();
    if (turns.running === 0) this.#keys.delete(key);
  }
}

/** How many results are kept, and by which clock. */
interface RecentResultsOptions {
  /** Those unused for longest go first when there are more. */
  entries: number;
  /** Milliseconds that only grow. */
  now(): number;
}

/**
 * Keeps results that are dear to find for a short while, in this process. Callers who ask for the same at the same time share
 * one answer. Use it only where an answer of that age is as good, and say so in the documentation.
 */
export class RecentResults<Result> {
  readonly #kept: LRUCache<string, Promise<Result>>;
  readonly #now: () => number;

  constructor({ entries, now }: RecentResultsOptions) {
    this.#kept = new LRUCache({ max: entries, perf: { now }, ttlResolution: 0 });
    this.#now = now;
  }

  /** The result for the key: a kept one, or what `find` answers, which is kept for `keepMs`. Failures never are. */
  get(key: string, find: () => Promise<Result>, keepMs: (result: Result, tookMs: number) => number): Promise<Result> {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const begun = this.#now();
    const found = find();
    this.#kept.set(key, found);
    found.then(
      (result) => this.#keep(key, found, keepMs(result, this.#now() - begun)),
      () => this.#keep(key, found, 0),
    );
    return found;
  }

  /** Forgets the result of a key, because it has just been changed. */
  forget(key: string): void {
    this.#kept.delete(key);
  }

  #keep(key: string, found: Promise<Result>, ttl: number): void {
    if (this.#kept.peek(key) !== found) return;
    if (ttl > 0) this.#kept.set(key, found, { ttl });
    else this.#kept.delete(key);
  }
}
