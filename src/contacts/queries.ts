import type { JsonObjectValue } from '../lib/contact-data.ts';
import { boundedPage, type WithOmission } from '../store/bounded-page.ts';
import { isoText } from '../store/columns.ts';
import { type Database, type Query, raw, sql } from '../store/sql.ts';
import { mostContactBytes } from './limit-queries.ts';
import type { ContactBody } from './schema.ts';

/** A contact of a list, whose data may be left out. */
export type ListedContact = Omit<ContactBody, 'data' | 'dataOmitted'> & WithOmission<JsonObjectValue>;

/** The columns of a contact, of the alias `c`. */
export const contactColumns = raw(`c.id, c.email, c.subscribed, c.data, c.project_id as "projectId",
  ${isoText('c.created_at')} as "createdAt", ${isoText('c.updated_at')} as "updatedAt"`);

/** SQL of a list of contacts with as much data as an answer may carry; `rows` returns `contactColumns` in order. */
export function contactsWithin(rows: Query): Query {
  return boundedPage(rows, 'id, email, subscribed, "projectId", "createdAt", "updatedAt"', mostContactBytes);
}

/** One contact of the project, or null. */
export function findContact(db: Database, projectId: string, id: string): Promise<ListedContact | null> {
  return db.row<ListedContact>(
    contactsWithin(sql`select ${contactColumns} from contacts c where project_id = ${projectId} and id = ${id}`),
  );
}

/** Those of the addresses, in their stored form, that are contacts of the project. */
export async function existingAddresses(
  db: Database,
  projectId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const rows = await db.rows<{ email: string }>(
    sql`select email from contacts where project_id = ${projectId} and email = any(${addresses}::text[])`,
  );
  return new Set(rows.map((row) => row.email));
}

/** A contact of a list in an answer. */
export function contactBody({ data, dataOmitted, ...row }: ListedContact): ContactBody {
  return { ...row, data: data ?? {}, ...(dataOmitted ? { dataOmitted } : {}) };
}

/** Whether an error is Postgres's refusal of a second row with the same key. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === '23505';
}
