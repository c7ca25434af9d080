import { hash, timingSafeEqual } from 'node:crypto';
import type { RecipientUrls } from '../../lib/render/variables.ts';

const tokenBytes = 16;

/**
 * The `t` of a recipient's links (contract page 3, 11.1): base64url of the first 16 bytes of an HMAC-SHA256 over
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

// HMAC (RFC 2104) by two one-shot hashes over pads that are made once for a secret: half the cost of a Hmac object, and
// every message has one.
function tokenOf(contactId: string, secret: string): Buffer {
  const { inner, outer } = padsOf(secret);
  const digest = hash('sha256', Buffer.concat([inner, Buffer.from(`v1:${contactId}`)]), 'buffer');
  return hash('sha256', Buffer.concat([outer, digest]), 'buffer').subarray(0, tokenBytes);
}

const blockBytes = 64;
let pads: { secret: string; inner: Buffer; outer: Buffer } | null = null;

function padsOf(secret: string): { inner: Buffer; outer: Buffer } {
  if (pads?.secret === secret) return pads;
  const bytes = Buffer.from(secret);
  const key = Buffer.alloc(blockBytes);
  (bytes.length > blockBytes ? hash('sha256', bytes, 'buffer') : bytes).copy(key);
  pads = {
    secret,
    inner: Buffer.from(key.map((byte) => byte ^ 0x36)),
    outer: Buffer.from(key.map((byte) => byte ^ 0x5c)),
  };
  return pads;
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
export interface RecipientLinks extends RecipientUrls {
  /** What a mail client posts to when its own unsubscribe button is pressed. */
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
