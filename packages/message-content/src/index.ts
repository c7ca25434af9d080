export { contentCache } from './cache.ts';
export { type LinkSettings, linkToken, recipientLinks, verifyLinkToken } from './links.ts';
export type { MessageClass } from './message-class.ts';
export {
  type ContentSource,
  contentAsWritten,
  type MessageRecipient,
  prepareContent,
  type RenderedContent,
} from './prepare.ts';
export { type TrackingMode, tracksEmail } from './tracking.ts';
