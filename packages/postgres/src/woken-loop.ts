import type { Logger } from 'pino';
import { listenOn } from './listener.ts';
import { wait } from './wait.ts';

/** Work that a notification of Postgres wakes, and that is looked for now and then in case one was lost. */
interface WokenLoopDeps {
  /** The channel to LISTEN on. */
  channel: string;
  /** Postgres without a pooler that shares sessions. */
  listenUrl: string;
  /** Does what there is to do; answers after how many milliseconds to re-check, unless a notification comes first. */
  work(): Promise<number>;
  /** What it is, for the log. */
  what: string;
  log: Logger;
  /** How long it waits after a failure, in milliseconds. */
  retryMs?: number;
}

/** Starts the loop; `close` resolves when what is under way has ended. It goes on through outages and logs once that one began. */
export function startWokenLoop({ channel, listenUrl, work, what, log, retryMs = 1000 }: WokenLoopDeps): {
  close(): Promise<void>;
} {
  const stop = new AbortController();
  let wakeUp = new AbortController();
  const wake = () => wakeUp.abort();
  const working = loop();
  // What was committed while nobody listened is looked for when somebody does again.
  const listener = listenOn({ url: listenUrl, channel, retryMs, onOpen: wake, onNotification: wake });
  return {
    async close() {
      stop.abort();
      wake();
      await Promise.all([working, listener.close()]);
    },
  };

  async function loop(): Promise<void> {
    let failing = false;
    while (!stop.signal.aborted) {
      wakeUp = new AbortController();
      let pauseMs = retryMs;
      try {
        pauseMs = await work();
        failing = false;
      } catch (error) {
        if (!failing) log.warn({ err: error }, `${what} failed; it goes on`);
        failing = true;
      }
      if (pauseMs > 0 && !stop.signal.aborted) await wait(pauseMs, wakeUp.signal);
    }
  }
}
