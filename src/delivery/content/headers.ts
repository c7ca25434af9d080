/** What kind of message it is, which decides about subscription, footer, headers and tracking (contract page 1, 2.5). */
export type MessageClass = 'MARKETING' | 'HEADLESS' | 'TRANSACTIONAL';

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

// Names whose values the service or the provider decides (contract page 1, 2.5, and page 3, 10.2).
const owned = new Set(
  'from to cc bcc subject reply-to return-path sender date message-id mime-version dkim-signature received'.split(' '),
);
// Headers that begin with `x-pm-` steer Postmark: stream, tag, metadata.
const ownedPrefixes = ['content-', 'x-posthorn-', 'x-pm-'];
const unsubscribePair = ['list-unsubscribe', 'list-unsubscribe-post'];

/**
 * The headers of a message: the defaults of its class, and the caller's in their place whatever their letter case. Whoever
 * sets one header of the List-Unsubscribe pair owns both; names that are the service's own are left out.
 */
export function messageHeaders({ messageClass, isCampaign, oneClickUrl, custom }: HeaderFacts): MessageHeader[] {
  const headers = new Map<string, MessageHeader>();
  const set = (name: string, value: string) => headers.set(name.toLowerCase(), { name, value });
  if (oneClickUrl !== null) {
    set('List-Unsubscribe', `<${oneClickUrl}>`);
    set('List-Unsubscribe-Post', 'List-Unsubscribe=One-Click');
  }
  if (isCampaign || messageClass === 'MARKETING') {
    set('Precedence', 'bulk');
    set('Auto-Submitted', 'auto-generated');
    set('X-Auto-Response-Suppress', 'All');
  }
  if (custom !== null) {
    const own = Object.entries(custom).filter(([name]) => !isOwned(name.toLowerCase()));
    if (own.some(([name]) => unsubscribePair.includes(name.toLowerCase())))
      for (const name of unsubscribePair) headers.delete(name);
    for (const [name, value] of own) set(name, value);
  }
  return [...headers.values()];
}

function isOwned(name: string): boolean {
  return owned.has(name) || ownedPrefixes.some((prefix) => name.startsWith(prefix));
}
