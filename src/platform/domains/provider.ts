import type { DnsRecord } from './schema.ts';

declare module '../../core/http/context.ts' {
  interface App {
    /** Null when the provider's account is not configured: sender domains then get keys of our own. */
    domainProvider: DomainProvider | null;
  }
}

/** A record that a provider asks for, and whether it has seen it. */
export interface ProviderRecord extends Pick<DnsRecord, 'purpose' | 'type' | 'name' | 'value' | 'priority'> {
  verified: boolean;
}

/** What the mail provider says of a domain. */
export interface ProviderDomain {
  providerId: string;
  /** `Failed`: it has stopped looking and must be asked to begin again. */
  state: 'Pending' | 'Success' | 'Failed';
  /** Its DKIM selectors. */
  tokens: string[];
  /** Records to set; all with the purpose DKIM are needed to send. */
  records: ProviderRecord[];
}

/** The provider's register of sender domains. Every method rejects when the provider cannot be asked. */
export interface DomainProvider {
  /** Registers the domain, or finds it where it is registered already. */
  create(domain: string): Promise<ProviderDomain>;
  /** Lets the provider look at the DNS records now; one that had stopped looking begins again. */
  check(providerId: string): Promise<ProviderDomain>;
  /** Removes the domain; one that is gone already counts as removed. */
  remove(providerId: string): Promise<void>;
}
