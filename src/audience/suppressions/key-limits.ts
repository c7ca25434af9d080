import { domainOf } from '@fernpost/validation';
import { type Database, sql } from '../../core/database/sql.ts';
import type { ScopedKey } from '../../core/http/context.ts';
import type { SuppressionMatch } from './schema.ts';

/** What a key limits its mail to. */
export type KeyLimits = Pick<ScopedKey, 'id' | 'prefix' | 'recipients' | 'senderDomains'>;

/** Whether mail of a key reaches an address. */
export function reaches(key: Pick<KeyLimits, 'recipients'> | null, address: string): boolean {
  if (!key?.recipients) return true;
  const { domains, addresses } = key.recipients;
  return domains.includes(domainOf(address)) || addresses.includes(address);
}

/** Why mail of a key is kept and not sent; null where it may go. */
export function suppressionOfKey(
  key: KeyLimits | null,
  { to, from }: { to: string; from: string },
  at: Date,
): SuppressionMatch | null {
  if (key === null) return null;
  const maySend = key.senderDomains === null || key.senderDomains.includes(domainOf(from));
  if (maySend && reaches(key, to)) return null;
  const name = maySend ? 'key may not send to it' : 'key may not send from its sender';
  return { ruleId: key.id, name, kind: 'KEY', pattern: key.prefix, recipient: to, matchedAt: at.toISOString() };
}

/** The limits of the keys that started something. A key that was deleted since reaches nobody. */
export async function limitsOfKeys(db: Database, projectId: string, ids: readonly string[]): Promise<KeyLimits[]> {
  if (ids.length === 0) return [];
  const keys = await db.rows<KeyLimits>(sql`
    select id, prefix, recipients, sender_domains as "senderDomains" from api_keys
      where project_id = ${projectId} and id = any(${ids}::uuid[])`);
  const known = new Map(keys.map((key) => [key.id, key]));
  return ids.map(
    (id) => known.get(id) ?? { id, prefix: '', recipients: { domains: [], addresses: [] }, senderDomains: null },
  );
}
