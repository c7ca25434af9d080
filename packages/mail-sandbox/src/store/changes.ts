import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';

// Ten thousand messages in a second are no reason to read a page again ten thousand times.
const pauseMs = 250;

/** Counts what changes in the store, so that open pages know when to be read again. */
export class StoreChanges {
  private readonly run = randomUUID();
  private readonly noted = new EventEmitter().setMaxListeners(0);
  private count = 0;

  /** Names the state of the store; another one after each change, and after a restart. */
  get version(): string {
    return `${this.run}.${this.count}`;
  }

  /** Something was stored, read or deleted, or has happened to a message. */
  note(): void {
    this.count += 1;
    this.noted.emit('change');
  }

  /**
   * Calls `tell` with the version whenever it is another one than was told last, `known` at first: at once, and then at most four
   * times a second. Returns what ends it.
   */
  follow(known: string, tell: (version: string) => void): () => void {
    let told = known;
    let pause: NodeJS.Timeout | null = null;
    const check = () => {
      if (pause !== null || told === this.version) return;
      told = this.version;
      pause = setTimeout(() => {
        pause = null;
        check();
      }, pauseMs);
      tell(told);
    };
    this.noted.on('change', check);
    check();
    return () => {
      this.noted.off('change', check);
      if (pause !== null) clearTimeout(pause);
    };
  }
}
