// What other parts of the service may use of billing; everything else in this folder is its own.
export { correctedUsage, usageMoved } from './counting-queries.ts';
export { removeEarlierDays } from './daily-queries.ts';
export { type NoticeDeps, tellOfUsage } from './notices.ts';
export { type ReportDeps, reportUsage } from './reports.ts';
export {
  type BillingSettings,
  campaignTooLarge,
  type GrantedQuota,
  limitExceeded,
  quotaFor,
  reserveMail,
  reserveReceivedMail,
  takeUnrecorded,
} from './service.ts';
export { projectBilling, removeOldCounts, reserveWhole } from './usage-queries.ts';
export { dailyLimit, limitReached, type UsageGate, usageCategory, usageGate } from './usage-schema.ts';
