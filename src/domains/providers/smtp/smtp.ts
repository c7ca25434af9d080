import { buffer } from 'node:stream/consumers';
import DKIM from 'nodemailer/lib/dkim';
import type { HandoverJournal, Mailer, OutgoingMessage, Verdict } from '../mailer.ts';
import { messageIdOf } from '../mime.ts';
import { createConnectionLimiter, createSingleMailer } from '../one-by-one.ts';
import { openSmtpSession, type SmtpAccess, SmtpFailure, type SmtpSession } from './smtp-session.ts';

/** Sessions that wait for their next message. */
interface SmtpPool {
  /** Runs the work with a session of its own, a kept one where there is one. Rejects as the work or the connection does. */
  with<T>(work: (session: SmtpSession) => Promise<T>): Promise<T>;
}

// Servers end sessions that say nothing for long, or too much.
const idleMs = 15_000;
const mostMessages = 100;

/** A pool that opens sessions as they are needed; how many at once is for the caller to bound. */
function createSmtpPool(access: SmtpAccess): SmtpPool {
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

/** A DKIM key in the form in which nodemailer takes it. */
export interface SigningKey {
  domainName: string;
  keySelector: string;
  /** PKCS #8, PEM. */
  privateKey: string;
}

export interface SmtpOptions extends SmtpAccess {
  /** Sessions of this process at once. */
  connections: number;
  maxMessageBytes: number;
  /** The DKIM key of a sender's domain; null for one that the server signs for. */
  keyOf(domain: string): Promise<SigningKey | null>;
  journal: HandoverJournal;
  log: { warn(facts: object, text: string): void };
}

/** The mailer over an SMTP server, one message in a transaction, over sessions that are kept. */
export function createSmtpMailer(options: SmtpOptions): Mailer {
  const pool = createSmtpPool(options);
  const { connections, maxMessageBytes, journal, log, keyOf } = options;
  return createSingleMailer(
    {
      name: 'smtp',
      maxMessageBytes,
      // Nothing is ever heard of a message again.
      proofMs: 0,
      async sign(message, mime) {
        const key = await keyOf(domainOf(message));
        return key === null ? mime : signed(mime, key);
      },
      async handOver(message, mime) {
        const envelope = { from: message.from.address, to: message.to.address };
        try {
          await pool.with((session) => session.send(envelope, mime));
          return { kind: 'accepted', messageId: messageIdOf(message), at: new Date().toISOString() };
        } catch (error) {
          return error instanceof SmtpFailure ? smtpVerdict(error) : unknown(error);
        }
      },
    },
    { journal, log, limiter: createConnectionLimiter(connections) },
  );
}

function signed(mime: Buffer, key: SigningKey): Promise<Buffer> {
  return buffer(new DKIM(key).sign(mime));
}

function domainOf({ from }: OutgoingMessage): string {
  return from.address.slice(from.address.lastIndexOf('@') + 1);
}

function unknown(error: unknown): Verdict {
  return { kind: 'unknown', reason: error instanceof Error ? error.message : String(error) };
}

// Servers that delay strangers ("greylisting") want some minutes; a full or locked mailbox is no sooner free.
const laterMs = 60_000;
// RFC 3463: no such mailbox, no such domain, not an address, moved away, disabled.
const noMailbox = /\b5\.(?:1\.(?:1|2|3|6|10)|2\.1)\b/;

/** Returns the verdict of a failed transaction about its message (RFC 5321, 4.2 and 4.2.5). */
function smtpVerdict(failure: SmtpFailure): Verdict {
  const { code, command, begun, message } = failure;
  if (code === null) {
    // The client itself refused to offer the message: too large for the server, or no address.
    if (failure.reason === 'EMESSAGE' || failure.reason === 'EENVELOPE')
      return { kind: 'rejected', code: 552, reason: message, inactive: false };
    // Without a reply after the text nobody knows; before it the server cannot have the message.
    if (begun) return { kind: 'unknown', reason: `the SMTP server gave no answer to the message: ${message}` };
    return { kind: 'retry', reason: `the SMTP server cannot be reached: ${message}`, afterMs: null, scope: 'call' };
  }
  const reason = `the SMTP server answers ${code} to ${command}: ${message}`;
  const duringMessage = command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA';
  if (code === 421 || (code < 500 && !duringMessage)) return { kind: 'retry', reason, afterMs: null, scope: 'call' };
  if (code < 500) return { kind: 'retry', reason, afterMs: laterMs, scope: 'message' };
  if (!duringMessage || code === 530 || code === 535) return { kind: 'retry', reason, afterMs: null, scope: 'account' };
  return { kind: 'rejected', code, reason: message, inactive: command === 'RCPT TO' && noMailbox.test(message) };
}
