import type { WindowStore } from '../../../src/http/rate-leases.ts';

/** Windows in memory, which count what is asked of them. */
export class Windows implements WindowStore {
  takes = 0;
  isAway = false;
  /** What all processes have taken of the present window of each owner. */
  readonly used = new Map<string, number>();
  #startedAt = Date.now();

  async take(owner: string, requests: number, limit: number) {
    this.takes++;
    if (this.isAway) throw new Error('The store is away');
    const now = Date.now();
    if (now - this.#startedAt >= 60_000) {
      this.#startedAt = now;
      this.used.clear();
    }
    const used = Math.min(this.used.get(owner) ?? 0, limit) + requests;
    this.used.set(owner, used);
    return { startedAt: String(this.#startedAt), used, endsInMs: this.#startedAt + 60_000 - now };
  }

  async giveBack(owner: string, startedAt: string, requests: number, limit: number): Promise<void> {
    if (startedAt !== String(this.#startedAt)) return;
    this.used.set(owner, Math.min(this.used.get(owner) ?? 0, limit) - requests);
  }
}
