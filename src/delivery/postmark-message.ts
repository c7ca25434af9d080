import type { Models } from 'postmark';
import { cleanName, isOurHeader } from './headers.ts';
import type { MailStream, OutgoingMessage } from './mailer.ts';

/** Names of the provider's message streams. */
export type StreamNames = Record<MailStream, string>;

/** A message in the fields of Postmark's `/email/batch` (contract page 3, 10.2). */
export function postmarkMessage(claimId: string, message: OutgoingMessage, streams: StreamNames): Models.Message {
  const headers: Models.Header[] = [];
  for (const { name, value } of message.headers) if (isOurHeader(name)) headers.push({ Name: name, Value: value });
  return {
    From: mailbox(message.from),
    To: mailbox(message.to),
    ...(message.replyTo === null ? {} : { ReplyTo: message.replyTo }),
    Subject: message.subject,
    HtmlBody: message.html,
    ...(message.text === null ? {} : { TextBody: message.text }),
    ...(headers.length === 0 ? {} : { Headers: headers }),
    ...(message.attachments.length === 0 ? {} : { Attachments: message.attachments.map(attachment) }),
    Tag: message.tag,
    TrackOpens: message.tracking,
    TrackLinks: (message.tracking ? 'HtmlOnly' : 'None') as Models.LinkTrackingOptions,
    MessageStream: streams[message.stream],
    Metadata: { eid: message.emailId, pid: message.projectId, claim: claimId },
  };
}

/** An address with its name, as header fields carry it; the provider encodes what is not ASCII. */
export function mailbox({ address, name }: { address: string; name: string | null }): string {
  const clean = cleanName(name);
  return clean === '' ? address : `"${clean.replace(/["\\]/g, '\\$&')}" <${address}>`;
}

function attachment(file: OutgoingMessage['attachments'][number]): Models.Attachment {
  return {
    Name: file.filename,
    Content: file.content,
    ContentType: file.contentType,
    ContentID: file.contentId === null ? null : `cid:${file.contentId}`,
  };
}

/**
 * Bytes that a message takes at most in a JSON body, without serialising it: no UTF-16 unit becomes more than the six
 * bytes of a `\uXXXX` escape. Base64 never needs escaping.
 */
export function mostBytes(message: Models.Message): number {
  const text =
    message.From.length + (message.To?.length ?? 0) + message.Subject.length + (message.ReplyTo?.length ?? 0);
  const bodies = (message.HtmlBody?.length ?? 0) + (message.TextBody?.length ?? 0);
  const headers = message.Headers?.reduce((sum, { Name, Value }) => sum + Name.length + Value.length + 24, 0) ?? 0;
  const files = message.Attachments?.reduce((sum, file) => sum + file.Content.length + 2048 * 6, 0) ?? 0;
  return 6 * (text + bodies + headers) + files + 2048;
}

/** Bytes of a message in a JSON body, exactly. */
export function exactBytes(message: Models.Message): number {
  return Buffer.byteLength(JSON.stringify(message));
}
