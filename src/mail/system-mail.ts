import {
  beginHandOver,
  noteFailed,
  noteRefusal,
  noteSent,
  type PendingMail,
  pendingMail,
  stalledMails,
} from '../accounts/system-mail/queries.ts';
import { startOfMail } from '../accounts/system-mail/service.ts';
import type { OutgoingMessage } from '../domains/providers/mailer.ts';
import { tryUnseal, UnsealError } from '../lib/seal.ts';
import type { Letter } from '../lib/texts/letter.ts';
import { restartable } from '../store/outbox/recovery.ts';
import type { Database } from '../store/sql.ts';
import { mostAgeMs } from './engine/attempts.ts';
import { mayCall } from './engine/breaker.ts';
import { handOver } from './engine/hand-over.ts';
import { judgeUnconfirmed, lookUpClaim } from './engine/look-up.ts';
import type { Delivery, EngineDeps, KeptTexts, Outcome, Tried } from './engine/port.ts';
import type { MailRecipient } from './engine/suppression.ts';
import { reasonText } from './ledger/reasons.ts';
import { systemProjectId } from './providers/journal.ts';

/** Dependencies of handing over mail of the service. */
export interface SystemMailDeps extends EngineDeps {
  db: Database;
  /** Keys that may have sealed the content of a mail. */
  encryptionKey: string | readonly string[];
  from: { address: string; name: string };
  /** How long a message the provider does not know may still turn up there, in milliseconds. */
  lagMs: number;
}

/** The result of a mail, or in how many milliseconds it is to be checked again. */
export type SystemMailReport = { state: 'sent' | 'failed' | 'gone' } | { state: 'later'; waitMs: number };

const shortestPauseMs = 5_000;
const longestPauseMs = 10 * 60_000;
/** A look-up that stays impossible for so long after the hand-over is given up, and the mail is sent again. */
const patienceMs = 15 * 60_000;

/**
 * Hands a mail of the service to the provider. Safe to repeat from any point: a hand-over is noted before it begins, and
 * one whose outcome is not known is looked up at the provider before the mail is sent again.
 */
export async function sendSystemMail(deps: SystemMailDeps, id: string): Promise<SystemMailReport> {
  const { db, mailer } = deps;
  const mail = await pendingMail(db, id);
  if (mail === null) return { state: 'gone' };
  const ledger = new SystemDelivery(deps, claimOf(mail));
  if (mail.attempts > 0 && mail.error === null) {
    const known = await lookUp(deps, mail, ledger);
    if (known !== null) return known;
  }
  if (mail.ageMs > mostAgeMs) return ledger.failed(mail, mail.error ?? 'Not taken by the provider within 24 hours');
  const leave = await mayCall(db, mailer.name);
  if (leave.hold !== null) return { state: 'later', waitMs: Math.max(leave.hold.waitMs, shortestPauseMs) };
  const content = tryUnseal(mail.contentSealed, deps.encryptionKey);
  if (content === null) {
    // It waits for the old key as it waits for a provider: somebody may set it within the day.
    await noteRefusal(db, id, new UnsealError().message);
    return { state: 'later', waitMs: longestPauseMs };
  }
  if (!(await beginHandOver(db, id, mail.attempts))) return { state: 'later', waitMs: shortestPauseMs };
  ledger.begins(claimOf({ id, attempts: mail.attempts + 1 }), leave.probing);
  const letter = JSON.parse(content) as Letter;
  await handOver(deps, ledger, [{ ...mail, letter }], (outcomes) => ledger.settle(outcomes));
  return ledger.report;
}

/**
 * The claim of a mail's last attempt. Each attempt has its own: the journal of a provider that cannot be searched (SES, SMTP) takes a
 * message once for a claim, and would refuse what is to be sent again.
 */
function claimOf({ id, attempts }: Pick<PendingMail, 'id' | 'attempts'>): string {
  return attempts > 1 ? `${id}.${attempts}` : id;
}

/** Looks a mail up whose hand-over has no known outcome; null when it may be sent again. */
async function lookUp(
  deps: SystemMailDeps,
  mail: PendingMail,
  ledger: SystemDelivery,
): Promise<SystemMailReport | null> {
  const { accepted } = await lookUpClaim(deps, claimOf(mail));
  const { id: emailId, sinceMs, ageMs } = mail;
  const unconfirmed = { emailId, attempts: 0, ageMs, sinceMs, lagMs: Math.max(0, deps.lagMs - sinceMs) };
  // A letter that comes twice does less harm than one that never comes: what nobody can tell of is sent again.
  if (accepted === null && sinceMs > patienceMs) return null;
  const judgement = judgeUnconfirmed(unconfirmed, { accepted, unsure: new Set(), proofMs: 0 }, false);
  switch (judgement.kind) {
    case 'sent':
      return ledger.sent(mail, judgement.messageId, judgement.at);
    case 'wait':
      return { state: 'later', waitMs: Math.ceil(judgement.delayMs) };
    case 'failed':
      return ledger.failed(mail, reasonText(judgement.reason));
    case 'again':
      return null;
  }
}

interface OpenMail extends PendingMail {
  letter: Letter;
}

/** Mail of the service as the engine sees it: one message, which no rule of a project concerns. */
class SystemDelivery implements Delivery<OpenMail> {
  /** The claim of the attempt. */
  id: string;
  readonly projectId = systemProjectId;
  takenAt = performance.now();
  calls: 'allowed' | 'probe' = 'allowed';
  /** The outcome of the mail. */
  report: SystemMailReport = { state: 'later', waitMs: shortestPauseMs };
  readonly #deps: SystemMailDeps;

  constructor(deps: SystemMailDeps, claimId: string) {
    this.#deps = deps;
    this.id = claimId;
  }

  /** Notes that the hand-over under this claim begins now. */
  begins(claimId: string, probing: boolean): void {
    this.id = claimId;
    this.takenAt = performance.now();
    this.calls = probing ? 'probe' : 'allowed';
  }

  idOf({ id }: OpenMail): string {
    return id;
  }

  // Nobody else sends what is in it, so that only its age gives it up.
  triedOf({ ageMs }: OpenMail): Tried {
    return { attempts: 0, ageMs };
  }

  refusalOf(): null {
    return null;
  }

  recipientOf({ to }: OpenMail): MailRecipient {
    return { address: to, marketingTo: null };
  }

  async suppressing(): Promise<null> {
    return null;
  }

  keep({ subject }: OutgoingMessage): KeptTexts {
    return { subject, body: null };
  }

  compose({ id, to, letter: { subject, html, text } }: OpenMail): OutgoingMessage {
    return {
      emailId: id,
      projectId: systemProjectId,
      from: this.#deps.from,
      to: { address: to, name: null },
      replyTo: null,
      subject,
      html,
      text,
      headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
      attachments: [],
      tag: 'SYSTEM',
      stream: 'transactional',
      tracking: false,
    };
  }

  async renew(): Promise<true> {
    return true;
  }

  async settle(outcomes: readonly Outcome<OpenMail>[]): Promise<void> {
    for (const end of outcomes) this.report = await this.#settle(end);
  }

  async #settle(end: Outcome<OpenMail>): Promise<SystemMailReport> {
    switch (end.outcome) {
      case 'SENT':
        return this.sent(end.mail, end.messageId, end.at);
      case 'FAILED':
      case 'BOUNCED':
        return this.failed(end.mail, reasonText(end.reason));
      case 'RETRY':
        // With a reason it is known not to have been sent, so that it need not be looked up.
        await noteRefusal(this.#deps.db, end.mail.id, end.words ?? 'The provider does not take mail at the moment');
        return { state: 'later', waitMs: Math.max(pauseAfter(end.mail.attempts), end.delayMs) };
      case 'UNCONFIRMED':
        return { state: 'later', waitMs: this.#deps.lagMs };
      case 'SUPPRESSED':
      case 'HELD':
        throw new Error('No rule and no quiet hours concern mail of the service');
    }
  }

  /** Notes that the provider has the mail; `at` is an ISO instant. */
  async sent({ id }: PendingMail, messageId: string, at: string): Promise<SystemMailReport> {
    await noteSent(this.#deps.db, id, messageId, at);
    return { state: 'sent' };
  }

  /** Gives the mail up. */
  async failed({ id }: PendingMail, reason: string): Promise<SystemMailReport> {
    await noteFailed(this.#deps.db, id, reason);
    return { state: 'failed' };
  }
}

function pauseAfter(attempts: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(attempts, 20));
}

/** Mail of the service whose execution may be lost. It rests between two attempts for ten minutes at most. */
export const recoverableMails = restartable('system mail', stalledMails, ({ id }) => startOfMail(id), 15 * 60_000);
