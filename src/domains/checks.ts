import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { TellMembers } from '../accounts/system-mail/service.ts';
import { seal } from '../lib/seal.ts';
import type { OutboxTicket } from '../store/outbox/queries.ts';
import type { Database } from '../store/sql.ts';
import type { DomainProvider, ProviderDomain, ProviderRecord } from './providers/mailer.ts';
import { type CheckedDomain, settleCheck } from './queries.ts';
import { checkRecord, type DnsLookup } from './records/findings.ts';
import { nextState } from './state.ts';

/** A DKIM key pair of our own: the record to publish, and the sealed private key. */
interface OwnKey {
  selector: string;
  record: ProviderRecord;
  keySealed: string;
}

/** Makes a 2048-bit RSA key pair (RFC 8301, 3.2) for a domain; the private key is sealed with `encryptionKey`. */
export async function newOwnKey(domain: string, encryptionKey: string, now: Date): Promise<OwnKey> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const selector = `ph${now.toISOString().slice(0, 10).replaceAll('-', '')}${randomBytes(3).toString('hex')}`;
  return {
    selector,
    record: {
      purpose: 'DKIM',
      type: 'TXT',
      name: `${selector}._domainkey.${domain}`,
      value: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
      priority: null,
      verified: false,
    },
    keySealed: seal(privateKey, encryptionKey),
  };
}

declare module '../http/context.ts' {
  interface App {
    /** Null when the provider's account is not configured: sender domains then get keys of our own. */
    domainProvider: DomainProvider | null;
    /** For the records of sender domains; null with the sandbox, for whose domains nobody sets any. */
    dns: DnsLookup | null;
  }
}

export interface CheckDeps {
  db: Database;
  /** Null where the service has keys of its own in place of a provider's register. */
  provider: DomainProvider | null;
  /** Null with the sandbox, for whose domains nobody sets records. */
  dns: DnsLookup | null;
  tell: TellMembers;
  dispatchSoon(...tickets: readonly OutboxTicket[]): void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** A domain after a check, and whether the provider has stopped looking for its records. */
interface CheckResult {
  domain: CheckedDomain;
  stopped: boolean;
}

/**
 * Checks a domain's records, stores what was found and tells members of a change. Another check at the same
 * moment may win; then its result stands. Rejects when the provider has to be asked and cannot be.
 */
export async function checkTaken(deps: CheckDeps, before: CheckedDomain, scheduled: boolean): Promise<CheckResult> {
  const provider = await word(deps, before);
  const { dns } = deps;
  const records = provider === null ? before.records : withNewRecords(before, provider);
  const findings =
    dns === null ? null : await Promise.all(records.map((record) => checkRecord(dns, before.domain, record)));
  const next = nextState({ ...before, records }, { scheduled, provider, findings });
  const after = { ...before, ...next, records: [...next.records], dkimTokens: provider?.tokens ?? before.dkimTokens };
  const tickets = await deps.db.transaction(async (tx) => {
    const notices = await settleCheck(tx, before, after);
    if (notices === null) return [];
    const { projectId, domain } = before;
    const mail = { projectId, path: '/settings?tab=domains', values: { domain } };
    const key = `${before.id}:${new Date().toISOString().slice(0, 10)}`;
    if (notices.tellVerified)
      return deps.tell(tx, { ...mail, kind: 'domain-verified', dedupeKey: `domain-verified:${key}` });
    if (notices.tellFailed) return deps.tell(tx, { ...mail, kind: 'domain-lost', dedupeKey: `domain-lost:${key}` });
    return [];
  });
  deps.dispatchSoon(...tickets);
  if (after.verified !== before.verified)
    deps.log.info(
      { projectId: before.projectId, domainId: before.id, status: after.status },
      after.verified ? 'a domain is verified' : 'a domain lost its DKIM record and may not send any more',
    );
  return { domain: after, stopped: provider?.state === 'Failed' };
}

// A provider's word about a domain that was verified once never changes back, so only the DNS is asked for those.
async function word({ provider, dns }: CheckDeps, before: CheckedDomain): Promise<ProviderDomain | null> {
  if (before.providerId === null || provider === null) return null;
  if (before.wasVerified && dns !== null) return null;
  return provider.check(before.providerId);
}

// A provider may give a domain another key or host; the state of what stays is kept.
function withNewRecords(before: CheckedDomain, { records }: ProviderDomain): CheckedDomain['records'] {
  const ofProvider = records.map(({ verified: _, ...record }) => {
    const known = before.records.find(
      ({ purpose, name, value }) => purpose === record.purpose && name === record.name && value === record.value,
    );
    return known ?? { ...record, required: record.purpose === 'DKIM', status: 'pending' as const, finding: null };
  });
  const purposes = new Set(records.map(({ purpose }) => purpose));
  return [...ofProvider, ...before.records.filter(({ purpose }) => !purposes.has(purpose))];
}
