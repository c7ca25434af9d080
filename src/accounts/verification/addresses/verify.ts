import { Resolver as DnsResolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { getDomain } from 'tldts';
import { RecentResults } from '../../../lib/keyed-turns.ts';
import { type Lists, shippedLists, suggestDomain } from './typo.ts';

declare module '../../../http/context.ts' {
  interface App {
    /** Asks the DNS about the domains of addresses. */
    resolver: Resolver;
  }
}

/** How much to remember and for how long. Times are milliseconds. */
interface CacheOptions {
  /** Answers kept; the one unused for longest goes first. Default 10 000. */
  capacity?: number;
  /** How long a record that is there is believed. Default five minutes. */
  positiveMs?: number;
  /** How long a record that is missing is believed. Default one minute. */
  negativeMs?: number;
  /** The present instant in milliseconds. */
  now?: () => number;
}

/** Remembers the answers of another resolver for a short while, so that a list of addresses of one domain asks once. */
export function cachedResolver(
  resolver: Resolver,
  { capacity = 10_000, positiveMs = 300_000, negativeMs = 60_000, now = Date.now }: CacheOptions = {},
): Resolver {
  const answers = new RecentResults<boolean>({ entries: capacity, now });
  return {
    hasRecord: (name, type) =>
      answers.get(
        `${type} ${name}`,
        () => resolver.hasRecord(name, type),
        (found) => (found ? positiveMs : negativeMs),
      ),
  };
}

/** The record types that tell whether a domain lives and takes mail. */
export type RecordType = 'NS' | 'MX' | 'A' | 'AAAA';

/** Looks up records in the DNS. */
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

/** The DNS to ask, and the domain lists; those that ship with the package when absent. */
interface VerificationDeps {
  resolver: Resolver;
  lists?: Lists;
}

/** The facts about an address. */
export interface Verification extends DomainFacts {
  email: string;
  valid: boolean;
  isDisposable: boolean;
  isAlias: boolean;
  isTypo: boolean;
  isPlusAddressed: boolean;
  isPersonalEmail: boolean;
  /** Only when `isTypo`. */
  suggestedEmail?: string;
  reasons: string[];
}

interface DomainFacts {
  domainExists: boolean;
  hasMxRecords: boolean;
  hasWebsite: boolean;
}

/**
 * Tells whether mail to the address can arrive, and what kind of address it is. Expects a
 * well-formed address in any letter case, blanks around it allowed, and repeats it as it was given. Never rejects
 * because of the DNS.
 */
export async function verifyAddress(
  address: string,
  { resolver, lists = shippedLists() }: VerificationDeps,
): Promise<Verification> {
  const asSent = address.trim();
  const at = asSent.lastIndexOf('@');
  const [localPart, domain] = [asSent.slice(0, at), asSent.slice(at + 1).toLowerCase()];
  const meant = suggestDomain(domain, lists);
  const facts = await lookUp(domain, resolver);
  const valid = facts.domainExists && facts.hasMxRecords;
  return {
    email: address,
    valid,
    isDisposable: lists.disposable.has(domain),
    isAlias: lists.alias.has(domain),
    isTypo: meant !== undefined,
    isPlusAddressed: localPart.includes('+'),
    isPersonalEmail: lists.personal.has(domain),
    ...facts,
    ...(meant === undefined ? {} : { suggestedEmail: `${localPart}@${meant}` }),
    reasons: reasonsFor(facts, meant),
  };
}

async function lookUp(domain: string, resolver: Resolver): Promise<DomainFacts> {
  // A name inside a zone has no name servers of its own; those of the registered domain above it answer for it.
  const names = new Set([domain, getDomain(domain) ?? domain]);
  const delegated = await Promise.all([...names].map((name) => resolver.hasRecord(name, 'NS')));
  if (!delegated.includes(true)) return { domainExists: false, hasMxRecords: false, hasWebsite: false };
  const [hasMxRecords, hasA, hasAaaa] = await Promise.all([
    resolver.hasRecord(domain, 'MX'),
    resolver.hasRecord(domain, 'A'),
    resolver.hasRecord(domain, 'AAAA'),
  ]);
  return { domainExists: true, hasMxRecords, hasWebsite: hasA || hasAaaa };
}

function reasonsFor({ domainExists, hasMxRecords }: DomainFacts, meant: string | undefined): string[] {
  const reasons: string[] = [];
  if (meant !== undefined) reasons.push(`Possible typo detected, did you mean ${meant}?`);
  if (!domainExists) reasons.push('Domain does not exist (no nameservers found)');
  else if (!hasMxRecords) reasons.push('Domain cannot receive email (no MX records found)');
  return reasons.length === 0 ? ['Email appears to be valid'] : reasons;
}
