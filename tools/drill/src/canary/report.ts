import { createHash } from 'node:crypto';
import { examples, type LedgerRow, ledgerRows, messagesAt, type TakenMessage } from '../balance.ts';
import type { Call } from '../letters.ts';
import { type DrillOptions, seeded, shuffle, type Target, victims } from '../plan.ts';
import type { CanaryResult } from './run.ts';

/** When processes are killed: while the canary is sent, while it is held, and in the middle of the wave of bounces. */
export const moments = ['sending', 'holding', 'bouncing'] as const;
export type Moment = (typeof moments)[number];

const all: readonly Target[] = [...victims, 'sandbox'];

/** Who is killed at which moment, in order: every process at as many moments as there are rounds, three at most. */
export function planCanary({ seed, rounds }: Pick<DrillOptions, 'seed' | 'rounds'>): Record<Moment, Target[]> {
  const random = seeded(seed);
  const plan: Record<Moment, Target[]> = { sending: [], holding: [], bouncing: [] };
  for (const victim of all) {
    const order = [...moments];
    shuffle(order, random);
    for (const moment of order.slice(0, rounds)) plan[moment].push(victim);
  }
  for (const moment of moments) shuffle(plan[moment], random);
  return plan;
}

/** The mail that reached the provider, compared with the ledger and its canary. */
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

/** Compares the messages with the ledger. Messages that are not the campaign's, such as letters to members, are left out. */
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

const count = (number: number) => number.toLocaleString('en-US');
const row = (label: string, value: string) => `  ${label.padEnd(28)}${value}`;

/** The balance sheet of a drill with a canary, line by line. The last line says whether it balances. */
export function canarySheet(result: CanaryResult, options: Pick<DrillOptions, 'recipients' | 'canary'>): string[] {
  return [
    '',
    'Balance sheet',
    ...stopLines(result),
    ...endLines(result, options),
    row('kill -9', [...result.killed].map(([name, times]) => `${name} ${times}`).join(', ')),
    row('restarts by the supervisor', count(result.restarts.length)),
    ...result.restarts.filter((line) => !line.includes('SIGKILL')).map((line) => row('', `unasked: ${line}`)),
    '',
    canarySucceeded(result, options)
      ? 'The canary stopped the campaign, nobody else got mail until a person decided, and the ledger knows it.'
      : 'The balance sheet does NOT balance.',
  ];
}

function stopLines({ slice, wave, canary, sentAt, waveAt, atStop }: CanaryResult): string[] {
  if (canary === null || atStop === null) return [row('stopped', 'NOT in time')];
  const stopped = canary.stopped;
  const seconds = (from: string | null) =>
    from === null || canary.endedAt === null
      ? '?'
      : ((Date.parse(canary.endedAt) - Date.parse(from)) / 1000).toFixed(1);
  return [
    row('canary', `${count(slice)} of ${count(atStop.recipients)}, of whom ${count(wave)} bounced`),
    row(
      'stopped',
      stopped === null
        ? 'without a reason'
        : `${stopped.code}: ${count(stopped.count)} of ${count(stopped.of)}, limit ${stopped.limit}%`,
    ),
    row('', `${canary.endedAt}: ${seconds(sentAt)} s after the request, ${seconds(waveAt)} s after the first bounce`),
    row('messages until then', count(atStop.messages)),
    row('  outside the canary', examples(atStop.outside)),
    row('  missing in the canary', examples(atStop.missingInSlice)),
    row('  twice', examples(atStop.twice)),
  ];
}

function endLines({ balance }: CanaryResult, { canary }: Pick<DrillOptions, 'canary'>): string[] {
  const label = canary === 'cancel' ? 'cancelled' : 'resumed';
  if (balance === null) return [row(label, 'NOT in time')];
  const { verdicts } = balance;
  return [
    row(
      label,
      `${count(verdicts.handedOver)} handed over, ${count(verdicts.skipped)} skipped, ${count(verdicts.failed)} failed`,
    ),
    row('  audit of the service', balance.addsUp ? 'adds up' : 'does NOT add up'),
    row('  messages at the sink', count(balance.messages)),
    ...(canary === 'cancel'
      ? [row('  outside the canary', examples(balance.outside))]
      : [row('  missing', examples(balance.missing))]),
    row('  twice', examples(balance.twice)),
    row('  not in the ledger as sent', count(balance.unrecorded)),
  ];
}

/**
 * Whether the canary stopped the campaign for its bounces with nobody else mailed, and everything is accounted for after it was
 * resumed (everybody has one message) or cancelled (the canary has).
 */
export function canarySucceeded(
  { slice, canary, atStop, balance }: CanaryResult,
  { recipients, canary: action }: Pick<DrillOptions, 'recipients' | 'canary'>,
): boolean {
  if (canary === null || atStop === null || balance === null) return false;
  const { verdicts } = balance;
  const sent = action === 'cancel' ? slice : recipients;
  return (
    canary.stopped?.code === 'canary_bounce_rate' &&
    atStop.recipients === recipients &&
    atStop.messages === slice &&
    [atStop.outside, atStop.missingInSlice, atStop.twice, balance.twice].every(({ length }) => length === 0) &&
    balance.addsUp &&
    balance.messages === sent &&
    balance.unrecorded === 0 &&
    balance.missing.length === recipients - sent &&
    verdicts.handedOver === sent &&
    verdicts.handedOver + verdicts.skipped + verdicts.failed === recipients
  );
}
