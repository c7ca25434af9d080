export { automation } from './automation.ts';
export { bulkContacts } from './bulk-change.ts';
export { campaignSend } from './campaign-send.ts';
export { importContacts } from './contact-import.ts';
export { domainSweep } from './domain-sweep.ts';
export { emailDelivery } from './email-delivery.ts';
export { segmentCompute, segmentSweep } from './segment-compute.ts';
export { reconcile, retention } from './sweeps.ts';
export { systemMail } from './system-mail.ts';
