import { randomBytes } from 'node:crypto';
import { removeSome } from '../../core/database/remove-some.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { sha256 } from '../../core/lib/seal.ts';
import { AccountToken } from './entity.ts';

/** What a token proves the right to. */
export type TokenPurpose = AccountToken['purpose'];

/** Makes a token for a user that works once and for an hour, in place of those from before. Only its hash is kept. */
export async function newToken(tx: Database, userId: string, purpose: TokenPurpose): Promise<string> {
  // Whoever reads an old mail later finds a dead link.
  await removeTokens(tx, userId, purpose);
  const token = randomBytes(32).toString('hex');
  await tx.count(sql`
    insert into account_tokens (token_hash, user_id, purpose, expires_at)
      values (${sha256(token)}, ${userId}, ${purpose}, now() + interval '1 hour')`);
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
  const usable = await db.row(sql`
    select 1 from account_tokens
      where token_hash = ${sha256(token)} and purpose = ${purpose} and expires_at > clock_timestamp()`);
  return usable !== null;
}

/** Takes all tokens of a user for this purpose out of use. */
export async function removeTokens(db: Database, userId: string, purpose: TokenPurpose): Promise<void> {
  await db.em.nativeDelete(AccountToken, { userId, purpose });
}

/** Removes tokens that are too old to be used; answers how many. */
export function removeOldTokens(db: Database, limit: number): Promise<number> {
  return removeSome(db, 'account_tokens', sql`expires_at < now()`, limit);
}
