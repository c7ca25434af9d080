import type { OutgoingMessage } from '@fernpost/mail-providers';
import { sql } from '../../core/database/sql.ts';
import { type ClaimedMail, type Reason, refusalOf, type Settlement, settleQueued } from '../ledger/index.ts';
import { persistently } from './attempts.ts';
import type { Claim, DeliveryDeps, Tally } from './deps.ts';
import { handOver } from './hand-over.ts';
import type { KeptTexts, Ledger, Outcome } from './ledger-port.ts';
import { keptBody } from './literal.ts';
import { suppressQueued } from './suppression.ts';

/** Hands the queued mail of a claim over and writes down what became of each. Rejects when that cannot be written. */
export async function handOverQueued(deps: DeliveryDeps, claim: Claim): Promise<Tally> {
  const ledger = new QueueLedger(deps, claim);
  await handOver(deps, claim, claim.mails, ledger);
  return ledger.tally;
}

/** The queue as the engine sees it: every message has a row of its own, which is settled as soon as its call has ended. */
class QueueLedger implements Ledger<ClaimedMail> {
  readonly tally: Tally = { delivered: 0, failed: 0 };
  readonly projectId: string;
  readonly #deps: DeliveryDeps;
  readonly #claim: Claim;

  constructor(deps: DeliveryDeps, claim: Claim) {
    this.#deps = deps;
    this.#claim = claim;
    this.projectId = claim.mails[0]?.projectId ?? '';
  }

  idOf(mail: ClaimedMail): string {
    return mail.id;
  }

  triedOf(mail: ClaimedMail): ClaimedMail {
    return mail;
  }

  refusalOf(mail: ClaimedMail): Reason | null {
    return refusalOf(mail);
  }

  suppress(mails: readonly ClaimedMail[]): Promise<ReadonlySet<ClaimedMail>> {
    return suppressQueued(this.#deps.db, mails, this.#claim.id, {
      projectId: this.projectId,
      idOf: ({ id }) => id,
      textsOf: (mail) => textsOf(this.#deps, mail),
    });
  }

  compose(mail: ClaimedMail): OutgoingMessage {
    return this.#deps.compose(mail);
  }

  keep(message: OutgoingMessage): KeptTexts {
    return { subject: message.subject, body: keptBody(message) };
  }

  async isHeld(): Promise<boolean> {
    const emailId = this.#claim.mails[0]?.id ?? null;
    const held = sql`select from email_queue where email_id = ${emailId} and claim_id = ${this.#claim.id} and lookups = 0`;
    return (await this.#deps.db.row(held)) !== null;
  }

  async settle(outcomes: readonly Outcome<ClaimedMail>[]): Promise<void> {
    const { db, mailer, lagMs } = this.#deps;
    const settlements = outcomes.map((outcome) => settlementOf(outcome, lagMs));
    const { sent, failed } = await persistently(() => settleQueued(db, this.#claim.id, mailer.name, settlements));
    this.tally.delivered += sent;
    this.tally.failed += failed;
  }
}

function settlementOf(end: Outcome<ClaimedMail>, lagMs: number): Settlement {
  const emailId = end.mail.id;
  switch (end.outcome) {
    case 'SENT': {
      const { messageId, at, stream } = end;
      return { emailId, outcome: 'SENT', messageId, at, stream, ...plain(end.texts) };
    }
    case 'FAILED':
    case 'BOUNCED':
      return { emailId, outcome: end.outcome, reason: end.reason, ...plain(end.texts) };
    case 'RETRY':
      return { emailId, outcome: 'RETRY', delayMs: end.delayMs, attempt: end.attempt, words: end.words };
    case 'UNCONFIRMED':
      return { emailId, outcome: 'DOUBT', delayMs: lagMs };
  }
}

function plain(texts: KeptTexts | null): { subject: string | null; body: string | null } {
  return { subject: texts?.subject ?? null, body: texts?.body == null ? null : String(texts.body) };
}

/** The texts of a mail as it is, or would have been, sent; null when it cannot be rendered. */
export function textsOf(
  { compose }: Pick<DeliveryDeps, 'compose'>,
  mail: ClaimedMail,
): { subject: string; body: string; stream: string } | null {
  try {
    const message = compose(mail);
    return { subject: message.subject, body: String(keptBody(message)), stream: message.stream };
  } catch {
    return null;
  }
}
