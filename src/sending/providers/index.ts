// What other parts of the service may use of providers; everything else in this folder is its own.
export { removeOldHandovers } from './journal.ts';
export {
  type Accepted,
  beginCall,
  type Mailer,
  type MailerCall,
  type MailStream,
  type MessageText,
  type OutgoingAttachment,
  type OutgoingMessage,
  systemProjectId,
  type Verdict,
} from './mailer.ts';
export type { Notification } from './notification.ts';
export { parsePostmark, readPostmarkRecord } from './postmark-notification.ts';
export { readPostmarkReceived } from './postmark-received.ts';
export type { ReceivedMail } from './received.ts';
export { readSesEvent } from './ses-notification.ts';
export { readSesReceived } from './ses-received.ts';
export { distrust, readSnsEnvelope, type SnsEnvelope } from './sns.ts';
export { type AmazonDoor, amazonUrl } from './sns-door.ts';
