import { escapeHtml } from '@fernpost/renderer';
import type { OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { MessageClass } from '../../lib/message-kinds.ts';
import { sql } from '../../store/sql.ts';
import type { MessageRecipient, prepareContent } from '../../templates/content/prepare.ts';
import { type ClaimedMail, refusalOf } from '../ledger/queries.ts';
import type { Reason } from '../ledger/reasons.ts';
import { type Settlement, settleMail } from '../ledger/settle.ts';
import { persistently } from './attempts.ts';
import type { Claim, DeliveryDeps, KeptTexts, Ledger, Outcome, Tally } from './deps.ts';
import { handOver } from './hand-over.ts';
import { suppressQueued } from './suppression.ts';

type PreparedContent = ReturnType<typeof prepareContent>;

/** Content that is sent as it is. */
interface LiteralMail {
  subject: string;
  /** Empty for mail without HTML. */
  body: string;
  /** Derived from the HTML when absent. */
  text?: string | null;
  messageClass: MessageClass;
}

/**
 * The template of literal mail. Its contents differ from mail to mail: they are values, so that none is taken for Liquid, and none prepared
 * and kept as a template.
 */
export function literalSource({ text }: Pick<LiteralMail, 'text'>) {
  return {
    subject: '{{ fernpost_subject }}',
    body: '{{ fernpost_body }}',
    text: text == null ? null : '{{ fernpost_text }}',
  };
}

/** Fills `literalSource`: HTML and text come out as they are, those of marketing mail with its footer. */
export function fillLiteral(content: PreparedContent, recipient: MessageRecipient, mail: LiteralMail) {
  const { subject: fernpost_subject, body, text: fernpost_text } = mail;
  const isMarketing = mail.messageClass === 'MARKETING';
  // Where the HTML needs no footer and gives no text, nothing has to be done to it.
  const fernpost_body = isMarketing || fernpost_text == null ? body : '';
  const filled = content.fillFor({ ...recipient, requestData: { fernpost_subject, fernpost_body, fernpost_text } });
  return isMarketing && body !== '' ? filled : { ...filled, html: body };
}

/** The body that is kept of a message: its HTML, or its text as HTML where it has none. */
export function keptBody({ html, text }: Pick<OutgoingMessage, 'html' | 'text'>): OutgoingMessage['html'] {
  return html.length > 0 || text === null ? html : `<pre>${escapeHtml(String(text))}</pre>`;
}

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
    const claim = { id: this.#claim.id, provider: mailer.name };
    const { sent, failed } = await persistently(() => settleMail(db, claim, settlements));
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
