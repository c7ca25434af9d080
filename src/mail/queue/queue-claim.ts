import type { OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { SourceType } from '../../lib/enums.ts';
import { isoInstantOrNull } from '../../store/columns.ts';
import { heldUntil } from '../emails/schedule.ts';
import { keptBody } from '../engine/compose.ts';
import type { Claim, EngineDeps, KeptTexts, Outcome, Tried } from '../engine/port.ts';
import { type MailRecipient, type Suppressing, suppressing, writeSuppressed } from '../engine/suppression.ts';
import { renderedAgain } from '../engine/work.ts';
import { type ClaimedMail, isMarketing, refusalOf } from '../ledger/queries.ts';
import type { Reason } from '../ledger/reasons.ts';
import { type Settled, type Settlement, settleMail } from '../ledger/settle.ts';
import { holdQueued, isClaimed, type UnconfirmedMail } from './claims.ts';

/** The parts that queued mail is delivered with. */
export interface QueueDeps extends EngineDeps {
  /** Renders a claimed mail for its recipient. An error fails that mail alone. */
  compose(mail: ClaimedMail): OutgoingMessage;
  /** Setting SEND_RATE_PER_PROJECT: messages a second, 0 for no limit. */
  rate: number;
  /** Setting PROVIDER_LOOKUP_LAG_SECONDS, in milliseconds. */
  lagMs: number;
}

type QueuedMail = ClaimedMail & Partial<UnconfirmedMail>;

/** A claim of the queue, as it was taken. */
export interface ClaimedRows {
  id: string;
  mails: readonly QueuedMail[];
  takenAt: number;
  probing: boolean;
  /** Whether the claim was taken over: then what the provider does not have goes back to the queue. */
  lookUpOnly?: boolean;
}

/** Rows of the queue that were claimed together. Each is settled as soon as its call has ended. */
export class QueueClaim implements Claim<QueuedMail> {
  readonly id: string;
  readonly projectId: string;
  readonly takenAt: number;
  readonly calls: 'allowed' | 'probe';
  readonly settlesWhole = false;
  readonly lookUpOnly: boolean;
  readonly #deps: QueueDeps;
  readonly #mails: readonly QueuedMail[];

  constructor(deps: QueueDeps, { id, mails, takenAt, probing, lookUpOnly = false }: ClaimedRows) {
    this.#deps = deps;
    this.#mails = mails;
    this.id = id;
    this.projectId = mails[0]?.projectId ?? '';
    this.takenAt = takenAt;
    this.calls = probing ? 'probe' : 'allowed';
    this.lookUpOnly = lookUpOnly;
  }

  async mails(): Promise<readonly QueuedMail[]> {
    return this.#mails;
  }

  idOf(mail: QueuedMail): string {
    return mail.id;
  }

  traceOf({ traceparent }: QueuedMail): string | null {
    return traceparent;
  }

  sourceOf({ sourceType }: QueuedMail): SourceType {
    return sourceType;
  }

  triedOf({ attempts, ageMs }: QueuedMail): Tried {
    return { attempts, ageMs };
  }

  proofOf(mail: QueuedMail): Outcome<QueuedMail> | null {
    const at = isoInstantOrNull(mail.provenAt ?? null);
    if (mail.messageId == null || at === null) return null;
    return { mail, outcome: 'SENT', messageId: mail.messageId, at, ...renderedAgain(this, mail) };
  }

  handedOf({ sinceMs, lagMs }: QueuedMail): { sinceMs: number; lagMs: number } | null {
    return sinceMs === undefined || lagMs === undefined ? null : { sinceMs, lagMs };
  }

  refusalOf(mail: QueuedMail): Reason | null {
    return refusalOf(mail);
  }

  recipientOf(mail: QueuedMail): MailRecipient {
    return { address: mail.toAddress, marketingTo: isMarketing(mail) ? mail.contactId : null };
  }

  suppressing(): Promise<Suppressing | null> {
    return suppressing(this.#deps.db, this.projectId, { holdout: this.#mails[0]?.project.holdout ?? null });
  }

  heldUntil(mail: QueuedMail): number | null {
    const { contactId: id, contact, project, messageClass, nowMs } = mail;
    // Whoever releases an email or gives it another time has decided when it is sent.
    if (!mail.isOfStep || !mail.keepsTime || !isMarketing(mail)) return null;
    return heldUntil(project, messageClass, { id, data: contact.data }, nowMs);
  }

  compose(mail: QueuedMail): OutgoingMessage {
    return this.#deps.compose(mail);
  }

  keep(message: OutgoingMessage): KeptTexts {
    return { subject: message.subject, body: keptBody(message) };
  }

  renew(): Promise<boolean> {
    return isClaimed(this.#deps.db, this.#mails[0]?.id ?? null, this.id);
  }

  async settle(outcomes: readonly Outcome<QueuedMail>[]): Promise<Settled> {
    const { db, mailer, lagMs, rate } = this.#deps;
    const suppressed = outcomes.flatMap((end) =>
      end.outcome === 'SUPPRESSED'
        ? [{ id: end.mail.id, suppression: end.suppression, ...plain(renderedAgain(this, end.mail).texts) }]
        : [],
    );
    if (suppressed.length > 0) await writeSuppressed(db, suppressed, this.id);
    const held = outcomes.flatMap((end) =>
      end.outcome === 'HELD' ? [{ emailId: end.mail.id, until: end.until, was: null }] : [],
    );
    if (held.length > 0) await holdQueued(db, this.projectId, held, { id: this.id, rate });
    const settlements = outcomes.flatMap((outcome) => settlementOf(outcome, lagMs) ?? []);
    return settleMail(db, { id: this.id, provider: mailer.name }, settlements);
  }
}

function settlementOf(end: Outcome<QueuedMail>, lagMs: number): Settlement | null {
  const emailId = end.mail.id;
  switch (end.outcome) {
    case 'SENT': {
      const { messageId, at, stream } = end;
      return { emailId, outcome: 'SENT', messageId, at, stream, ...plain(end.texts) };
    }
    case 'FAILED':
    case 'BOUNCED':
      return { emailId, outcome: end.outcome, reason: end.reason, ...plain(end.texts) };
    case 'RETRY': {
      const { delayMs, why, words } = end;
      return { emailId, outcome: 'RETRY', delayMs, attempt: why !== 'untried', words };
    }
    case 'UNCONFIRMED':
      return { emailId, outcome: 'UNCONFIRMED', delayMs: end.delayMs ?? lagMs };
    case 'HELD':
    case 'SUPPRESSED':
      return null;
  }
}

function plain(texts: KeptTexts | null): { subject: string | null; body: string | null } {
  return { subject: texts?.subject ?? null, body: texts?.body == null ? null : String(texts.body) };
}
