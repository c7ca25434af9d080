import type { Models } from 'postmark';
import type { OutgoingMessage } from '../../../src/domains/providers/mailer.ts';
import { cleanName, isOurHeader } from '../../../src/domains/providers/mime.ts';
import type { StreamNames } from '../../../src/domains/providers/postmark/postmark-message.ts';

/**
 * A message in the fields of Postmark's `/email/batch` (docs/contract/platform.md#10-2), as its own package would serialise
 * them.
 */
export function postmarkFields(claimId: string, message: OutgoingMessage, streams: StreamNames): Models.Message {
  const headers = message.headers.filter(({ name }) => isOurHeader(name));
  return {
    From: mailbox(message.from),
    To: mailbox(message.to),
    ...(message.replyTo === null ? {} : { ReplyTo: message.replyTo }),
    Subject: message.subject,
    HtmlBody: String(message.html),
    ...(message.text === null ? {} : { TextBody: String(message.text) }),
    ...(headers.length === 0 ? {} : { Headers: headers.map(({ name, value }) => ({ Name: name, Value: value })) }),
    ...(message.attachments.length === 0
      ? {}
      : {
          Attachments: message.attachments.map(({ filename, content, contentType, contentId }) => ({
            Name: filename,
            Content: content,
            ContentType: contentType,
            ContentID: contentId === null ? null : `cid:${contentId}`,
          })),
        }),
    Tag: message.tag,
    TrackOpens: message.tracking,
    TrackLinks: (message.tracking ? 'HtmlOnly' : 'None') as Models.LinkTrackingOptions,
    MessageStream: streams[message.stream],
    Metadata: { eid: message.emailId, pid: message.projectId, claim: claimId },
  };
}

function mailbox({ address, name }: OutgoingMessage['from']): string {
  const clean = cleanName(name);
  return clean === '' ? address : `"${clean.replace(/["\\]/g, '\\$&')}" <${address}>`;
}
