import { randomBytes } from 'node:crypto';
import { type Database, sql } from '../../core/database/sql.ts';
import { sha256 } from '../../core/lib/seal.ts';

/** What a token proves the right to. */
export type TokenPurpose = 'VERIFY_EMAIL' | 'RESET_PASSWORD';

const lifetimeSeconds = 3600;

/** Makes a token for a user that works once and for an hour. Only its hash is kept. */
export async function newToken(db: Database, userId: string, purpose: TokenPurpose): Promise<string> {
  const token = randomBytes(32).toString('hex');
  await db.count(sql`
      insert into account_tokens (token_hash, user_id, purpose, expires_at)
        values (${sha256(token)}, ${userId}, ${purpose}, now() + make_interval(secs => ${lifetimeSeconds}))`);
  return token;
}

/** Uses a token up. Answers its user, or null when it is unknown, used or too old. */
export async function takeToken(db: Database, token: string, purpose: TokenPurpose): Promise<string | null> {
  const row = await db.row<{ userId: string; fresh: boolean }>(sql`
      delete from account_tokens where token_hash = ${sha256(token)} and purpose = ${purpose}
        returning user_id as "userId", expires_at > clock_timestamp() as fresh`);
  return row?.fresh ? row.userId : null;
}

/** Whether a token could be used up now. */
export async function isTokenUsable(db: Database, token: string, purpose: TokenPurpose): Promise<boolean> {
  return (
    (
      await db.row<{ yes: boolean }>(sql`
      select exists (select from account_tokens
        where token_hash = ${sha256(token)} and purpose = ${purpose} and expires_at > clock_timestamp()) as yes`)
    )?.yes ?? false
  );
}

/** Takes all other tokens of a user for this purpose out of use. */
export async function removeTokens(db: Database, userId: string, purpose: TokenPurpose): Promise<void> {
  await db.count(sql`delete from account_tokens where user_id = ${userId} and purpose = ${purpose}`);
}

/** Removes tokens that are too old to be used; answers how many. */
export function removeOldTokens(db: Database, limit: number): Promise<number> {
  return db.count(sql`
      delete from account_tokens where ctid = any(array(
        select ctid from account_tokens where expires_at < now() limit ${limit}))`);
}
