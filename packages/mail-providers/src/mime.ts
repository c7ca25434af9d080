import MailComposer from 'nodemailer/lib/mail-composer';
import { cleanName, isOurHeader } from './headers.ts';
import type { OutgoingMessage } from './mailer.ts';
import { idHeaders } from './ses/ses-notification.ts';

/** The Message-ID that a message has wherever and however often it is handed over, without brackets. */
export function messageIdOf({ emailId, from }: OutgoingMessage): string {
  return `${emailId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`;
}

/**
 * A message as MIME (docs/contract/core.md#2-5): text and HTML as alternatives, inline files related to the HTML, other files
 * mixed in; our ids as headers. Rejects when the message cannot be written as MIME.
 */
export function mimeOf(message: OutgoingMessage): Promise<Buffer> {
  const { from, to, replyTo, subject, html, text, headers, attachments } = message;
  const mail = new MailComposer({
    from: person(from),
    to: person(to),
    ...(replyTo === null ? {} : { replyTo }),
    subject,
    ...(text === null ? {} : { text: String(text) }),
    ...(html.length === 0 ? {} : { html: String(html) }),
    messageId: `<${messageIdOf(message)}>`,
    headers: [
      ...headers.filter(({ name }) => isOurHeader(name)).map(({ name, value }) => ({ key: name, value })),
      { key: idHeaders.email, value: message.emailId },
      { key: idHeaders.project, value: message.projectId },
    ],
    attachments: attachments.map(({ filename, content, contentType, contentId }) => ({
      filename,
      content,
      encoding: 'base64',
      contentType,
      ...(contentId === null ? {} : { cid: contentId, contentDisposition: 'inline' }),
    })),
    // Content is what the request said, never a file or an address to read it from.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return new Promise((resolve, reject) => {
    mail.compile().build((error, mime) => {
      if (error || !mime) reject(error ?? new Error('The message could not be written as MIME'));
      else resolve(mime);
    });
  });
}

function person({ address, name }: OutgoingMessage['from']): { address: string; name: string } {
  return { address, name: cleanName(name) };
}
