// What other parts of the service may use of webhooks; everything else in this folder is its own.
export { deliverWebhooks, type WebhookDeps, type WebhookReport } from './deliver.ts';
export { removeOldDeliveries } from './feed.ts';
export { auditEndpoints, insertMissed } from './missed.ts';
export { createWebhookWatch } from './watch.ts';
