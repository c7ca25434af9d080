import { Resolver as DnsResolver } from 'node:dns/promises';

/** What the DNS says: `unanswered` is a name server that failed or kept silent, which proves nothing. */
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
// What c-ares calls a name that does not exist and a name without such a record.
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
