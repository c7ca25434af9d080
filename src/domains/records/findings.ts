import { Resolver as DnsResolver } from 'node:dns/promises';
import { getDomain } from 'tldts';
import { isDmarc } from './dmarc.ts';

/** An answer of the DNS: `unanswered` is a name server that failed or kept silent, which proves nothing. */
export type DnsAnswer<T> = { kind: 'found'; values: T[] } | { kind: 'absent' } | { kind: 'unanswered'; reason: string };

/** Looks records up now; nothing is remembered. Never rejects. */
export interface DnsLookup {
  /** Texts, each put together from its parts. */
  txt(name: string): Promise<DnsAnswer<string>>;
  /** Names in lower case without the final dot. */
  cname(name: string): Promise<DnsAnswer<string>>;
  mx(name: string): Promise<DnsAnswer<{ priority: number; exchange: string }>>;
}

const timeoutMs = 4000;
// The codes of c-ares for a name that does not exist and for a name without such a record.
const absent = new Set(['ENOTFOUND', 'ENODATA', 'NXDOMAIN']);

/** Look-ups at these name servers, each `address` or `address:port`; at those of the machine where there are none. */
export function dnsLookup(servers: readonly string[]): DnsLookup {
  const dns = new DnsResolver({ timeout: timeoutMs / 2, tries: 2 });
  if (servers.length > 0) dns.setServers(servers);
  return {
    txt: (name) => answer(async () => (await dns.resolveTxt(name)).map((parts) => parts.join(''))),
    cname: (name) => answer(async () => (await dns.resolveCname(name)).map(plainName)),
    mx: (name) =>
      answer(async () =>
        (await dns.resolveMx(name)).map(({ priority, exchange }) => ({ priority, exchange: plainName(exchange) })),
      ),
  };
}

/** A name as it is compared: in lower case, without the final dot. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

async function answer<T>(ask: () => Promise<T[]>): Promise<DnsAnswer<T>> {
  try {
    const values = await ask();
    return values.length === 0 ? { kind: 'absent' } : { kind: 'found', values };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    return absent.has(code) ? { kind: 'absent' } : { kind: 'unanswered', reason: code || 'no answer' };
  }
}

/** The result of checking one record; `unknown` when its name servers did not answer. */
export interface DnsFinding {
  outcome: 'right' | 'wrong' | 'missing' | 'unknown';
  /** For people: what was found, and what to do; null when all is as it should be. */
  text: string | null;
}

/** A record that a domain should have. */
interface Wanted {
  purpose: 'DKIM' | 'RETURN_PATH' | 'SPF' | 'DMARC' | 'INBOUND_MX';
  type: 'TXT' | 'CNAME' | 'MX';
  name: string;
  value: string;
}

const right: DnsFinding = { outcome: 'right', text: null };

/** Checks a record of a domain in the DNS. Never rejects. */
export async function checkRecord(dns: DnsLookup, domain: string, record: Wanted): Promise<DnsFinding> {
  if (record.purpose === 'DMARC') return checkDmarcRecord(dns, domain, record);
  if (record.type === 'CNAME') return judge(dns, domain, record, await dns.cname(record.name), ownName);
  if (record.type === 'MX') {
    const answer = await dns.mx(record.name);
    return judge(dns, domain, record, answer, ({ exchange }) =>
      exchange === plainName(record.value) ? right : wrong(`mail for this name goes to ${exchange}`),
    );
  }
  const answer = await dns.txt(record.name);
  if (record.purpose === 'SPF') return judge(dns, domain, record, answer, spf(record.value));
  return judge(dns, domain, record, answer, (text) => dkimKey(text, record.value));

  function ownName(target: string): DnsFinding {
    return target === plainName(record.value) ? right : wrong(`found a CNAME to ${target}`);
  }
}

/** Compares the values of a name with the wanted one: the first that is right counts, whatever else stands there. */
async function judge<T>(
  dns: DnsLookup,
  domain: string,
  record: Wanted,
  answer: DnsAnswer<T>,
  compare: (value: T) => DnsFinding,
): Promise<DnsFinding> {
  if (answer.kind === 'unanswered') return unknown(answer.reason);
  if (answer.kind === 'absent') return missing(dns, domain, record);
  const findings = answer.values.map(compare);
  const good = findings.find(({ outcome }) => outcome === 'right');
  if (good && findings.length === 1) return good;
  if (good && record.purpose === 'DKIM')
    return { outcome: 'right', text: `${findings.length} records stand at this name: keep only this one` };
  return good ?? findings.find(({ text }) => text !== null) ?? wrong('found another record');
}

// Many control panels append the domain to whatever is typed, which makes the name end in it twice.
async function missing(dns: DnsLookup, domain: string, record: Wanted): Promise<DnsFinding> {
  const doubled = `${record.name}.${domain}`;
  const short = record.name.slice(0, -domain.length - 1);
  const there =
    record.type === 'TXT' ? await dns.txt(doubled) : record.type === 'CNAME' ? await dns.cname(doubled) : null;
  if (there?.kind === 'found')
    return {
      outcome: 'missing',
      text: `found at ${doubled}: your DNS service appends the domain, so enter "${short}" as the name`,
    };
  return { outcome: 'missing', text: `no ${record.type} record found at ${record.name}` };
}

function dkimKey(text: string, wanted: string): DnsFinding {
  const [found, own] = [tagsOf(text), tagsOf(wanted)];
  const key = found.get('p');
  if (key === undefined) return wrong(`found a TXT record that is no DKIM key: ${shortened(text)}`);
  if (key === '') return wrong('found a revoked key ("p=" is empty)');
  if (key === own.get('p')) return right;
  if (own.get('p')?.startsWith(key)) return wrong('found the key cut short: set the whole value');
  return wrong(`found ${text.trimStart().startsWith('v=DKIM1') ? 'v=DKIM1' : 'a DKIM record'} with another key`);
}

function spf(value: string): (text: string) => DnsFinding {
  const needed = value.split(' ').filter((term) => term.startsWith('include:'));
  return (text) => {
    if (!/^v=spf1( |$)/i.test(text)) return { outcome: 'wrong', text: null };
    const terms = new Set(text.toLowerCase().split(/\s+/));
    const lacking = needed.filter((term) => !terms.has(term));
    return lacking.length === 0 ? right : wrong(`found v=spf1 without ${lacking.join(' ')}`);
  };
}

// RFC 7489, 6.6.3: a name without a policy of its own has that of the registrable domain. Any policy will do.
async function checkDmarcRecord(dns: DnsLookup, domain: string, record: Wanted): Promise<DnsFinding> {
  const own = await dns.txt(record.name);
  if (own.kind === 'unanswered') return unknown(own.reason);
  if (own.kind === 'found' && own.values.some(isDmarc)) return right;
  const root = getDomain(domain);
  const above = root === null || root === domain ? null : await dns.txt(`_dmarc.${root}`);
  if (above?.kind === 'found' && above.values.some(isDmarc))
    return { outcome: 'right', text: `the policy of ${root} counts for this domain` };
  if (own.kind === 'found')
    return wrong(`found a TXT record that is no DMARC policy: ${shortened(own.values[0] ?? '')}`);
  return missing(dns, domain, record);
}

// RFC 6376, 3.2: tags are separated by semicolons, and blanks inside a key do not count.
function tagsOf(text: string): Map<string, string> {
  return new Map(
    text.split(';').flatMap((part) => {
      const equals = part.indexOf('=');
      return equals === -1 ? [] : [[part.slice(0, equals).trim(), part.slice(equals + 1).replace(/\s+/g, '')]];
    }),
  );
}

function wrong(text: string): DnsFinding {
  return { outcome: 'wrong', text };
}

function unknown(reason: string): DnsFinding {
  return { outcome: 'unknown', text: `the name servers did not answer (${reason}): it is checked again soon` };
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
