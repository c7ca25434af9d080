import type { Begun, HandoverJournal } from '@posthorn/mail-providers';
import { isoInstant } from '../../core/database/columns.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { pause } from '../../core/lib/time.ts';

const begin = statement(
  'provider_handovers.begin',
  `insert into provider_handovers (claim_id, email_id) select * from unnest($1::text[], $2::uuid[])
   on conflict do nothing returning claim_id as "claimId", email_id as "emailId"`,
);
const known = statement(
  'provider_handovers.known',
  `select h.claim_id as "claimId", h.email_id as "emailId", h.message_id as "messageId", h.taken_at as at
   from provider_handovers h join unnest($1::text[], $2::uuid[]) as k (claim_id, email_id)
     on h.claim_id = k.claim_id and h.email_id = k.email_id`,
);
const took = statement(
  'provider_handovers.took',
  `update provider_handovers h set message_id = k.message_id, taken_at = k.at
   from unnest($1::text[], $2::uuid[], $3::text[], $4::timestamptz[]) as k (claim_id, email_id, message_id, at)
   where h.claim_id = k.claim_id and h.email_id = k.email_id`,
);
const refused = statement(
  'provider_handovers.refused',
  `delete from provider_handovers h using unnest($1::text[], $2::uuid[]) as k (claim_id, email_id)
   where h.claim_id = k.claim_id and h.email_id = k.email_id`,
);
const ofClaim = statement(
  'provider_handovers.claim',
  `select email_id as "emailId", message_id as "messageId", taken_at as at from provider_handovers where claim_id = $1`,
);

interface Row {
  claimId: string;
  emailId: string;
  messageId: string | null;
  at: string | null;
}

/** The journal in Postgres. What is written down at the same moment shares a statement. */
export function createJournal(sql: Sql, log: { warn(facts: object, text: string): void }): HandoverJournal {
  const column = <Item>(items: readonly Item[], key: keyof Item) => items.map((item) => item[key]);
  const persistently = async (write: () => Promise<unknown>) => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await write();
        return;
      } catch (error) {
        // The ledger is written next, by somebody who waits longer; the row only says less than it could.
        if (attempt >= 4) return log.warn({ err: error }, 'an answer of the mail provider could not be noted');
        await pause(100 * 2 ** attempt);
      }
    }
  };
  type Key = Pick<Row, 'claimId' | 'emailId'>;
  const begins = together(async (keys: readonly Key[]): Promise<Begun[]> => {
    const values = [column(keys, 'claimId'), column(keys, 'emailId')];
    const fresh = new Set((await sql.rows<Key>(begin, values)).map(nameOf));
    if (fresh.size === keys.length) return keys.map(() => 'now');
    const rows = new Map((await sql.rows<Row>(known, values)).map((row) => [nameOf(row), row]));
    return keys.map((key) => {
      const row = rows.get(nameOf(key));
      if (fresh.has(nameOf(key))) return 'now';
      return row?.messageId && row.at ? { messageId: row.messageId, at: isoInstant(row.at) } : 'unsure';
    });
  });
  const takes = together(async (rows: readonly Row[]) => {
    const values = (['claimId', 'emailId', 'messageId', 'at'] as const).map((key) => column(rows, key));
    await persistently(() => sql.count(took, values));
    return rows.map(() => undefined);
  });
  const refusals = together(async (keys: readonly Key[]) => {
    await persistently(() => sql.count(refused, [column(keys, 'claimId'), column(keys, 'emailId')]));
    return keys.map(() => undefined);
  });
  const rowsOf = (claimId: string) => sql.rows<Row>(ofClaim, [claimId]);
  return {
    begin: (claimId, emailId) => begins({ claimId, emailId }),
    took: (claimId, emailId, messageId, at) => takes({ claimId, emailId, messageId, at }),
    refused: (claimId, emailId) => refusals({ claimId, emailId }),
    async accepted(claimId) {
      const rows = await rowsOf(claimId);
      return new Map(
        rows.flatMap(({ emailId, messageId, at }) =>
          messageId !== null && at !== null ? [[emailId, { messageId, at: isoInstant(at) }]] : [],
        ),
      );
    },
    async unsure(claimId) {
      const rows = await rowsOf(claimId);
      return new Set(rows.filter(({ messageId }) => messageId === null).map(({ emailId }) => emailId));
    },
  };
}

function nameOf({ claimId, emailId }: { claimId: string; emailId: string }): string {
  return `${claimId} ${emailId}`;
}

/** One call of `work` at a time, with everything that came meanwhile; answers come in the order of the items. */
function together<Item, Answer>(work: (items: readonly Item[]) => Promise<Answer[]>): (item: Item) => Promise<Answer> {
  let waiting: { item: Item; resolve: (answer: Answer) => void; reject: (error: unknown) => void }[] = [];
  let running = false;
  const run = async () => {
    running = true;
    while (waiting.length > 0) {
      const now = waiting;
      waiting = [];
      try {
        const answers = await work(now.map(({ item }) => item));
        now.forEach(({ resolve }, place) => {
          resolve(answers[place] as Answer);
        });
      } catch (error) {
        for (const { reject } of now) reject(error);
      }
    }
    running = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!running) {
        running = true;
        queueMicrotask(() => void run());
      }
    });
}

const expire = statement(
  'provider_handovers.expire',
  `delete from provider_handovers where ctid in (
     select ctid from provider_handovers where begun_at < now() - interval '2 days' limit $1)`,
);

/** Removes up to `limit` rows of mail that is settled or given up by now; answers how many. */
export function removeOldHandovers(sql: Sql, limit: number): Promise<number> {
  return sql.count(expire, [limit]);
}
