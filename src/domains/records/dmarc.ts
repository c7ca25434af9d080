import { getDomain } from 'tldts';
import type { DnsLookup } from './findings.ts';

/** The DMARC records that count for a domain: its own, or those of the registrable domain above it (RFC 7489, 6.6.3). */
interface FoundDmarc {
  records: string[];
  /** The domain above whose record counts; null for the domain's own, and where there is none. */
  inheritedFrom: string | null;
  isAnswered: boolean;
}

/** The signing and sending domains that alignment depends on. */
interface Signing {
  domain: string;
  /** Whether the DKIM record is verified. Its key signs with exactly this domain. */
  hasDkim: boolean;
}

/** One thing to know of a domain's DMARC record. */
interface Advice {
  /** Such as `MISSING`, `NONE` or `NO_REPORTS`. */
  code: string;
  level: 'bad' | 'warn' | 'info' | 'good';
  /** For people: what is so, and what to do. */
  text: string;
  /** The whole record with the change; null where the advice is no change of it. */
  value: string | null;
}

const policies = ['none', 'quarantine', 'reject'] as const;
type Policy = (typeof policies)[number];

/** The effect of a domain's DMARC record. */
export interface DmarcPolicy {
  /** Where the record stands, or belongs. */
  name: string;
  record: string | null;
  inheritedFrom: string | null;
  /** The policy that applies to this domain; null without a valid one. */
  policy: Policy | null;
  /** The most urgent first. */
  advice: Advice[];
}

/** Whether a text is a DMARC record. */
export const isDmarc = (text: string) => /^v\s*=\s*DMARC1\s*(;|$)/i.test(text.trim());

/** Looks up the DMARC records that count for a domain now. Never rejects. */
export async function findDmarc(dns: DnsLookup, domain: string): Promise<FoundDmarc> {
  const own = await dns.txt(`_dmarc.${domain}`);
  const records = own.kind === 'found' ? own.values.filter(isDmarc) : [];
  const root = getDomain(domain);
  if (own.kind === 'unanswered' || records.length > 0 || root === null || root === domain)
    return { records, inheritedFrom: null, isAnswered: own.kind !== 'unanswered' };
  const above = await dns.txt(`_dmarc.${root}`);
  const inherited = above.kind === 'found' ? above.values.filter(isDmarc) : [];
  return {
    records: inherited,
    inheritedFrom: inherited.length > 0 ? root : null,
    isAnswered: above.kind !== 'unanswered',
  };
}

/** Returns the effect of a domain's DMARC record, with advice, most urgent first. */
export function adviseDmarc({ records, inheritedFrom }: FoundDmarc, signing: Signing): DmarcPolicy {
  const [record] = records;
  const name = `_dmarc.${inheritedFrom ?? signing.domain}`;
  const found = { name, record: record ?? null, inheritedFrom };
  if (record === undefined)
    return { ...found, policy: null, advice: [missing(signing.domain), ...alignment(signing, new Map())] };
  const tags = tagsOf(record);
  const policy = policyOf(tags, inheritedFrom !== null);
  const advice = [
    ...(records.length > 1 ? [several(records.length)] : []),
    aboutPolicy(record, policy, inheritedFrom),
    ...aboutReports(record, tags, signing.domain),
    ...aboutShare(tags),
    ...alignment(signing, tags),
  ];
  const urgency = { bad: 0, warn: 1, info: 2, good: 3 };
  return { ...found, policy, advice: advice.sort((one, other) => urgency[one.level] - urgency[other.level]) };
}

// A subdomain without a record of its own has the policy `sp` of the record above, where that has one.
function policyOf(tags: ReadonlyMap<string, string>, isInherited: boolean): Policy | null {
  const text = ((isInherited ? tags.get('sp') : undefined) ?? tags.get('p') ?? '').toLowerCase();
  return policies.find((policy) => policy === text) ?? null;
}

function missing(domain: string): Advice {
  return {
    code: 'MISSING',
    level: 'bad',
    text: 'There is no DMARC record. Gmail and Yahoo refuse mail from bulk senders without one. Begin with a policy that only reports.',
    value: `v=DMARC1; p=none; rua=mailto:dmarc@${domain}`,
  };
}

function several(count: number): Advice {
  return {
    code: 'SEVERAL',
    level: 'bad',
    text: `${count} DMARC records stand at this name, so receivers ignore them all. Keep one.`,
    value: null,
  };
}

function aboutPolicy(record: string, policy: Policy | null, inheritedFrom: string | null): Advice {
  const at = inheritedFrom === null ? '' : ` It is the policy of ${inheritedFrom}, which counts for this domain too.`;
  if (policy === 'reject')
    return { code: 'REJECT', level: 'good', text: `Forged mail is refused (p=reject).${at}`, value: null };
  if (policy === 'quarantine')
    return {
      code: 'QUARANTINE',
      level: 'info',
      text: `Forged mail goes to spam (p=quarantine). When your reports show no mail of yours that fails, set p=reject.${at}`,
      value: withTag(record, 'p', 'reject'),
    };
  if (policy === 'none')
    return {
      code: 'NONE',
      level: 'warn',
      text: `The policy only reports (p=none): forged mail is delivered as usual. When two weeks of reports show no mail of yours that fails, set p=quarantine.${at}`,
      value: withTag(record, 'p', 'quarantine'),
    };
  return {
    code: 'INVALID',
    level: 'bad',
    text: `The record has no valid policy, so receivers ignore it: "p" must be none, quarantine or reject.${at}`,
    value: withTag(record, 'p', 'none'),
  };
}

function aboutReports(record: string, tags: ReadonlyMap<string, string>, domain: string): Advice[] {
  const rua = tags.get('rua');
  const own = `mailto:dmarc@${domain}`;
  if (rua === undefined || rua === '')
    return [
      {
        code: 'NO_REPORTS',
        level: 'warn',
        text: 'Nobody gets reports: without "rua" you can’t see who sends in your name, or whether your own mail fails.',
        value: withTag(record, 'rua', own),
      },
    ];
  const addresses = rua.split(',').map((address) => address.trim());
  if (addresses.some((address) => !/^mailto:[^@\s]+@[^@\s]+$/i.test(address)))
    return [
      {
        code: 'BAD_REPORTS',
        level: 'warn',
        text: `"rua" must be addresses such as ${own}, separated by commas.`,
        value: withTag(record, 'rua', own),
      },
    ];
  // RFC 7489, 7.1: another domain has to agree to receive reports.
  const elsewhere = addresses
    .map((address) =>
      address
        .replace(/^mailto:.*@/i, '')
        .replace(/!.*$/, '')
        .toLowerCase(),
    )
    .find((host) => getDomain(host) !== getDomain(domain));
  if (elsewhere === undefined) return [];
  return [
    {
      code: 'REPORTS_ELSEWHERE',
      level: 'info',
      text: `Reports go to ${elsewhere}. They are sent only if ${domain}._report._dmarc.${elsewhere} has the TXT record v=DMARC1.`,
      value: null,
    },
  ];
}

function aboutShare(tags: ReadonlyMap<string, string>): Advice[] {
  const share = tags.get('pct');
  if (share === undefined || share === '100') return [];
  return [
    {
      code: 'SHARE',
      level: 'info',
      text: `The policy covers a part of the mail only (pct=${share}), and many receivers ignore "pct". Take it out.`,
      value: null,
    },
  ];
}

// A message passes DMARC if its DKIM domain or its return path belongs to the domain of From.
function alignment({ domain, hasDkim }: Signing, tags: ReadonlyMap<string, string>): Advice[] {
  const dkim: Advice = hasDkim
    ? { code: 'ALIGNED', level: 'good', text: `DKIM signs as ${domain}, so your mail is aligned.`, value: null }
    : {
        code: 'NOT_ALIGNED',
        level: 'bad',
        text: 'The DKIM record is not verified. Until it is, your mail is not aligned and fails DMARC.',
        value: null,
      };
  if (tags.get('aspf')?.toLowerCase() !== 's') return [dkim];
  return [
    dkim,
    {
      code: 'STRICT_SPF',
      level: 'info',
      text: 'With aspf=s, SPF never aligns, because bounces return to a subdomain. DKIM alone has to pass: aspf=r allows both.',
      value: null,
    },
  ];
}

function tagsOf(record: string): Map<string, string> {
  return new Map(
    record.split(';').flatMap((part) => {
      const equals = part.indexOf('=');
      return equals === -1 ? [] : [[part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim()]];
    }),
  );
}

/** The record with a tag set; the policy stands right after the version (RFC 7489, 6.4). */
function withTag(record: string, name: string, value: string): string {
  const tags = tagsOf(record);
  tags.set(name, value);
  const { v: _, p, ...rest } = Object.fromEntries(tags);
  return ['v=DMARC1', ...(p === undefined ? [] : [`p=${p}`]), ...Object.entries(rest).map((tag) => tag.join('='))].join(
    '; ',
  );
}
