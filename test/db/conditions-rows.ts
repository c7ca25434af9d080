import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Subject } from '../unit/conditions/evaluate-condition.ts';
import { eventNames, now } from './conditions-population.ts';

/** A subject in the database. */
export interface Row {
  id: string;
  subject: Subject;
}

/** Inserts a project and answers its id. */
export async function insertProject(pool: Pool): Promise<string> {
  const id = randomUUID();
  await pool.query(
    `insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed)
     values ($1, 'Conditions', $2, $3, '', '')`,
    [id, randomUUID(), randomUUID()],
  );
  return id;
}

/** Inserts segments that memberships can refer to. */
export async function insertSegments(pool: Pool, projectId: string, ids: string[]): Promise<void> {
  await pool.query(
    `insert into segments (id, project_id, name, type) select id, $1, 'Conditions', 'STATIC' from unnest($2::uuid[]) id`,
    [projectId, ids],
  );
}

/**
 * Inserts subjects as the contacts of a new project. Each of `segmentIds` that a subject is no member of gets an ended
 * membership, which must count as none.
 */
export async function insertPopulation(
  pool: Pool,
  subjects: Subject[],
  segmentIds: string[],
): Promise<{ projectId: string; rows: Row[] }> {
  const projectId = await insertProject(pool);
  const rows = subjects.map((subject) => ({ id: randomUUID(), subject }));
  const insert = (sql: string, records: unknown[]) => pool.query(sql, [projectId, JSON.stringify(records)]);
  await insert(
    `insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
     select id, $1, email, subscribed, data, "createdAt", "updatedAt" from jsonb_to_recordset($2::jsonb)
       as r (id uuid, email text, subscribed boolean, data jsonb, "createdAt" timestamptz, "updatedAt" timestamptz)`,
    rows.map(({ id, subject }) => ({ id, ...subject.contact })),
  );
  // Events need not belong to a contact; these must neither match anybody nor make a "none of" unknown.
  const strays = eventNames.map((name) => ({ id: null, name, createdAt: now }));
  await insert(
    `insert into events (id, project_id, contact_id, name, created_at)
     select gen_random_uuid(), $1, id, name, "createdAt" from jsonb_to_recordset($2::jsonb)
       as r (id uuid, name text, "createdAt" timestamptz)`,
    [...strays, ...rows.flatMap(({ id, subject }) => subject.events.map((event) => ({ id, ...event })))],
  );
  await insert(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class,
       sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at)
     select gen_random_uuid(), $1, id, 'ada@example.com', 'hello@fernpost.test', 'CAMPAIGN', 'MARKETING',
       "sentAt", "deliveredAt", "openedAt", "clickedAt", "bouncedAt", "complainedAt" from jsonb_to_recordset($2::jsonb)
       as r (id uuid, "sentAt" timestamptz, "deliveredAt" timestamptz, "openedAt" timestamptz, "clickedAt" timestamptz,
         "bouncedAt" timestamptz, "complainedAt" timestamptz)`,
    rows.flatMap(({ id, subject }) => subject.emails.map((email) => ({ id, ...email }))),
  );
  const memberships = rows.flatMap(({ id, subject }) =>
    segmentIds.map((segmentId) => ({ id, segmentId, exitedAt: subject.memberships.has(segmentId) ? null : now })),
  );
  await pool.query(
    `insert into segment_memberships (segment_id, contact_id, entered_at, exited_at)
     select "segmentId", id, $1, "exitedAt" from jsonb_to_recordset($2::jsonb)
       as r (id uuid, "segmentId" uuid, "exitedAt" timestamptz)`,
    [now, JSON.stringify(memberships)],
  );
  return { projectId, rows };
}
