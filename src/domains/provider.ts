/** What the mail provider says of a domain. */
export interface ProviderDomain {
  providerId: string;
  dkimVerified: boolean;
  /** Host and value of the DKIM record to set. */
  dkim: { host: string; value: string };
  returnPath: { host: string; target: string; verified: boolean };
}

/** The provider's register of sender domains. Every method rejects when the provider cannot be asked. */
export interface DomainProvider {
  /** Registers the domain, or finds it where it is registered already. */
  create(domain: string): Promise<ProviderDomain>;
  /** Lets the provider look at the DNS records now. */
  check(providerId: string): Promise<ProviderDomain>;
  /** Removes the domain; one that is gone already counts as removed. */
  remove(providerId: string): Promise<void>;
}
