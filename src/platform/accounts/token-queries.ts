import { randomBytes } from 'node:crypto';
import { type Sql, statement } from '../../core/database/sql.ts';
import { sha256 } from '../../core/lib/seal.ts';

/** What a token proves the right to. */
export type TokenPurpose = 'VERIFY_EMAIL' | 'RESET_PASSWORD';

const lifetimeSeconds = 3600;

const insert = statement(
  'account_tokens.insert',
  `insert into account_tokens (token_hash, user_id, purpose, expires_at)
   values ($1, $2, $3, now() + make_interval(secs => $4))`,
);
const take = statement(
  'account_tokens.take',
  `delete from account_tokens where token_hash = $1 and purpose = $2
   returning user_id as "userId", expires_at > clock_timestamp() as fresh`,
);
const usable = statement(
  'account_tokens.usable',
  `select exists (select from account_tokens
     where token_hash = $1 and purpose = $2 and expires_at > clock_timestamp()) as yes`,
);
const removeOf = statement(
  'account_tokens.remove_of',
  'delete from account_tokens where user_id = $1 and purpose = $2',
);
const removeOld = statement(
  'account_tokens.remove_old',
  `delete from account_tokens where ctid = any(array(
     select ctid from account_tokens where expires_at < now() limit $1))`,
);

/** Makes a token for a user that works once and for an hour. Only its hash is kept. */
export async function newToken(sql: Sql, userId: string, purpose: TokenPurpose): Promise<string> {
  const token = randomBytes(32).toString('hex');
  await sql.count(insert, [sha256(token), userId, purpose, lifetimeSeconds]);
  return token;
}

/** Uses a token up. Answers its user, or null when it is unknown, used or too old. */
export async function takeToken(sql: Sql, token: string, purpose: TokenPurpose): Promise<string | null> {
  const row = await sql.row<{ userId: string; fresh: boolean }>(take, [sha256(token), purpose]);
  return row?.fresh ? row.userId : null;
}

/** Whether a token could be used up now. */
export async function isTokenUsable(sql: Sql, token: string, purpose: TokenPurpose): Promise<boolean> {
  return (await sql.row<{ yes: boolean }>(usable, [sha256(token), purpose]))?.yes ?? false;
}

/** Takes all other tokens of a user for this purpose out of use. */
export async function removeTokens(sql: Sql, userId: string, purpose: TokenPurpose): Promise<void> {
  await sql.count(removeOf, [userId, purpose]);
}

/** Removes tokens that are too old to be used; answers how many. */
export function removeOldTokens(sql: Sql, limit: number): Promise<number> {
  return sql.count(removeOld, [limit]);
}
