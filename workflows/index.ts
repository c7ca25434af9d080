export { campaignSend } from './campaign-send.ts';
export { emailDelivery } from './email-delivery.ts';
export { segmentCompute, segmentSweep } from './segment-compute.ts';
export { reconcile, retention } from './sweeps.ts';
