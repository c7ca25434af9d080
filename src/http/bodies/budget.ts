import { busy } from './json.ts';

/** Bytes that one request may hold in memory; given back when the request is over. */
export interface BodyHold {
  readonly bytes: number;
  /** Asks for as many bytes in all; false when there are not so many left at the moment. */
  growTo(bytes: number): boolean;
  release(): void;
}

/** How much memory bodies may take. */
export interface BudgetSize {
  /** Bytes of all bodies that are being read or worked on. */
  total: number;
  /** Bytes of one owner, such as a customer or a network address. */
  share: number;
  /** How long a request waits for others to finish. */
  waitMs: number;
}

interface Waiting {
  owner: string;
  bytes: number;
  admit: () => void;
}

/**
 * Limits the memory that request bodies take in this process. A body that does not fit waits for others to finish, unread;
 * nobody's bodies take more than a share, so that the requests of one owner leave room for those of others.
 */
export class BodyBudget {
  readonly #size: BudgetSize;
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;

  constructor(size: BudgetSize) {
    this.#size = size;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#total;
  }

  /** Takes bytes, after some waiting if need be. @throws BodyError `busy` */
  async take(owner: string, bytes: number): Promise<BodyHold> {
    if (!this.#fits(owner, bytes)) await this.#wait(owner, bytes);
    else this.#add(owner, bytes);
    return this.#hold(owner, bytes);
  }

  #hold(owner: string, taken: number): BodyHold {
    let bytes = taken;
    let released = false;
    return {
      get bytes() {
        return bytes;
      },
      growTo: (wanted) => {
        if (!this.#fits(owner, wanted - bytes)) return false;
        this.#add(owner, wanted - bytes);
        bytes = wanted;
        return true;
      },
      release: () => {
        if (released) return;
        released = true;
        this.#add(owner, -bytes);
        this.#admitWaiting();
      },
    };
  }

  #fits(owner: string, bytes: number): boolean {
    return this.#total + bytes <= this.#size.total && (this.#held.get(owner) ?? 0) + bytes <= this.#size.share;
  }

  #add(owner: string, bytes: number): void {
    this.#total += bytes;
    const held = (this.#held.get(owner) ?? 0) + bytes;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }

  #wait(owner: string, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        owner,
        bytes,
        admit: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(busy());
      }, this.#size.waitMs);
      this.#waiting.add(waiting);
    });
  }

  // In the order they came, but nobody waits behind a request of an owner whose share is used up.
  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.owner, waiting.bytes)) continue;
      this.#waiting.delete(waiting);
      this.#add(waiting.owner, waiting.bytes);
      waiting.admit();
    }
  }
}
