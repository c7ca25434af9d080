import * as v from 'valibot';
import { firstReadable, text } from '../reading.ts';
import { type MailVerdicts, parseMailVerdict, type ReceivedMail } from '../received.ts';
import { sanitizeHtml, textAsHtml } from '../received-html.ts';

const Mailbox = v.object({ Email: text, Name: text });
const mailboxes = v.fallback(v.array(Mailbox), []);

// Fields of https://postmarkapp.com/developer/webhooks/inbound-webhook. What is absent or of another type reads as empty.
const Payload = v.object({
  MessageID: text,
  FromFull: Mailbox,
  ToFull: mailboxes,
  CcFull: mailboxes,
  BccFull: mailboxes,
  OriginalRecipient: text,
  Subject: text,
  Date: text,
  HtmlBody: text,
  TextBody: text,
  Headers: v.fallback(v.array(v.object({ Name: text, Value: text })), []),
});
type Payload = v.InferOutput<typeof Payload>;

/** Reads Postmark's inbound webhook; null when the parsed body is something else. `now` stands in for an unreadable date. */
export function readPostmarkReceived(parsed: object, now: Date): ReceivedMail | null {
  if (!('FromFull' in parsed)) return null;
  const read = v.safeParse(Payload, parsed);
  if (!read.success || read.output.MessageID === '') return null;
  const payload = read.output;
  const named = [...payload.ToFull, ...payload.CcFull, ...payload.BccFull].map(({ Email }) => Email);
  const { FromFull, OriginalRecipient, HtmlBody, TextBody } = payload;
  const content = HtmlBody === '' ? textAsHtml(TextBody) : sanitizeHtml(HtmlBody);
  return {
    key: `inbound:${payload.MessageID}`,
    provider: 'postmark',
    messageId: payload.MessageID,
    from: FromFull.Email,
    fromHeader: FromFull.Name === '' ? FromFull.Email : `${FromFull.Name} <${FromFull.Email}>`,
    subject: payload.Subject === '' ? null : payload.Subject,
    timestamp: firstReadable(now, payload.Date),
    received: OriginalRecipient === '' ? named : [OriginalRecipient],
    recipients: named,
    hasContent: content !== '',
    body: content === '' ? null : content,
    verdicts: verdictsOf(payload.Headers),
    processingTimeMillis: null,
  };
}

function verdictsOf(headers: Payload['Headers']): MailVerdicts {
  // The topmost of several is the one that the last server, Postmark's, has written; the others are the sender's word.
  const first = (name: string) => headers.find(({ Name }) => Name.toLowerCase() === name)?.Value.trim() ?? '';
  const verdicts: MailVerdicts = {};
  const spam = first('x-spam-status');
  if (/^no\b/i.test(spam)) verdicts.spamVerdict = 'PASS';
  else if (/^yes\b/i.test(spam)) verdicts.spamVerdict = 'FAIL';
  const spf = /^[a-z]+/i.exec(first('received-spf'))?.[0];
  const results = first('authentication-results');
  const result = (method: string) => new RegExp(`(?:^|[;\\s])${method}\\s*=\\s*([a-z]+)`, 'i').exec(results)?.[1];
  const found = { spfVerdict: spf ?? result('spf'), dkimVerdict: result('dkim'), dmarcVerdict: result('dmarc') };
  for (const [name, word] of Object.entries(found)) {
    if (word !== undefined) verdicts[name as keyof typeof found] = parseMailVerdict(word);
  }
  return verdicts;
}
