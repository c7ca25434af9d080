/** A window as its store has it. */
export interface RateWindow {
  /** Names the window among those of its owner. */
  startedAt: string;
  /** Requests that all processes have taken of it together; more than the limit where some were taken in vain. */
  used: number;
  endsInMs: number;
}

/** Where the windows of all processes are kept. Takes of one owner must not overlap. */
export interface WindowStore {
  /**
   * Adds requests to the owner's window, or to a new one where that is over, and answers it. What was taken in vain before does not
   * count: `used` grows from the limit at most. Rejects when the store is out of reach.
   */
  take(owner: string, requests: number, limit: number): Promise<RateWindow>;
  /** Takes requests off the window again; none where it is another one by now. */
  giveBack(owner: string, startedAt: string, requests: number, limit: number): Promise<unknown>;
}

/** The outcome of counting a request. */
export interface RateState {
  /** False when the window is full, and nothing was counted. */
  admitted: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number;
}

interface Lease {
  /** Requests of one window, as the latest take named it. */
  limit: number;
  left: number;
  /** Requests that all processes had taken of the window when this lease was made. */
  used: number;
  startedAt: string;
  endsAt: number;
  renewAt: number;
  pending: Promise<void> | null;
  /** The sum of the requests that wait for this lease. */
  waiting: number;
  idle: NodeJS.Timeout | undefined;
}

const mostLeased = 5_000;
// A lease is so small a part of what is free that no process holds back much of it.
const partOfFree = 20;
const idleMs = 1_000;

/**
 * Counts requests in windows that all processes share. A process takes requests in leases that shrink as the window fills, so most
 * requests cost no round trip and the limit is never exceeded; what it does not use within a second goes back. Until then a request that
 * counts as several may be refused near the end of a window, because other processes hold what is left.
 */
export class LeasedRateLimit {
  readonly #store: WindowStore;
  readonly #limit: number;
  readonly #leases = new Map<string, Lease>();

  /** `limit`: requests of one window. */
  constructor(store: WindowStore, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /**
   * Counts one request, or one that counts as several; `limit` is that of this owner, where it has its own. Null when the store fails,
   * so that nothing is counted.
   */
  async take(owner: string, requests = 1, limit = this.#limit): Promise<RateState | null> {
    const lease = this.#leaseOf(owner);
    lease.limit = limit;
    try {
      return await this.#count(owner, lease, requests);
    } catch {
      return null;
    } finally {
      this.#watchIdle(owner, lease);
    }
  }

  /** Gives back what is not used. */
  async close(): Promise<void> {
    const leases = [...this.#leases];
    this.#leases.clear();
    for (const [, { idle }] of leases) clearTimeout(idle);
    await Promise.all(leases.map(([owner, lease]) => this.#release(owner, lease)));
  }

  #leaseOf(owner: string): Lease {
    const known = this.#leases.get(owner);
    if (known) return known;
    const lease = {
      limit: this.#limit,
      left: 0,
      used: 0,
      startedAt: '',
      endsAt: 0,
      renewAt: 0,
      pending: null,
      waiting: 0,
      idle: undefined,
    };
    this.#leases.set(owner, lease);
    return lease;
  }

  async #count(owner: string, lease: Lease, requests: number): Promise<RateState> {
    // Several requests may wait for one lease and find it used up by those before them; each round grants at least
    // one request or says that the window is full, so the loop ends.
    while (!isSettled(lease, requests)) {
      lease.waiting += requests;
      lease.pending ??= this.#renew(owner, lease).finally(() => {
        lease.pending = null;
      });
      try {
        await lease.pending;
      } finally {
        lease.waiting -= requests;
      }
    }
    // Nothing is awaited from here on: what is left must not be taken twice.
    const { limit } = lease;
    const resetSeconds = Math.max(1, Math.ceil((lease.endsAt - Date.now()) / 1000));
    const admitted = lease.left >= requests;
    if (admitted) lease.left -= requests;
    return { admitted, limit, remaining: Math.max(0, limit - lease.used + lease.left), resetSeconds };
  }

  async #renew(owner: string, lease: Lease): Promise<void> {
    const { limit } = lease;
    const free = lease.endsAt > Date.now() ? Math.max(0, limit - lease.used) : limit;
    const part = Math.max(lease.waiting - lease.left, Math.floor(free / partOfFree));
    const wanted = Math.max(1, Math.min(mostLeased, free, part));
    const { used, startedAt, endsInMs } = await this.#store.take(owner, wanted, limit);
    const granted = Math.max(0, wanted - Math.max(0, used - limit));
    lease.left = granted + (startedAt === lease.startedAt ? lease.left : 0);
    lease.used = Math.min(limit, used);
    lease.startedAt = startedAt;
    lease.endsAt = Date.now() + endsInMs;
    // A full window is asked for again now and then, for other processes give back what they do not use.
    lease.renewAt = granted > 0 ? 0 : Date.now() + Math.min(idleMs, endsInMs);
  }

  #watchIdle(owner: string, lease: Lease): void {
    if (lease.idle !== undefined) return void lease.idle.refresh();
    lease.idle = setTimeout(() => {
      lease.idle = undefined;
      if (lease.waiting > 0) return;
      this.#leases.delete(owner);
      void this.#release(owner, lease);
    }, idleMs).unref();
  }

  async #release(owner: string, lease: Lease): Promise<void> {
    const { left: unused, startedAt } = lease;
    if (unused === 0 || lease.endsAt <= Date.now()) return;
    lease.left = 0;
    lease.used -= unused;
    // The window ends soon anyway.
    await this.#store.giveBack(owner, startedAt, unused, lease.limit).catch(() => undefined);
  }
}

// Either there is enough to take, or the window was found full a moment ago.
function isSettled(lease: Lease, requests: number): boolean {
  const now = Date.now();
  return now < lease.endsAt && (lease.left >= requests || lease.renewAt > now);
}
