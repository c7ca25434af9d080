import { type Changes, createCache } from '../../core/database/changes.ts';
import { isoInstant } from '../../core/database/columns.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { AppError } from '../../core/lib/errors.ts';
import { instantOf } from '../../core/lib/ids.ts';
import { type ErasureKey, findErasureKey } from './keys.ts';

declare module '../../core/http/context.ts' {
  interface App {
    erasedAddresses: ErasedAddresses;
  }
}

/** Addresses that were erased, as requests ask for them. */
export interface ErasedAddresses {
  /** Those of the addresses, in their stored form, that the project may neither store nor send to. */
  suppressed(projectId: string, emails: readonly string[]): Promise<ReadonlySet<string>>;
  /** What a visitor is told as the contact's ID, so that nobody learns of the erasure; null for an address that may be stored. */
  standInFor(projectId: string, email: string): Promise<string | null>;
}

/** The register over a database whose changes are heard. A project without erasures costs a look into memory. */
export function createErasedAddresses(
  db: Database,
  changes: Changes,
  encryptionKeys: readonly string[],
): ErasedAddresses {
  const keys = createCache<{ key: ErasureKey | null }>(changes, ['projects']);
  const keyOf = async (projectId: string) => {
    const known = await keys.get(projectId, async () => ({
      projectId,
      value: { key: await findErasureKey(db, projectId, encryptionKeys) },
    }));
    return known?.key ?? null;
  };
  return {
    async suppressed(projectId, emails) {
      const key = await keyOf(projectId);
      return key === null ? new Set() : erasedAmong(db, projectId, key, emails, true);
    },
    async standInFor(projectId, email) {
      const key = await keyOf(projectId);
      if (key === null) return null;
      const row = await db.row<{ createdAt: string }>(sql`
        select created_at::text as "createdAt" from erased_addresses
          where project_id = ${projectId} and subject = ${key.subjectOf(email)} and suppressed`);
      return row && key.standInOf(email, instantOf(projectId), new Date(isoInstant(row.createdAt)));
    },
  };
}

/** Those of the addresses that were erased in the project; with `suppressedOnly` only those that stay suppressed. */
export async function erasedAmong(
  db: Database,
  projectId: string,
  key: ErasureKey,
  emails: readonly string[],
  suppressedOnly = false,
): Promise<ReadonlySet<string>> {
  const bySubject = new Map(emails.map((email) => [key.subjectOf(email), email]));
  const rows = await db.rows<{ subject: string }>(sql`
    select subject from erased_addresses
    where project_id = ${projectId} and subject = any (${[...bySubject.keys()]}::text[]) and (suppressed or not ${suppressedOnly})`);
  return new Set(rows.flatMap(({ subject }) => bySubject.get(subject) ?? []));
}

/**
 * Refuses to store an erased address, or to send to it. The answer does not repeat it.
 * @throws 422 CONTACT_ERASED for the field with the first such address
 */
export async function refuseErased(
  addresses: Pick<ErasedAddresses, 'suppressed'>,
  projectId: string,
  fields: readonly { field: string; email: string }[],
): Promise<void> {
  const erased = await addresses.suppressed(
    projectId,
    fields.map(({ email }) => email),
  );
  const errors = fields
    .filter(({ email }) => erased.has(email))
    .map(({ field }) => ({
      field,
      code: 'erased',
      message: 'is an address that was erased at the request of its owner',
    }));
  if (errors.length > 0)
    throw new AppError(
      422,
      'CONTACT_ERASED',
      'The contact was erased, and its address stays suppressed: nothing was stored',
      {
        errors,
        suggestion: 'Leave this address out: its owner was erased and must not receive email.',
      },
    );
}
