import { defineEntity, type EntityData, type InferEntity } from '@mikro-orm/core';
import { baseColumns, removeSome } from '../../store/columns.ts';
import { type StalledQuery, stalledRows } from '../../store/outbox/recovery.ts';
import { type Database, sql } from '../../store/sql.ts';

const p = defineEntity.properties;

/** A mail of the service. Its content goes once it is sent or given up. */
export const SystemMail = defineEntity({
  name: 'SystemMail',
  tableName: 'system_mails',
  properties: {
    ...baseColumns,
    kind: p.text(),
    toAddress: p.text(),
    dedupeKey: p.text().unique().nullable(),
    contentSealed: p.text().nullable(),
    status: p.enum(['PENDING', 'SENT', 'FAILED'] as const).default('PENDING'),
    attempts: p.integer().default(0),
    messageId: p.text().nullable(),
    error: p.text().nullable(),
    sentAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'system_mails_age', properties: ['createdAt'] },
    { name: 'system_mails_pending', properties: ['updatedAt'], where: "status = 'PENDING'" },
  ],
});

/** A mail of the service that is on its way. */
export interface PendingMail {
  id: string;
  kind: string;
  to: string;
  contentSealed: string;
  /** Hand-overs that were begun. */
  attempts: number;
  /** Reason why the last one was refused; null when its outcome is not known, or there was none. */
  error: string | null;
  /** Milliseconds since the last hand-over was begun, and since the mail was queued. */
  sinceMs: number;
  ageMs: number;
}

/** Adds mails, except those whose key is known. Returns the IDs that were added. */
export async function insertMails(
  db: Database,
  rows: readonly {
    id: string;
    kind: string;
    to_address: string;
    dedupe_key: string | null;
    content_sealed: string;
  }[],
): Promise<string[]> {
  const added = await db.rows<{ id: string }>(sql`
    insert into system_mails (id, kind, to_address, dedupe_key, content_sealed)
      select id, kind, to_address, dedupe_key, content_sealed
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as r (id uuid, kind text, to_address text, dedupe_key text, content_sealed text)
      on conflict (dedupe_key) do nothing returning id`);
  return added.map(({ id }) => id);
}

/** The mail, unless it was sent or given up. */
export function pendingMail(db: Database, id: string): Promise<PendingMail | null> {
  return db.row<PendingMail>(sql`
      select id, kind, to_address as "to", content_sealed as "contentSealed", attempts, error,
          (1000 * extract(epoch from clock_timestamp() - updated_at))::float8 as "sinceMs",
          (1000 * extract(epoch from clock_timestamp() - created_at))::float8 as "ageMs"
        from system_mails where id = ${id} and status = 'PENDING'`);
}

/** Notes that a hand-over begins; false when another process was first. */
export async function beginHandOver(db: Database, id: string, attempts: number): Promise<boolean> {
  return (
    (await changePending(db, { id, attempts }, { attempts: attempts + 1, error: null, updatedAt: new Date() })) > 0
  );
}

/** Notes that the provider did not take the mail, and why. */
export async function noteRefusal(db: Database, id: string, reason: string): Promise<void> {
  await changePending(db, { id }, { error: reason.slice(0, 500) });
}

/** Notes that the provider has the mail. `at` is an ISO instant. */
export async function noteSent(db: Database, id: string, messageId: string, at: string): Promise<void> {
  const sent = { status: 'SENT', messageId, sentAt: new Date(at), error: null } as const;
  await changePending(db, { id }, { ...sent, ...withoutContent() });
}

/** Gives the mail up. */
export async function noteFailed(db: Database, id: string, reason: string): Promise<void> {
  await changePending(db, { id }, { status: 'FAILED', error: reason.slice(0, 500), ...withoutContent() });
}

// The content goes with its secrets; that the mail was sent stays.
const withoutContent = () => ({ contentSealed: null, updatedAt: new Date() });

function changePending(
  db: Database,
  which: { id: string; attempts?: number },
  changes: EntityData<InferEntity<typeof SystemMail>>,
): Promise<number> {
  return db.session().em.nativeUpdate(SystemMail, { ...which, status: 'PENDING' }, changes);
}

/** Mails that nobody has tried for a while. */
export function stalledMails(db: Database, query: StalledQuery): Promise<{ id: string; at: string }[]> {
  return stalledRows(db, { table: 'system_mails', open: "status = 'PENDING'" }, query);
}

/** Removes mails of more than 60 days ago; returns how many. */
export function removeOldMails(db: Database, limit: number): Promise<number> {
  return removeSome(db, 'system_mails', sql`created_at < now() - interval '60 days' and status <> 'PENDING'`, limit);
}

/** Members of at least a role, but for one user. */
export interface MailedMembers {
  role: 'ADMIN';
  but: string | null;
}

/** The addresses of a project's members, with the project's name and language. */
export function membersToTell(
  db: Database,
  projectId: string,
  only?: MailedMembers,
): Promise<{ email: string; project: string; language: string }[]> {
  return db.rows(sql`
      select u.email, p.name as project, p.language from projects p
        join memberships m on m.project_id = p.id join users u on u.id = m.user_id
        where p.id = ${projectId} and (${only === undefined} or m.role in ('ADMIN', 'OWNER')
          and u.id is distinct from ${only?.but ?? null}::uuid)
        order by m.created_at, u.id`);
}
