import type { Begun, HandoverJournal, Mailer } from '../../domains/providers/mailer.ts';
import type { SnsClient } from '../../domains/providers/ses/sns.ts';
import { pause } from '../../lib/time.ts';
import { isoInstant, removePast } from '../../store/columns.ts';
import { type Database, type Query, sql } from '../../store/sql.ts';

// What other parts of the service may use of providers; everything else in this folder is its own.

declare module '../../http/context.ts' {
  interface App {
    mailer: Mailer;
    /** Amazon's own hosts, for what proves that a message is of Amazon SNS. */
    sns: SnsClient;
  }
}

/** Stands where a project's id does in mail of the service itself, which is no project's. */
export const systemProjectId = '00000000-0000-0000-0000-000000000000';

interface Row {
  claimId: string;
  emailId: string;
  messageId: string | null;
  at: string | null;
}

/** The journal in Postgres. What is written down at the same moment shares a statement. */
export function createJournal(db: Database, log: { warn(facts: object, text: string): void }): HandoverJournal {
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
  const rowsOf = (...claimIds: readonly string[]) =>
    db.rows<Row>(sql`
      select claim_id as "claimId", email_id as "emailId", message_id as "messageId", taken_at as at
      from provider_handovers where claim_id = any(${claimIds}::text[])`);
  const begins = together(async (keys: readonly Key[]): Promise<Begun[]> => {
    const begun = await db.rows<Key>(sql`
      insert into provider_handovers (claim_id, email_id) select * from ${keysOf(keys)}
      on conflict do nothing returning claim_id as "claimId", email_id as "emailId"`);
    const fresh = new Set(begun.map(nameOf));
    if (fresh.size === keys.length) return keys.map(() => 'now');
    const known = await rowsOf(...new Set(keys.map(({ claimId }) => claimId)));
    const rows = new Map(known.map((row) => [nameOf(row), row]));
    return keys.map((key) => {
      const row = rows.get(nameOf(key));
      if (fresh.has(nameOf(key))) return 'now';
      return row?.messageId && row.at ? { messageId: row.messageId, at: isoInstant(row.at) } : 'unsure';
    });
  });
  const takes = together(async (rows: readonly Row[]) => {
    await persistently(() =>
      db.count(sql`
        update provider_handovers h set message_id = k."messageId", taken_at = k.at
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as k (
          "claimId" text, "emailId" uuid, "messageId" text, at timestamptz)
        where h.claim_id = k."claimId" and h.email_id = k."emailId"`),
    );
    return rows.map(() => undefined);
  });
  const refusals = together(async (keys: readonly Key[]) => {
    await persistently(() =>
      db.count(sql`
        delete from provider_handovers h using ${keysOf(keys)} as k (claim_id, email_id)
        where h.claim_id = k.claim_id and h.email_id = k.email_id`),
    );
    return keys.map(() => undefined);
  });
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

type Key = Pick<Row, 'claimId' | 'emailId'>;

function keysOf(keys: readonly Key[]): Query {
  return sql`unnest(${keys.map(({ claimId }) => claimId)}::text[], ${keys.map(({ emailId }) => emailId)}::uuid[])`;
}

function nameOf({ claimId, emailId }: Key): string {
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

/** Removes up to `limit` rows of mail that is settled or given up by now; answers how many. */
export function removeOldHandovers(db: Database, limit: number): Promise<number> {
  return removePast(db, 'provider_handovers', 'begun_at', limit, '2 days');
}
