// What other parts of the service may use of system-mail; everything else in this folder is its own.
export {
  beginHandOver,
  noteFailed,
  noteRefusal,
  noteSent,
  type PendingMail,
  pendingMail,
  removeOldMails,
  stalledMails,
} from './queries.ts';
export {
  queueMemberMails,
  queueSystemMails,
  type SystemMailSettings,
  startOfMail,
  type TellMembers,
} from './service.ts';
