import { openSmtpSession, type SmtpAccess, SmtpFailure, type SmtpSession } from './smtp-session.ts';

/** Sessions that wait for their next message. */
export interface SmtpPool {
  /** Runs the work with a session of its own, a kept one where there is one. Rejects as the work or the connection does. */
  with<T>(work: (session: SmtpSession) => Promise<T>): Promise<T>;
}

// Servers end sessions that say nothing for long, or too much.
const idleMs = 15_000;
const mostMessages = 100;

/** A pool that opens sessions as they are needed; how many at once is for the caller to bound. */
export function createSmtpPool(access: SmtpAccess): SmtpPool {
  interface Kept {
    session: SmtpSession;
    messages: number;
    timer?: NodeJS.Timeout;
  }
  const idle: Kept[] = [];
  const take = async (): Promise<Kept> => {
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) {
      clearTimeout(kept.timer);
      if (kept.session.usable) return kept;
    }
    return { session: await openSmtpSession(access), messages: 0 };
  };
  const giveBack = (kept: Kept) => {
    if (!kept.session.usable) return;
    kept.messages += 1;
    if (kept.messages >= mostMessages) return kept.session.close();
    kept.timer = setTimeout(() => {
      idle.splice(idle.indexOf(kept), 1);
      kept.session.close();
    }, idleMs);
    // Nothing is lost when a process ends while a session idles.
    kept.timer.unref();
    idle.push(kept);
  };
  return {
    async with(work) {
      const kept = await take();
      try {
        return await work(kept.session);
      } catch (error) {
        if (kept.messages === 0 || !endedBetween(error)) throw error;
      } finally {
        giveBack(kept);
      }
      const fresh = { session: await openSmtpSession(access), messages: 0 };
      try {
        return await work(fresh.session);
      } finally {
        giveBack(fresh);
      }
    },
  };
}

// A kept session that the server has ended meanwhile says nothing of the server, and has taken nothing.
function endedBetween(error: unknown): boolean {
  return error instanceof SmtpFailure && !error.begun && (error.code === null || error.code === 421);
}
