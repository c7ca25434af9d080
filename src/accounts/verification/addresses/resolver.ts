import { Resolver as DnsResolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** The record types that tell whether a domain lives and takes mail. */
export type RecordType = 'NS' | 'MX' | 'A' | 'AAAA';

/** What verification asks of the DNS. */
export interface Resolver {
  /** Whether the name has a usable record of the type. Never rejects: a failure or a timeout counts as no record. */
  hasRecord(name: string, type: RecordType): Promise<boolean>;
}

/** Where and how long to ask. */
interface DnsOptions {
  /** Name servers as `address` or `address:port` (`[::1]:53` for IPv6); those of the machine when left out or empty. */
  servers?: readonly string[];
  /** Milliseconds after which a lookup counts as unanswered, all its attempts together. Default 5000. */
  timeoutMs?: number;
}

const defaultTimeoutMs = 5000;
const attempts = 3;

/** A resolver that asks real name servers over the network. */
export function dnsResolver({ servers = [], timeoutMs = defaultTimeoutMs }: DnsOptions = {}): Resolver {
  const dns = new DnsResolver({ timeout: Math.max(1, Math.floor(timeoutMs / attempts)), tries: attempts });
  if (servers.length > 0) dns.setServers(servers);
  return {
    async hasRecord(name, type) {
      try {
        // The library's own timeout is for each attempt and server, so that several would add up beyond the promised one.
        return await Promise.race([ask(dns, name, type), sleep(timeoutMs, false, { ref: false })]);
      } catch {
        return false;
      }
    },
  };
}

async function ask(dns: DnsResolver, name: string, type: RecordType): Promise<boolean> {
  switch (type) {
    case 'NS':
      return (await dns.resolveNs(name)).length > 0;
    case 'MX':
      return takesMail(await dns.resolveMx(name));
    case 'A':
      return (await dns.resolve4(name)).length > 0;
    case 'AAAA':
      return (await dns.resolve6(name)).length > 0;
  }
}

// RFC 7505: a single record that points at the root says that the domain takes no mail.
function takesMail(records: { exchange: string }[]): boolean {
  const [first] = records;
  if (!first) return false;
  return records.length > 1 || (first.exchange !== '' && first.exchange !== '.');
}
