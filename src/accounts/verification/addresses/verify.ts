import { getDomain } from 'tldts';
import { type Lists, shippedLists } from './lists.ts';
import type { Resolver } from './resolver.ts';
import { suggestDomain } from './typo.ts';

/** What verification needs: a way to ask the DNS, and the domain lists; those that ship with the package when absent. */
interface VerificationDeps {
  resolver: Resolver;
  lists?: Lists;
}

/** What is known about an address. */
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
