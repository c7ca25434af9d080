// What other parts of the service may use of ledger; everything else in this folder is its own.

export { acceptingMail } from './accept.ts';
export { countedColumns, countingChange, countingUnsent, endedColumns } from './counting.ts';
export { failedEvents } from './failed.ts';
export { foldMailChanges, type MailCounts, mailByDay, mailCounts, notHandedOver } from './mail-count-queries.ts';
export { mailSources, newestMail } from './newest-mail.ts';
export { acceptMail, contentBytes, isSimulated, type NewMail, simulatorDomains, type Unsent } from './queries.ts';
export {
  hasLeft,
  hasReason,
  isLeftOut,
  type Reason,
  type ReasonCode,
  reasonCodes,
  reasonText,
  storedReason,
  versionSql,
} from './reasons.ts';
export { receiptKey } from './receipt-key.ts';
export { emptyOldBodies, removeExpiredKeys, removeOldLosses } from './retention/queries.ts';
export { type Settlement, settleQueued, storable } from './settle.ts';
export { statusRank, withoutBytes } from './sql.ts';
export { type ClaimedMail, type MailStatus, mailStatuses, refusalOf } from './types.ts';
