import { type Author, type Database, type Query, sql } from '../../core/database/sql.ts';

/** What can change a contact; `unknown` stands where a program other than the service did. */
export const causeTypes = [
  'contact',
  'field',
  'segment',
  'track',
  'send',
  'smtp',
  'inbound',
  'report',
  'page',
  'step',
  'import',
  'bulk',
  'undo',
  'unknown',
] as const;
export type CauseType = (typeof causeTypes)[number];

/** Why a contact was changed, as its history keeps it. */
export interface Cause {
  type: CauseType;
  /** Of the job, of the workflow whose step it was, of the segment it was added to, or of the mail that led to it. */
  id?: string;
  /** Who asked for it, where somebody did. */
  by?: Pick<Author, 'kind' | 'id'>;
}

/** The cause of what the author of this session changes, as the setting `fernpost.cause` takes it. It may be the ID of a job as well. */
export function causeText({ author }: Database, type: CauseType, id?: string | null): string {
  const cause: Cause = { type, ...(id ? { id } : {}), ...(author && { by: { kind: author.kind, id: author.id } }) };
  return JSON.stringify(cause);
}

/**
 * A condition that is always true, for the statement that writes contacts: it tells the triggers of the table why. It must be
 * evaluated for each contact that is written, and counts until the transaction ends.
 */
export function because(db: Database, type: CauseType, id?: string | null): Query {
  return sql`set_config('fernpost.cause', ${causeText(db, type, id)}, true) is not null`;
}

/** Tells the triggers of contacts why, and that the statements of this transaction write many rows each. */
export function writingMany(tx: Database, type: CauseType, id?: string | null): Promise<unknown> {
  return tx.row(sql`select set_config('fernpost.set_based', 'on', true), ${because(tx, type, id)}`);
}
