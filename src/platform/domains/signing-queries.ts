import type { SigningKey } from '@fernpost/mail-providers';
import { type Database, sql } from '../../core/database/sql.ts';
import { unseal } from '../../core/lib/seal.ts';

/**
 * The key with which mail from a domain is signed; null for a domain that is not verified or that the provider signs for.
 * `encryptionKeys`: those that may have sealed it.
 * @throws UnsealError when none of them has
 */
export async function signingKey(
  db: Database,
  encryptionKeys: string | readonly string[],
  domain: string,
): Promise<SigningKey | null> {
  const row = await db.row<{ domain: string; selector: string; sealed: string }>(sql`
    select domain, dkim_tokens ->> 0 as selector, dkim_key_sealed as sealed from domains
      where domain = ${domain.toLowerCase()} and verified and dkim_key_sealed is not null`);
  if (row === null) return null;
  return { domainName: row.domain, keySelector: row.selector, privateKey: unseal(row.sealed, encryptionKeys) };
}
