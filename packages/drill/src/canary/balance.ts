import { createHash } from 'node:crypto';
import { type LedgerRow, ledgerRows, messagesAt, type TakenMessage } from '../balance.ts';
import type { Call } from '../client.ts';

/** What has reached the provider, held against the ledger and its canary. */
export interface SentSoFar {
  /** Rows of the ledger. */
  recipients: number;
  /** Messages of the campaign at the provider. */
  messages: number;
  /** Addresses that are not in the canary and have a message. */
  outside: string[];
  /** Addresses of the canary without a message. */
  missingInSlice: string[];
  /** Addresses with more than one message. */
  twice: string[];
  /** Messages whose row does not say that they were sent. */
  unrecorded: number;
}

/** How it ended. */
export interface CanaryBalance extends SentSoFar {
  addsUp: boolean;
  verdicts: { handedOver: number; skipped: number; failed: number };
  /** Addresses of the audience without a message. */
  missing: string[];
}

/** Compares the messages at the provider with the ledger; who is in the canary is calculated anew from the IDs. */
export async function sentSoFar(options: {
  databaseUrl: string;
  sandbox: Call;
  campaignId: string;
  slice: number;
}): Promise<SentSoFar & { received: Set<string> }> {
  const { campaignId, slice } = options;
  const rows = await ledgerRows(options.databaseUrl, campaignId);
  return compareSent(rows, await messagesAt(options.sandbox), chosen(rows, campaignId, slice));
}

/** The rows of the canary: the contacts of lowest SHA-256 of campaign and contact. */
export function chosen(rows: readonly LedgerRow[], campaignId: string, slice: number): LedgerRow[] {
  const hashOf = (contactId: string) =>
    createHash('sha256')
      .update(Buffer.from(`${campaignId}${contactId}`.replaceAll('-', ''), 'hex'))
      .digest('hex');
  const hashed = rows.map((row) => ({ row, hash: hashOf(row.contactId) }));
  return hashed
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    .slice(0, slice)
    .map(({ row }) => row);
}

/** What the messages say of the ledger. Messages that are not the campaign's, such as letters to members, are left out. */
export function compareSent(
  rows: readonly LedgerRow[],
  messages: readonly TakenMessage[],
  canary: readonly LedgerRow[],
): SentSoFar & { received: Set<string> } {
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const counts = new Map<string, number>();
  const unrecorded: string[] = [];
  for (const { emailId } of messages) {
    const row = rowOf.get(emailId);
    if (row === undefined) continue;
    counts.set(row.to, (counts.get(row.to) ?? 0) + 1);
    if (!row.sent) unrecorded.push(row.to);
  }
  const slice = new Set(canary.map(({ to }) => to));
  const received = new Set(counts.keys());
  return {
    recipients: rows.length,
    messages: [...counts.values()].reduce((sum, count) => sum + count, 0),
    outside: [...received].filter((to) => !slice.has(to)),
    missingInSlice: [...slice].filter((to) => !received.has(to)),
    twice: [...counts].filter(([, count]) => count > 1).map(([to]) => to),
    unrecorded: unrecorded.length,
    received,
  };
}

/** The end of the campaign, with what the service's own audit says of it. */
export async function drawCanaryBalance(
  api: Call,
  campaignId: string,
  sending: Promise<SentSoFar & { received: Set<string> }>,
  audience: readonly string[],
): Promise<CanaryBalance> {
  const [{ received, ...sent }, { body }] = await Promise.all([sending, api('GET', `/campaigns/${campaignId}/audit`)]);
  const { addsUp, handedOver, skipped, failed } = body.data;
  const missing = audience.filter((address) => !received.has(address));
  return { ...sent, addsUp, verdicts: { handedOver, skipped, failed }, missing };
}
