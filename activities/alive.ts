import { heartbeat } from '@temporalio/activity';

/** Sends a heartbeat every `everyMs` while the work runs, with what it noted last. */
export async function alive<T>(everyMs: number, work: (note: (details: unknown) => void) => Promise<T>): Promise<T> {
  let last: unknown = null;
  const timer = setInterval(() => heartbeat(last), everyMs);
  try {
    return await work((details) => {
      last = details;
    });
  } finally {
    clearInterval(timer);
  }
}
