import {
  CreateEmailIdentityCommand,
  DeleteEmailIdentityCommand,
  GetEmailIdentityCommand,
  type GetEmailIdentityCommandOutput,
  PutEmailIdentityMailFromAttributesCommand,
} from '@aws-sdk/client-sesv2';
import type { DomainProvider, ProviderDomain, ProviderRecord } from '../mailer.ts';
import { createSesClient, type SesAccess } from './ses.ts';

const inTime = () => ({ abortSignal: AbortSignal.timeout(15_000) });

/** The identities of Amazon SES as the register of sender domains, with the records of docs/contract/platform.md#3-2. */
export function createSesDomains(access: SesAccess, returnPathLabel: string): DomainProvider {
  const client = createSesClient(access);
  return {
    async create(domain) {
      await unless('AlreadyExistsException', () =>
        client.send(new CreateEmailIdentityCommand({ EmailIdentity: domain }), inTime()),
      );
      const from = new PutEmailIdentityMailFromAttributesCommand({
        EmailIdentity: domain,
        MailFromDomain: `${returnPathLabel}.${domain}`,
        BehaviorOnMxFailure: 'USE_DEFAULT_VALUE',
      });
      await client.send(from, inTime());
      return read(domain);
    },
    // SES checks by itself, for 72 hours; after that the identity has to be created again.
    async check(providerId) {
      const seen = await read(providerId);
      if (seen.state !== 'Failed') return seen;
      await this.remove(providerId);
      return this.create(providerId);
    },
    async remove(providerId) {
      await unless('NotFoundException', () =>
        client.send(new DeleteEmailIdentityCommand({ EmailIdentity: providerId }), inTime()),
      );
    },
  };

  async function read(domain: string): Promise<ProviderDomain> {
    const identity = await client.send(new GetEmailIdentityCommand({ EmailIdentity: domain }), inTime());
    return described(domain, access.region, `${returnPathLabel}.${domain}`, identity);
  }
}

async function unless(name: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if ((error as Error).name !== name) throw error;
  }
}

function described(
  domain: string,
  region: string,
  from: string,
  identity: GetEmailIdentityCommandOutput,
): ProviderDomain {
  const { DkimAttributes, MailFromAttributes } = identity;
  const status = DkimAttributes?.Status;
  const tokens = DkimAttributes?.Tokens ?? [];
  const signed = status === 'SUCCESS';
  const returned = MailFromAttributes?.MailFromDomainStatus === 'SUCCESS';
  const dkim = tokens.map(
    (token): ProviderRecord => ({
      purpose: 'DKIM',
      type: 'CNAME',
      name: `${token}._domainkey.${domain}`,
      value: `${token}.${DkimAttributes?.SigningHostedZone ?? 'dkim.amazonses.com'}`,
      priority: null,
      verified: signed,
    }),
  );
  return {
    providerId: domain,
    state: signed ? 'Success' : status === 'FAILED' ? 'Failed' : 'Pending',
    tokens,
    records: [
      ...dkim,
      {
        purpose: 'RETURN_PATH',
        type: 'MX',
        name: from,
        value: `feedback-smtp.${region}.amazonses.com`,
        priority: 10,
        verified: returned,
      },
      {
        purpose: 'SPF',
        type: 'TXT',
        name: from,
        value: 'v=spf1 include:amazonses.com ~all',
        priority: null,
        verified: returned,
      },
      {
        purpose: 'INBOUND_MX',
        type: 'MX',
        name: domain,
        value: `inbound-smtp.${region}.amazonaws.com`,
        priority: 10,
        verified: false,
      },
    ],
  };
}
