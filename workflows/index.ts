export { campaignSend } from './campaign-send.ts';
export { emailDelivery } from './email-delivery.ts';
export { reconcile, retention } from './sweeps.ts';
