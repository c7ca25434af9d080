import { type Database, sql } from '../../core/database/sql.ts';

/** The emails that were accepted under an idempotency key that still counts; null where it has not been used. */
export async function emailsOfKey(db: Database, projectId: string, key: string): Promise<string[] | null> {
  const row = await db.row<{ emailIds: string[] | null }>(sql`
    select email_ids as "emailIds" from idempotency_keys
      where project_id = ${projectId} and key = ${key} and expires_at > now()`);
  return row && (row.emailIds ?? []);
}

/** Keeps which emails were accepted under a key, in the transaction that claimed it. */
export function keepEmailsOfKey(tx: Database, projectId: string, key: string, ids: readonly string[]): Promise<number> {
  return tx.count(sql`
    update idempotency_keys set email_ids = ${ids}::uuid[] where project_id = ${projectId} and key = ${key}`);
}
