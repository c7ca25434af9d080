import { extensionOf, type Mailbox, parseAddresses, refusedByPostmark } from '../message/addresses.ts';
import type { EventType, SubmittedMessage } from '../schema.ts';

/** One thing that will happen to a message; `after` counts in units of the sandbox's delay. */
interface Step {
  type: EventType;
  after: 1 | 2 | 3;
}

/** The effect of an address on the message, or on the whole call, that names it. */
interface Treatment {
  steps: readonly Step[];
  refusal?: 300 | 406;
  outage?: 429 | 500 | 503;
  held?: boolean;
}

const delivery: Step = { type: 'delivery', after: 1 };
const delivered: Treatment = { steps: [delivery] };
const hardBounce: Treatment = { steps: [{ type: 'hardBounce', after: 1 }] };
const complaint: Treatment = { steps: [delivery, { type: 'complaint', after: 2 }] };
const inactive: Treatment = { steps: [], refusal: 406 };

const treatments: ReadonlyMap<string, Treatment> = new Map<string, Treatment>([
  ['hardbounce', hardBounce],
  ['bounce', hardBounce],
  ['softbounce', { steps: [{ type: 'softBounce', after: 1 }] }],
  ['complaint', complaint],
  ['spamcomplaint', complaint],
  ['open', { steps: [delivery, { type: 'open', after: 2 }] }],
  ['click', { steps: [delivery, { type: 'open', after: 2 }, { type: 'click', after: 3 }] }],
  ['unsubscribe', { steps: [delivery, { type: 'unsubscribe', after: 2 }] }],
  ['ooto', { steps: [delivery, { type: 'autoResponder', after: 2 }] }],
  ['inactive', inactive],
  ['suppressionlist', inactive],
  ['invalid', { steps: [], refusal: 300 }],
  ['ratelimit', { steps: [delivery], outage: 429 }],
  ['error503', { steps: [delivery], outage: 503 }],
  ['error500', { steps: [delivery], outage: 500 }],
  ['timeout', { steps: [delivery], held: true }],
]);

/**
 * docs/contract/platform.md#10-7: what the local part of an address before any `+` decides, whatever the domain and the
 * letter case. Any other address is delivered.
 */
export function treatmentOf(email: string): Treatment {
  const local = email.slice(0, email.lastIndexOf('@'));
  const plus = local.indexOf('+');
  return treatments.get((plus < 0 ? local : local.slice(0, plus)).toLowerCase()) ?? delivered;
}

const failuresPerAddress = 2;
const addressesRemembered = 10_000;

/** Counts how often addresses such as `ratelimit@…` have failed a call; beyond 10,000 addresses the oldest are forgotten. */
export class Outages {
  private readonly failures = new Map<string, number>();

  /** The status with which a call to these recipients fails, or null once each address has failed it twice. */
  next(recipients: Iterable<string>): 429 | 500 | 503 | null {
    const { failures } = this;
    let status: 429 | 500 | 503 | null = null;
    for (const email of new Set(recipients)) {
      const { outage } = treatmentOf(email);
      const before = failures.get(email) ?? 0;
      if (!outage || before >= failuresPerAddress) continue;
      failures.set(email, before + 1);
      status ??= outage;
    }
    for (const email of failures.keys()) {
      if (failures.size <= addressesRemembered) break;
      failures.delete(email);
    }
    return status;
  }

  reset(): void {
    this.failures.clear();
  }
}

/** Why a message is refused, in Postmark's terms. */
export interface Refusal {
  ErrorCode: number;
  Message: string;
}

/** A message that may be stored: who gets it in lower case, and which of its recipients are inactive. */
interface Checked {
  recipients: string[];
  inactive: string[];
}

const maxRecipients = 50;
const headerName = /^[!-9;-~]+$/;
const lineBreak = /[\r\n]/;
const notBase64 = /[^A-Za-z0-9+/=\s]/;

/**
 * Checks the content of one message as Postmark does: ErrorCode 300 for what makes no sense, 411 for attachments it
 * does not carry, 406 when every recipient is inactive.
 */
export function checkMessage(message: SubmittedMessage): Checked | Refusal {
  const from = parseAddresses(message.From ?? '');
  if (!from.ok || from.mailboxes.length !== 1) return invalid(`Invalid 'From' address: '${shown(message.From)}'.`);

  const mailboxes: Mailbox[] = [];
  for (const field of ['To', 'Cc', 'Bcc', 'ReplyTo'] as const) {
    const parsed = parseAddresses(message[field] ?? '');
    if (!parsed.ok) return badAddress(field, parsed.piece, parsed.reason);
    if (field === 'To' && parsed.mailboxes.length === 0) return invalid('Zero recipients specified');
    if (field !== 'ReplyTo') mailboxes.push(...parsed.mailboxes);
  }
  if (mailboxes.length > maxRecipients) return invalid(`A message may have ${maxRecipients} recipients at most.`);

  const problem = problemOfContent(message) ?? problemOfMetadata(message.Metadata ?? {});
  if (problem) return invalid(problem);
  const forbidden = message.Attachments?.find(({ Name }) => refusedByPostmark.has(extensionOf(Name)));
  if (forbidden) return { ErrorCode: 411, Message: `Attachments of this type are not allowed: '${forbidden.Name}'.` };

  const recipients = [...new Set(mailboxes.map((mailbox) => mailbox.email.toLowerCase()))];
  const illegal = recipients.find((email) => treatmentOf(email).refusal === 300);
  if (illegal) return badAddress('To', illegal, 'The mailbox is not allowed.');
  const inactive = recipients.filter((email) => treatmentOf(email).refusal === 406);
  if (inactive.length === recipients.length) {
    // The official client takes the addresses out of this sentence, so its middle is fixed.
    const Message =
      'You tried to send to recipient(s) that have been marked as inactive. ' +
      `Found inactive addresses: ${inactive.join(', ')}. ` +
      'Inactive recipients have caused a hard bounce or a complaint, or were suppressed by hand.';
    return { ErrorCode: 406, Message };
  }
  return { recipients, inactive };
}

/** The size that counts against the limit of one message: bodies, and attachments as base64, in bytes. */
export function messageBytes(message: SubmittedMessage): number {
  let bytes = Buffer.byteLength(message.HtmlBody ?? '') + Buffer.byteLength(message.TextBody ?? '');
  for (const attachment of message.Attachments ?? []) bytes += attachment.Content.length;
  return bytes;
}

function problemOfContent(message: SubmittedMessage): string | null {
  if (!message.HtmlBody && !message.TextBody) return 'Provide either email TextBody or HtmlBody or both.';
  if ((message.Subject ?? '').length > 2_000) return "'Subject' may have 2000 characters at most.";
  if (lineBreak.test(message.Subject ?? '')) return "'Subject' must not contain line breaks.";
  if ((message.Tag ?? '').length > 1_000) return "'Tag' may have 1000 characters at most.";
  for (const { Name, Value } of message.Headers ?? []) {
    if (!headerName.test(Name) || lineBreak.test(Value)) return `Invalid header '${shown(Name)}'.`;
  }
  for (const { Name, Content, ContentType } of message.Attachments ?? []) {
    if (Name === '' || ContentType === '') return 'An attachment needs a Name and a ContentType.';
    if (lineBreak.test(Name) || lineBreak.test(ContentType)) return 'An attachment name must not contain line breaks.';
    if (notBase64.test(Content)) return `The Content of attachment '${shown(Name)}' is not base64.`;
  }
  return null;
}

function problemOfMetadata(metadata: Record<string, string>): string | null {
  const entries = Object.entries(metadata);
  if (entries.length > 10) return 'Metadata may have 10 keys at most.';
  for (const [key, value] of entries) {
    if (key === '' || key.length > 20) return `Metadata keys may have 20 characters at most: '${shown(key)}'.`;
    if (value.length > 80) return `Metadata values may have 80 characters at most: '${shown(key)}'.`;
  }
  return null;
}

function badAddress(field: string, piece: string, reason: string): Refusal {
  return invalid(`Error parsing '${field}': Illegal email address '${shown(piece)}'. ${reason}`);
}

function invalid(Message: string): Refusal {
  return { ErrorCode: 300, Message };
}

function shown(value: string | null | undefined): string {
  const text = value ?? '';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
