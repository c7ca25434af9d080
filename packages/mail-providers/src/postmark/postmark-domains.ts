import { AccountClient, Errors } from 'postmark';
import type { DomainProvider, ProviderDomain } from '../domains.ts';
import { clientOptions } from './postmark.ts';

/** Postmark's Domains API; the sandbox speaks it as well. `returnPathLabel` is the label of the bounce domain. */
export function createPostmarkDomains(settings: {
  accountToken: string;
  apiUrl: string;
  returnPathLabel: string;
}): DomainProvider {
  const client = new AccountClient(settings.accountToken, clientOptions(settings.apiUrl, 15_000));
  return {
    async create(domain) {
      const returnPath = `${settings.returnPathLabel}.${domain}`;
      try {
        return described(await client.createDomain({ Name: domain, ReturnPathDomain: returnPath }));
      } catch (error) {
        // 512: the account has this domain, left by a request whose answer was lost.
        if (!(error instanceof Errors.PostmarkError) || error.code !== 512) throw error;
        const found = await findByName(client, domain);
        if (found === undefined) throw error;
        return described(await client.getDomain(found));
      }
    },
    async check(providerId) {
      const id = Number(providerId);
      await client.verifyDomainDKIM(id);
      await client.verifyDomainReturnPath(id);
      return described(await client.getDomain(id));
    },
    async remove(providerId) {
      try {
        await client.deleteDomain(Number(providerId));
      } catch (error) {
        if (!(error instanceof Errors.PostmarkError) || error.statusCode !== 404) throw error;
      }
    },
  };
}

async function findByName(client: AccountClient, domain: string): Promise<number | undefined> {
  const size = 500;
  for (let offset = 0; ; offset += size) {
    const page = await client.getDomains({ count: size, offset });
    const found = page.Domains.find((entry) => entry.Name.toLowerCase() === domain);
    if (found) return found.ID;
    if (offset + size >= page.TotalCount) return undefined;
  }
}

function described(details: Awaited<ReturnType<AccountClient['getDomain']>>): ProviderDomain {
  const host = details.DKIMPendingHost || details.DKIMHost;
  return {
    providerId: String(details.ID),
    state: details.DKIMVerified ? 'Success' : details.DKIMUpdateStatus === 'Failed' ? 'Failed' : 'Pending',
    tokens: [host.split('._domainkey')[0] ?? ''],
    records: [
      {
        purpose: 'DKIM',
        type: 'TXT',
        name: host,
        value: details.DKIMPendingTextValue || details.DKIMTextValue,
        priority: null,
        verified: details.DKIMVerified,
      },
      {
        purpose: 'RETURN_PATH',
        type: 'CNAME',
        name: details.ReturnPathDomain,
        value: details.ReturnPathDomainCNAMEValue,
        priority: null,
        verified: details.ReturnPathDomainVerified,
      },
    ],
  };
}
