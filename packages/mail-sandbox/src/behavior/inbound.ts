import { randomUUID } from 'node:crypto';
import { type Mailbox, parseAddresses } from '../message/addresses.ts';
import type { InboundMail } from '../schema.ts';

/** A received mail, ready to post, or why it cannot be made. */
export type Inbound = { ok: true; id: string; payload: string } | { ok: false; problem: string };

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
