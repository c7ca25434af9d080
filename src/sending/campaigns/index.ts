// What other parts of the service may use of campaigns; everything else in this folder is its own.
export { needsSubscription } from './audience.ts';
export { beginDueSend } from './begin.ts';
export { claimsOpen } from './claims.ts';
export { type CleanUpReport, cleanUpCancelled } from './cleanup.ts';
export { finishSend, rewindClaims, type SendView, viewSend } from './completion.ts';
export { claimSize, loadContent, type PrepareCampaign } from './content.ts';
export { type ExpansionDeps, expandFrom } from './expand-audience.ts';
export { loadExpansion, noteRecipients } from './expansion.ts';
export { type LanePace, type LaneReport, runLane } from './lane.ts';
export type { LaneDeps, LaneSend } from './lane-deps.ts';
export { recoverableCampaigns } from './recovery.ts';
export { campaignAudience } from './service.ts';
export { cancelCampaignByOperator, unscheduleCampaigns } from './stopping.ts';
export { type LedgerVerdict, verdictSql } from './verdicts.ts';
