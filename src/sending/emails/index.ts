// What other parts of the service may use of emails; everything else in this folder is its own.
export { checkStoredMail } from './key-limits.ts';
export { HoldFor, ScheduledFor, type SendTime, scheduleOf } from './schedule.ts';
export { renderStored, type StoredMail, storedMailColumns, storedMailJoins } from './stored-mail.ts';
