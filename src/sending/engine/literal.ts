import type { OutgoingMessage } from '@fernpost/mail-providers';
import type { MessageClass, MessageRecipient, prepareContent } from '@fernpost/message-content';
import { escapeHtml } from '@fernpost/renderer';

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
