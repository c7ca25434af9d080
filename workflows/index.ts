export { automation, migrateAutomation } from './automation.ts';
export { campaignSend } from './campaign-send.ts';
export { emailDelivery, systemMail } from './email-delivery.ts';
export { eraseContact, wipeProject } from './erasures.ts';
export { bulkContacts, dryRun, importContacts } from './jobs.ts';
export { segmentCompute, segmentSweep } from './segment-compute.ts';
export { domainSweep, enrolScheduled, reconcile, retention, usageSweep } from './sweeps.ts';
export { webhookFeed } from './webhook-feed.ts';
