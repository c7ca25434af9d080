import type { Logger } from 'pino';

const shortestPauseMs = 250;
const longestPauseMs = 5000;

/** Whether Temporal is out of reach. While it is, one row at a time finds out whether it is back. */
export class Outage {
  readonly #log: Logger;
  #current: { pauseMs: number; until: number } | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** An outage has begun and nobody has reached Temporal since. */
  get isOpen(): boolean {
    return this.#current !== null;
  }

  /** Nothing is to be tried now. */
  get isDown(): boolean {
    return this.#current !== null && Date.now() < this.#current.until;
  }

  /** A call did not reach Temporal: the next one comes after a pause that doubles up to five seconds. */
  lost(reason: string): void {
    if (this.#current === null) this.#log.warn(`outbox: ${reason}; work is kept and starts when Temporal is back`);
    if (this.isDown) return;
    const pauseMs = this.#current === null ? shortestPauseMs : Math.min(longestPauseMs, this.#current.pauseMs * 2);
    this.#current = { pauseMs, until: Date.now() + pauseMs };
  }

  /** A call reached Temporal. */
  reached(): void {
    if (this.#current !== null) this.#log.info('outbox: Temporal is back');
    this.#current = null;
  }
}
