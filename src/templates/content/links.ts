import { hash, timingSafeEqual } from 'node:crypto';
import type { RecipientUrls } from '@fernpost/renderer';
import type { MessageClass } from '../../lib/enums.ts';

/** A project's tracking mode. */
export type TrackingMode = 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';

/**
 * Whether opens and clicks of a message are counted (docs/contract/core.md#2-5, docs/contract/platform.md#9-5). The request's own
 * `tracking` goes before the project's mode; `MARKETING_ONLY` counts all but transactional mail.
 */
export function tracksEmail(facts: {
  override: boolean | null;
  mode: TrackingMode;
  messageClass: MessageClass;
}): boolean {
  if (facts.override !== null) return facts.override;
  return facts.mode === 'ENABLED' || (facts.mode === 'MARKETING_ONLY' && facts.messageClass !== 'TRANSACTIONAL');
}

const tokenBytes = 16;

/**
 * The `t` of a recipient's links (docs/contract/platform.md#11-1): base64url of the first 16 bytes of an HMAC-SHA256 over
 * `v1:<contactId>`. It proves that we made the link, and never expires, for an old mail must still be able to unsubscribe.
 */
export function linkToken(contactId: string, secret: string): string {
  return tokenOf(contactId, secret).toString('base64url');
}

/** Whether `token` is the contact's, in a time that does not depend on where it differs. */
export function verifyLinkToken(contactId: string, token: unknown, secret: string): boolean {
  if (typeof token !== 'string') return false;
  const given = Buffer.from(token, 'base64url');
  return given.length === tokenBytes && timingSafeEqual(given, tokenOf(contactId, secret));
}

// HMAC (RFC 2104) by two one-shot hashes behind pads that are laid out once for a secret: a sixth of the cost of a Hmac
// object, and every message has one.
function tokenOf(contactId: string, secret: string): Buffer {
  const { inner, outer } = blocksOf(secret);
  const written = inner.write(`v1:${contactId}`, blockBytes);
  outer.write(hash('sha256', inner.subarray(0, blockBytes + written), 'binary'), blockBytes, 'binary');
  return Buffer.from(hash('sha256', outer, 'binary').slice(0, tokenBytes), 'binary');
}

const blockBytes = 64;
const digestBytes = 32;
// Ids are UUIDs; whatever else is asked about is cut here, and no token was ever made for it.
const longestMessage = 128;

/** The padded key, followed by space for what is hashed with it. */
interface Blocks {
  secret: string;
  inner: Buffer;
  outer: Buffer;
}

let blocks: Blocks | null = null;

function blocksOf(secret: string): Blocks {
  if (blocks?.secret === secret) return blocks;
  const bytes = Buffer.from(secret);
  const key = Buffer.alloc(blockBytes);
  (bytes.length > blockBytes ? hash('sha256', bytes, 'buffer') : bytes).copy(key);
  const behind = (mask: number, room: number) => Buffer.concat([key.map((byte) => byte ^ mask), Buffer.alloc(room)]);
  blocks = { secret, inner: behind(0x36, longestMessage), outer: behind(0x5c, digestBytes) };
  return blocks;
}

/** Where the pages of recipients are, and the secret that signs the links to them. No URL ends in a slash. */
export interface LinkSettings {
  /** Setting DASHBOARD_URI: serves the pages. */
  pagesUrl: string;
  /** Setting API_URI: takes the one-click POST of RFC 8058. */
  apiUrl: string;
  /** Setting LINK_SECRET. */
  secret: string;
}

/** The links of one message to one contact. */
interface RecipientLinks extends RecipientUrls {
  /** The address that a mail client posts to when its own unsubscribe button is pressed. */
  oneClickUrl: string;
}

/** Makes the links of a contact; `emailId` is the row of the message they stand in, or null when it has none. */
export function recipientLinks(settings: LinkSettings, contactId: string, emailId: string | null): RecipientLinks {
  const { pagesUrl, apiUrl, secret } = settings;
  const query = `${contactId}?${emailId === null ? '' : `e=${emailId}&`}t=${linkToken(contactId, secret)}`;
  return {
    unsubscribeUrl: `${pagesUrl}/unsubscribe/${query}`,
    subscribeUrl: `${pagesUrl}/subscribe/${query}`,
    manageUrl: `${pagesUrl}/manage/${query}`,
    oneClickUrl: `${apiUrl}/unsubscribe/${query}`,
  };
}

/** Whether HTML holds a link to the contact's own unsubscribe or preferences page. */
export function linksOwnPages(html: string, contactId: string): boolean {
  return html.includes(`/unsubscribe/${contactId}`) || html.includes(`/manage/${contactId}`);
}
