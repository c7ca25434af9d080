import { headerPrefix } from '@fernpost/earlier-name';
import type { MessageClass } from './message-class.ts';

/** A header of an outgoing message. */
export interface MessageHeader {
  name: string;
  value: string;
}

/** What decides the headers of a message. */
export interface HeaderFacts {
  messageClass: MessageClass;
  isCampaign: boolean;
  /** Where the one-click POST of RFC 8058 goes; null where the message does not offer it. */
  oneClickUrl: string | null;
  /** The caller's own headers by name. */
  custom: Readonly<Record<string, string>> | null;
}

// Names whose values the service or the provider decides (docs/contract/core.md#2-5 and docs/contract/platform.md#10-2), and what
// only a server that received a message may say of it.
const owned = new Set(
  [
    'from to cc bcc subject reply-to return-path sender date message-id mime-version dkim-signature received',
    'authentication-results received-spf x-smtpapi',
  ].flatMap((names) => names.split(' ')),
);
// Headers with these steer providers: streams, tags and metadata of Postmark, configuration sets and identities of Amazon SES, tags and
// variables of Mailgun, as `X-SMTPAPI` does recipients of SendGrid.
const providerPrefixes = ['x-pm-', 'x-ses-', 'x-mailgun-'];
const ownedPrefixes = ['content-', 'x-fernpost-', headerPrefix, 'arc-', 'resent-', ...providerPrefixes];
const unsubscribePair = ['list-unsubscribe', 'list-unsubscribe-post'];

/**
 * The headers of a message: the defaults of its class, and the caller's in their place whatever their letter case. A
 * caller who sets one header of the List-Unsubscribe pair owns both; names that are the service's own are left out.
 */
export function outgoingHeaders({ messageClass, isCampaign, oneClickUrl, custom }: HeaderFacts): MessageHeader[] {
  const defaults: MessageHeader[] = [];
  if (oneClickUrl !== null) defaults.push({ name: 'List-Unsubscribe', value: `<${oneClickUrl}>` }, oneClickPost);
  if (isCampaign || messageClass === 'MARKETING') defaults.push(...bulk);
  return custom === null ? defaults : withOwn(defaults, custom);
}

const oneClickPost: MessageHeader = { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' };
const bulk: readonly MessageHeader[] = [
  { name: 'Precedence', value: 'bulk' },
  { name: 'Auto-Submitted', value: 'auto-generated' },
  { name: 'X-Auto-Response-Suppress', value: 'All' },
];

function withOwn(defaults: readonly MessageHeader[], custom: Readonly<Record<string, string>>): MessageHeader[] {
  // By lower-case name, so that the last of several spellings counts.
  const own = new Map<string, MessageHeader>();
  for (const [name, value] of Object.entries(custom))
    if (!isOwned(name.toLowerCase())) own.set(name.toLowerCase(), { name, value });
  const ownsPair = unsubscribePair.some((name) => own.has(name));
  const kept = defaults.filter(({ name }) => {
    const lower = name.toLowerCase();
    return !own.has(lower) && !(ownsPair && unsubscribePair.includes(lower));
  });
  return [...kept, ...own.values()];
}

function isOwned(name: string): boolean {
  return owned.has(name) || ownedPrefixes.some((prefix) => name.startsWith(prefix));
}
