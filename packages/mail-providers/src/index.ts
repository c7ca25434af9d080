export type { DomainProvider, ProviderDomain, ProviderRecord } from './domains.ts';
export type { Begun, HandoverJournal } from './journal.ts';
export {
  type Accepted,
  beginCall,
  type Mailer,
  type MailerCall,
  type MailStream,
  type MessageText,
  type OutgoingAttachment,
  type OutgoingMessage,
  type Verdict,
} from './mailer.ts';
export type { MailEffect, Notification } from './notification.ts';
export { createPostmarkMailer } from './postmark/postmark.ts';
export { createPostmarkDomains } from './postmark/postmark-domains.ts';
export { parsePostmark, readPostmarkRecord } from './postmark/postmark-notification.ts';
export { readPostmarkReceived } from './postmark/postmark-received.ts';
export type { ReceivedMail } from './received.ts';
export { sanitizeHtml, textAsHtml } from './received-html.ts';
export { readSesEvent } from './ses/ses-notification.ts';
export { readSesReceived } from './ses/ses-received.ts';
export { distrustSns, readSnsEnvelope, type SnsEnvelope } from './ses/sns.ts';
export { amazonUrl, createSnsClient, type GetText, type SnsClient } from './ses/sns-client.ts';
export { createSmtpMailer, type SigningKey, type SmtpOptions } from './smtp/smtp.ts';
export { smtpAccess } from './smtp/smtp-session.ts';
