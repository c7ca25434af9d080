import { Client } from 'pg';
import type { Call, Letters } from './letters.ts';

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
export function balances(balance: Balance, recipients: number): boolean {
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
