import { Client } from 'pg';
import type { Call, Letters } from './letters.ts';
import type { Victim } from './plan.ts';

/** The outcome of the campaign and of the letters beside it: the ledger held against what reached the provider. */
export interface Balance {
  /** Contacts of the frozen audience: rows of the ledger. */
  recipients: number;
  verdicts: { handedOver: number; skipped: number; failed: number; open: number };
  /** Why rows failed, with their numbers. */
  reasons: { reason: string; count: number }[];
  /** Whether the service's own audit says that its rows and counters add up. */
  addsUp: boolean;
  /** Messages of the campaign at the provider. */
  messages: number;
  /** Addresses of the audience that got nothing. */
  missing: string[];
  /** Addresses that got more than one message. */
  twice: string[];
  /** Messages whose ledger row does not say that they were handed over. */
  unrecorded: number;
  letters: { accepted: number; uncertain: number; missing: string[]; twice: string[] };
}

/** A recipient in the ledger. */
export interface LedgerRow {
  id: string;
  contactId: string;
  to: string;
  sent: boolean;
}

/** Makes the balance. `audience` are the addresses that had to be reached. */
export async function drawBalance(options: {
  databaseUrl: string;
  api: Call;
  sandbox: Call;
  campaignId: string;
  audience: readonly string[];
  letters: Letters;
}): Promise<Balance> {
  const { campaignId, audience, letters } = options;
  const rows = await ledgerRows(options.databaseUrl, campaignId);
  const { body } = await options.api('GET', `/campaigns/${campaignId}/audit`);
  const audit = body.data;
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const received = new Map<string, number>();
  let messages = 0;
  let unrecorded = 0;
  for (const { to, emailId } of await messagesAt(options.sandbox)) {
    received.set(to, (received.get(to) ?? 0) + 1);
    const row = rowOf.get(emailId);
    if (row === undefined) continue;
    messages += 1;
    if (!row.sent) unrecorded += 1;
  }
  const missingOf = (addresses: readonly string[]) => addresses.filter((address) => !received.has(address));
  const twiceOf = (addresses: readonly string[]) => addresses.filter((address) => (received.get(address) ?? 0) > 1);
  return {
    recipients: rows.length,
    verdicts: {
      handedOver: audit.handedOver,
      skipped: audit.skipped,
      failed: audit.failed,
      open: audit.recipients - audit.handedOver - audit.skipped - audit.failed,
    },
    reasons: audit.reasons ?? [],
    addsUp: audit.addsUp,
    messages,
    missing: missingOf(audience),
    twice: twiceOf(audience),
    unrecorded,
    letters: {
      accepted: letters.accepted.length,
      uncertain: letters.uncertain.length,
      missing: missingOf(letters.accepted),
      twice: twiceOf([...letters.accepted, ...letters.uncertain]),
    },
  };
}

/** Whether nobody is missing, nobody got anything twice, and the ledger knows it. */
function balances(balance: Balance, recipients: number): boolean {
  const { verdicts, letters } = balance;
  return (
    balance.recipients === recipients &&
    balance.addsUp &&
    verdicts.handedOver === recipients &&
    balance.messages === recipients &&
    balance.unrecorded === 0 &&
    [balance.missing, balance.twice, letters.missing, letters.twice].every(({ length }) => length === 0)
  );
}

/** How many letters still wait to be handed over. */
export async function lettersWaiting(databaseUrl: string): Promise<number> {
  const [row] = await query<{ n: number }>(
    databaseUrl,
    `select count(*)::int as n from emails where campaign_id is null and status in ('PENDING', 'SENDING')`,
  );
  return row?.n ?? 0;
}

/** The ledger of a campaign, row by row. */
export function ledgerRows(databaseUrl: string, campaignId: string): Promise<LedgerRow[]> {
  return query<LedgerRow>(
    databaseUrl,
    `select id, contact_id as "contactId", to_address as "to", sent_at is not null as sent from emails where campaign_id = $1`,
    [campaignId],
  );
}

/** A message that the provider took; `emailId` is its row of the ledger. */
export interface TakenMessage {
  id: string;
  to: string;
  emailId: string;
}

/** Every message at the provider. */
export async function messagesAt(sandbox: Call): Promise<TakenMessage[]> {
  const all: TakenMessage[] = [];
  for (let before = ''; ; ) {
    const { body } = await sandbox('GET', `/api/messages?limit=1000${before === '' ? '' : `&before=${before}`}`);
    for (const { id, to, metadata } of body.messages) {
      before = id;
      all.push({ id, to: to[0].email, emailId: metadata.eid });
    }
    if (body.messages.length < 1000) return all;
  }
}

async function query<R extends object>(url: string, sql: string, values: unknown[] = []): Promise<R[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<R>(sql, values)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The result of a drill. */
export interface DrillResult {
  balance: Balance;
  /** Whether the campaign ended before the time was over. */
  finished: boolean;
  /** Milliseconds from the request to send until the campaign was SENT. */
  sendMs: number;
  killed: Record<Victim, number>;
  /** Calls of the provider that were disturbed, by what it did. */
  disturbed: Map<string, number>;
  /** The supervisor's line about each process that it started again. */
  restarts: string[];
}

const count = (number: number) => number.toLocaleString('en-US');

/** The balance sheet, line by line. The last line says whether it balances. */
export function balanceSheet(result: DrillResult, recipients: number): string[] {
  const { balance, killed, disturbed } = result;
  const { verdicts, letters, reasons } = balance;
  const row = (label: string, value: string) => `  ${label.padEnd(28)}${value}`;
  return [
    '',
    'Balance sheet',
    row('recipients', `${count(balance.recipients)} of ${count(recipients)} in the ledger`),
    row(
      'verdicts',
      `${count(verdicts.handedOver)} handed over, ${count(verdicts.skipped)} skipped, ${count(verdicts.failed)} failed, ${count(verdicts.open)} open`,
    ),
    ...reasons.map(({ reason, count: times }) => row('', `${count(times)}: ${reason}`)),
    row('audit of the service', balance.addsUp ? 'adds up' : 'does NOT add up'),
    row('messages at the sink', count(balance.messages)),
    row('missing', examples(balance.missing)),
    row('twice', examples(balance.twice)),
    row('not in the ledger as sent', count(balance.unrecorded)),
    row('letters beside it', `${count(letters.accepted)} accepted, ${count(letters.uncertain)} cut off`),
    row('  missing', examples(letters.missing)),
    row('  twice', examples(letters.twice)),
    row(
      'kill -9',
      Object.entries(killed)
        .map(([name, times]) => `${name} ${times}`)
        .join(', '),
    ),
    row('restarts by the supervisor', count(result.restarts.length)),
    ...result.restarts.filter((line) => !line.includes('SIGKILL')).map((line) => row('', `unasked: ${line}`)),
    row('the provider', [...disturbed].map(([label, times]) => `${label} ${times}`).join(', ')),
    row('time from send to SENT', result.finished ? `${(result.sendMs / 1000).toFixed(1)} s` : 'not finished in time'),
    '',
    succeeded(result, recipients)
      ? 'Everybody got it, nobody got it twice, and the ledger knows it.'
      : 'The balance sheet does NOT balance.',
  ];
}

/** Whether the campaign ended and everything balances. */
export function succeeded(result: DrillResult, recipients: number): boolean {
  return result.finished && balances(result.balance, recipients);
}

/** How many addresses, and the first three of them. */
export function examples(addresses: readonly string[]): string {
  const more = addresses.length > 3 ? ', …' : '';
  return addresses.length === 0 ? '0' : `${count(addresses.length)}: ${addresses.slice(0, 3).join(', ')}${more}`;
}
