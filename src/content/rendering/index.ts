// What other parts of the service may use of rendering; everything else in this folder is its own.
export { contentCache } from './cache.ts';
export { type LinkSettings, recipientLinks, verifyLinkToken } from './links.ts';
export { contentAsWritten, type MessageRecipient, prepareContent } from './prepare.ts';
export { type TrackingMode, tracksEmail } from './tracking.ts';
