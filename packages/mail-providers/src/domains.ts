/** A DNS record that a provider asks for, and whether it has seen it. */
export interface ProviderRecord {
  purpose: 'DKIM' | 'RETURN_PATH' | 'SPF' | 'DMARC' | 'INBOUND_MX';
  type: 'TXT' | 'CNAME' | 'MX';
  name: string;
  value: string;
  priority: number | null;
  verified: boolean;
}

/** What the mail provider says of a domain. */
export interface ProviderDomain {
  providerId: string;
  /** `Failed`: it has stopped checking and must be asked to begin again. */
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
  /** Lets the provider check the DNS records now; one that had stopped checking begins again. */
  check(providerId: string): Promise<ProviderDomain>;
  /** Removes the domain; one that is gone already counts as removed. */
  remove(providerId: string): Promise<void>;
}
