import type { ProviderDomain, ProviderRecord } from './providers/mailer.ts';
import type { DnsFinding } from './records/findings.ts';
import type { DnsRecord, DomainStatus } from './schema.ts';

/** A domain as checks know it. */
export interface DomainState {
  verified: boolean;
  /** Whether it has been verified at any time. */
  wasVerified: boolean;
  status: DomainStatus;
  /** Scheduled checks in a row that did not find what a verified domain must have. */
  misses: number;
  records: readonly DnsRecord[];
}

export interface Evidence {
  /** Whether the schedule asks: only its checks count against a verified domain, so that nobody can hurry them. */
  scheduled: boolean;
  /** The provider's word, where it was asked. */
  provider: ProviderDomain | null;
  /** The answers of the DNS, one for each record; null where the DNS is not asked at all. */
  findings: readonly DnsFinding[] | null;
}

// docs/contract/platform.md#3-4.
const missesAllowed = 3;

/**
 * Returns the state of a domain after a check. The provider decides about a domain that was never verified, since it is the one to
 * sign; for all others the DNS decides. Without a provider the DNS always does.
 */
export function nextState(before: DomainState, evidence: Evidence): DomainState {
  const { scheduled, provider, findings } = evidence;
  const records = before.records.map((record, place) => looked(before, record, findings?.[place], provider));
  const needed = before.records.flatMap((record, place) => (record.required ? [findings?.[place]] : []));
  const all = (...outcomes: DnsFinding['outcome'][]) =>
    needed.length > 0 && needed.every((finding) => finding && outcomes.includes(finding.outcome));
  const any = (outcome: DnsFinding['outcome']) => needed.some((finding) => finding?.outcome === outcome);

  const byProvider = provider !== null && (findings === null || !before.wasVerified);
  if (byProvider ? provider.state === 'Success' : all('right'))
    return { verified: true, wasVerified: true, status: 'Success', misses: 0, records };
  if (before.verified) {
    // Silence proves nothing, and neither does what a person asks for.
    const misses = findings !== null && scheduled && !any('unknown') ? before.misses + 1 : before.misses;
    if (misses < missesAllowed) return { ...before, misses, records };
    return { ...before, verified: false, status: 'Failed', misses: 0, records };
  }
  // One that was lost stays lost until it is right again.
  if (before.wasVerified && !byProvider) return { ...before, misses: 0, records };
  if (byProvider && provider.state === 'Failed') return { ...before, status: 'Failed', misses: 0, records };
  return { ...before, status: any('unknown') ? 'TemporaryFailure' : 'Pending', misses: 0, records };
}

function looked(
  before: DomainState,
  record: DnsRecord,
  finding: DnsFinding | undefined,
  provider: ProviderDomain | null,
): DnsRecord {
  const word = provider?.records.find(({ purpose, name }) => purpose === record.purpose && name === record.name);
  if (finding === undefined)
    return word === undefined ? record : { ...record, status: word.verified ? 'verified' : 'pending', finding: null };
  const status = statusOf(record, finding);
  // The provider has seen it: our own name servers may be behind. Later only the DNS counts, for its word never changes.
  const seen = word?.verified === true && !before.wasVerified && finding.outcome !== 'right';
  return seen ? { ...record, status: 'verified', finding: null } : { ...record, status, finding: finding.text };
}

function statusOf(record: DnsRecord, { outcome }: DnsFinding): DnsRecord['status'] {
  if (outcome === 'right') return 'verified';
  if (outcome === 'unknown') return record.status;
  if (outcome === 'wrong') return 'failed';
  return record.status === 'pending' ? 'pending' : 'failed';
}

/** The records of a domain as they are first shown, and its state by the provider's word. */
export function firstState(
  domain: string,
  { state, records }: { state: ProviderDomain['state']; records: readonly ProviderRecord[] },
): DomainState {
  const dmarc = {
    purpose: 'DMARC',
    type: 'TXT',
    name: `_dmarc.${domain}`,
    value: 'v=DMARC1; p=none;',
    priority: null,
  } as const;
  return {
    verified: state === 'Success',
    wasVerified: state === 'Success',
    status: state,
    misses: 0,
    records: [...records, { ...dmarc, verified: false }].map(({ verified, ...record }) => ({
      ...record,
      required: record.purpose === 'DKIM',
      status: verified ? ('verified' as const) : ('pending' as const),
      finding: null,
    })),
  };
}
