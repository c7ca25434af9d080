import { leastId } from '../../lib/ids.ts';
import { seal, tryUnseal } from '../../lib/seal.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

/** A column of encrypted values; every one of a row with an `id`. */
export interface SealedColumn {
  what: string;
  table: string;
  column: string;
}

/** Everything that is stored encrypted with APP_ENCRYPTION_KEY. A new column belongs in here. */
export const sealedColumns: readonly SealedColumn[] = [
  { what: 'public keys of projects', table: 'projects', column: 'public_key_sealed' },
  { what: 'secret keys of projects', table: 'projects', column: 'secret_key_sealed' },
  { what: 'DKIM keys of domains', table: 'domains', column: 'dkim_key_sealed' },
  { what: 'mails of the service that wait', table: 'system_mails', column: 'content_sealed' },
  { what: 'erasure keys of projects', table: 'projects', column: 'erasure_key_sealed' },
  { what: 'addresses that are being erased', table: 'erasures', column: 'addresses_sealed' },
  { what: 'signing secrets of webhook endpoints', table: 'webhook_endpoints', column: 'secret_sealed' },
  { what: 'signing secrets that were replaced', table: 'webhook_endpoints', column: 'old_secret_sealed' },
];

/** Values of a column by the key that decrypts them. */
export interface SealedCounts {
  current: number;
  previous: number;
  /** Encrypted with the current key just now. */
  changed: number;
  unreadable: number;
}

const pageRows = 500;

/**
 * Counts the values of a column by the key that decrypts them; with `change` those of previous keys are encrypted with the
 * current one, the first of `keys`. A value that somebody else changes meanwhile is left to them. May be repeated.
 */
export async function countSealed(
  db: Database,
  place: SealedColumn,
  keys: readonly string[],
  change: boolean,
): Promise<SealedCounts> {
  const [current = ''] = keys;
  const [table, column] = [raw(place.table), raw(place.column)];
  const counts: SealedCounts = { current: 0, previous: 0, changed: 0, unreadable: 0 };
  let after: string = leastId;
  for (;;) {
    const rows = await db.rows<{ id: string; sealed: string }>(sql`
      select id, ${column} as sealed from ${table}
      where id > ${after} and ${column} is not null order by id limit ${pageRows}`);
    for (const { id, sealed } of rows) {
      after = id;
      if (tryUnseal(sealed, current) !== null) {
        counts.current += 1;
        continue;
      }
      const plain = tryUnseal(sealed, keys);
      if (plain === null) counts.unreadable += 1;
      else if (change)
        counts.changed += await db.count(
          sql`update ${table} set ${column} = ${seal(plain, current)} where id = ${id} and ${column} = ${sealed}`,
        );
      else counts.previous += 1;
    }
    if (rows.length < pageRows) return counts;
  }
}
