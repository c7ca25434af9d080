import { randomUUID } from 'node:crypto';
import { type Mailbox, parseAddresses } from '../message/addresses.ts';
import type { InboundMail, SubmittedMessage } from '../schema.ts';
import type { MessageStore } from '../store/store.ts';
import { checkMessage, type Outages, type Refusal, treatmentOf } from './check.ts';
import type { Outcomes } from './outcomes.ts';

const anchorStart = /<a\s/gi;
const href = /^<a\s(?:[^>"']|"[^"]*"|'[^']*')*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/i;
const plain = /https?:\/\/[^\s<>"']+/gi;

// A hostile message may hold a million broken tags; these bound the work.
const anchorsRead = 1_000;
const longestTag = 8_192;

/** The web links of a message in order, each once: those of the HTML, or of the text when the HTML has none. */
export function findLinks(html: string, text: string): string[] {
  const links = new Set<string>();
  let anchors = 0;
  for (const start of html.matchAll(anchorStart)) {
    anchors += 1;
    if (anchors > anchorsRead) break;
    const match = href.exec(html.slice(start.index, start.index + longestTag));
    const link = decodeAttribute(match?.[1] ?? match?.[2] ?? match?.[3] ?? '').trim();
    if (/^https?:\/\//i.test(link)) links.add(link);
  }
  if (links.size > 0) return [...links];
  for (const match of text.matchAll(plain)) links.add(match[0].replace(/[).,;!?]+$/, ''));
  return [...links];
}

const entities: Record<string, string> = {
  '&amp;': '&',
  '&#38;': '&',
  '&#x26;': '&',
  '&quot;': '"',
  '&#39;': "'",
};

function decodeAttribute(value: string): string {
  return value.replaceAll(/&(?:amp|#38|#x26|quot|#39);/gi, (entity) => entities[entity.toLowerCase()] ?? entity);
}

/** Postmark's answer to one accepted message. */
interface Acceptance {
  To: string;
  Cc?: string;
  Bcc?: string;
  SubmittedAt: string;
  MessageID: string;
  ErrorCode: 0;
  Message: string;
}

/** How a call ends: it fails as a whole, or there is one result for each message, in order. */
type Submission = { outage: 429 | 500 | 503 } | { outage: null; results: (Acceptance | Refusal)[]; held: boolean };

interface SubmissionParts {
  store: MessageStore;
  outages: Outages;
  outcomes: Outcomes;
}

/**
 * Takes the messages of one call: checks each, stores those that pass (before it returns), and plans what will happen
 * to them. With `test` nothing is stored and no call fails on purpose. `held` says that a `timeout@…` was among them.
 */
export function submit(parts: SubmissionParts, messages: readonly SubmittedMessage[], test: boolean): Submission {
  const checked = messages.map((message) => checkMessage(message));
  const passed = checked.flatMap((check) => ('ErrorCode' in check ? [] : check.recipients));
  const outage = test ? null : parts.outages.next(passed);
  if (outage) return { outage };

  const at = Date.now();
  const accepted = messages.filter((_, i) => !('ErrorCode' in (checked[i] as object)));
  const entries = test || accepted.length === 0 ? [] : parts.store.add(accepted, at);
  parts.outcomes.schedule(entries);

  const submittedAt = new Date(at).toISOString();
  let stored = 0;
  const results = messages.map((message, i): Acceptance | Refusal => {
    const check = checked[i];
    if (!check || 'ErrorCode' in check) return check ?? { ErrorCode: 300, Message: 'Invalid message.' };
    const id = test ? randomUUID() : (entries[stored]?.id ?? '');
    stored += 1;
    return acceptance(message, id, submittedAt, test ? 'Test job accepted' : messageOf(check.inactive));
  });
  return { outage: null, results, held: !test && passed.some((email) => treatmentOf(email).held) };
}

function acceptance(message: SubmittedMessage, id: string, submittedAt: string, text: string): Acceptance {
  return {
    To: message.To ?? '',
    ...(message.Cc ? { Cc: message.Cc } : {}),
    ...(message.Bcc ? { Bcc: message.Bcc } : {}),
    SubmittedAt: submittedAt,
    MessageID: id,
    ErrorCode: 0,
    Message: text,
  };
}

function messageOf(inactive: readonly string[]): string {
  if (inactive.length === 0) return 'OK';
  return `Message OK, but will not deliver to these inactive addresses: ${inactive.join(', ')}.`;
}

/** A received mail, ready to post, or why it cannot be made. */
type Inbound = { ok: true; id: string; payload: string } | { ok: false; problem: string };

/**
 * Builds what Postmark posts to the inbound webhook for a received mail (postmarkapp.com/developer/webhooks/inbound-webhook):
 * no `RecordType`, but `FromFull` and `MailboxHash`, with the verdicts of the spam filter among the headers.
 */
export function inboundPayload(mail: InboundMail, now = new Date()): Inbound {
  const from = parseAddresses(mail.from);
  if (!from.ok) return { ok: false, problem: `from: ${from.reason}` };
  const [sender, second] = from.mailboxes;
  if (!sender || second) return { ok: false, problem: 'from: exactly one address is needed' };
  const to = parseAddresses(mail.to);
  if (!to.ok) return { ok: false, problem: `to: ${to.reason}` };
  const [recipient] = to.mailboxes;
  if (!recipient) return { ok: false, problem: 'to: an address is needed' };
  const cc = parseAddresses(mail.cc);
  if (!cc.ok) return { ok: false, problem: `cc: ${cc.reason}` };

  const id = randomUUID();
  const payload = JSON.stringify({
    FromName: sender.name,
    MessageStream: 'inbound',
    From: sender.email,
    FromFull: full(sender),
    To: mail.to,
    ToFull: to.mailboxes.map(full),
    Cc: mail.cc,
    CcFull: cc.mailboxes.map(full),
    Bcc: '',
    BccFull: [],
    OriginalRecipient: recipient.email,
    Subject: mail.subject,
    MessageID: id,
    ReplyTo: '',
    MailboxHash: hashOf(recipient.email),
    Date: now.toUTCString().replace('GMT', '+0000'),
    TextBody: mail.text,
    HtmlBody: mail.html,
    StrippedTextReply: '',
    Tag: '',
    Headers: [
      { Name: 'X-Spam-Status', Value: mail.spam ? 'Yes' : 'No' },
      { Name: 'X-Spam-Score', Value: mail.spam ? '9.1' : '-0.1' },
      { Name: 'X-Spam-Tests', Value: mail.spam ? 'GTUBE' : 'DKIM_SIGNED,DKIM_VALID,SPF_PASS' },
      { Name: 'Received-SPF', Value: `Pass (mail sandbox) client-ip=127.0.0.1; envelope-from=${sender.email}` },
      { Name: 'Message-ID', Value: `<${id}@sandbox.invalid>` },
    ],
    Attachments: [],
  });
  return { ok: true, id, payload };
}

function full({ email, name }: Mailbox): Record<string, string> {
  return { Email: email, Name: name, MailboxHash: hashOf(email) };
}

function hashOf(email: string): string {
  const local = email.slice(0, email.lastIndexOf('@'));
  const plus = local.indexOf('+');
  return plus < 0 ? '' : local.slice(plus + 1);
}
