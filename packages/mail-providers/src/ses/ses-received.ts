import PostalMime from 'postal-mime';
import * as v from 'valibot';
import { firstReadable, text, texts } from '../reading.ts';
import type { MailVerdict, MailVerdicts, ReceivedMail } from '../received.ts';
import { sanitizeHtml, textAsHtml } from '../received-html.ts';

const verdict = v.fallback(v.object({ status: text }), { status: '' });

// https://docs.aws.amazon.com/ses/latest/dg/receiving-email-notifications-contents.html
const Received = v.object({
  notificationType: v.literal('Received'),
  content: v.fallback(v.optional(v.string()), undefined),
  mail: v.object({
    timestamp: text,
    messageId: v.pipe(v.string(), v.nonEmpty()),
    source: text,
    destination: texts,
    commonHeaders: v.fallback(v.object({ from: texts, to: texts, cc: texts, subject: text }), {
      from: [],
      to: [],
      cc: [],
      subject: '',
    }),
  }),
  receipt: v.object({
    recipients: texts,
    processingTimeMillis: v.fallback(v.nullable(v.number()), null),
    spamVerdict: verdict,
    virusVerdict: verdict,
    spfVerdict: verdict,
    dkimVerdict: verdict,
    dmarcVerdict: verdict,
    action: v.fallback(v.object({ encoding: text }), { encoding: '' }),
  }),
});

/**
 * Reads what Amazon SES tells of a mail that it received (docs/contract/platform.md#8-4); null when the parsed message is
 * something else. The text comes along where the receipt rule's action is SNS; what cannot be parsed counts as absent.
 */
export async function readSesReceived(parsed: object, now: Date): Promise<ReceivedMail | null> {
  const read = v.safeParse(Received, parsed);
  if (!read.success) return null;
  const { mail, receipt, content } = read.output;
  const body = content === undefined ? null : await bodyOf(content, receipt.action.encoding);
  return {
    key: `inbound:${mail.messageId}`,
    provider: 'ses',
    messageId: mail.messageId,
    from: mail.source,
    fromHeader: mail.commonHeaders.from[0] ?? null,
    subject: mail.commonHeaders.subject || null,
    timestamp: firstReadable(now, mail.timestamp),
    received: receipt.recipients,
    recipients: receipt.recipients,
    hasContent: body !== null,
    body,
    verdicts: verdictsOf(receipt),
    processingTimeMillis: receipt.processingTimeMillis,
  };
}

async function bodyOf(content: string, encoding: string): Promise<string | null> {
  const bytes = Buffer.from(content, encoding.toUpperCase() === 'BASE64' ? 'base64' : 'utf8');
  const parsed = await PostalMime.parse(bytes).catch(() => null);
  const html = parsed?.html ? sanitizeHtml(parsed.html) : textAsHtml(parsed?.text ?? '');
  return html === '' ? null : html.replaceAll('\0', '');
}

const names = ['spamVerdict', 'virusVerdict', 'spfVerdict', 'dkimVerdict', 'dmarcVerdict'] as const;
const words = new Set<string>(['PASS', 'FAIL', 'GRAY', 'PROCESSING_FAILED'] satisfies MailVerdict[]);

function verdictsOf(receipt: v.InferOutput<typeof Received>['receipt']): MailVerdicts {
  const told = names.filter((name) => words.has(receipt[name].status));
  return Object.fromEntries(told.map((name) => [name, receipt[name].status]));
}
