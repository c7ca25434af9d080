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
  const mail = rows.flatMap(({ id, subject }) =>
    subject.emails.map((email, place) => ({ id, mailId: randomUUID(), seq: place, ...email })),
  );
  const clicks = mail.flatMap(({ id, mailId, clicks = [] }) =>
    clicks.map(({ link, at }) => ({ id, mailId, name: 'email.click', createdAt: at, data: { link } })),
  );
  await insert(
    `insert into events (id, project_id, contact_id, email_id, name, data, created_at)
     select gen_random_uuid(), $1, id, "mailId", name, nullif(data, 'null'), "createdAt" from jsonb_to_recordset($2::jsonb)
       as r (id uuid, "mailId" uuid, name text, data jsonb, "createdAt" timestamptz)`,
    [...strays, ...rows.flatMap(({ id, subject }) => subject.events.map((event) => ({ id, ...event }))), ...clicks],
  );
  await insert(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq,
       template_id, workflow_step_execution_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at)
     select "mailId", $1, id, 'ada@example.com', 'hello@fernpost.test', 'CAMPAIGN', 'MARKETING', "campaignId", seq,
       "templateId", case when "stepId" is not null then ${stepExecutionOf('"mailId"')} end,
       "sentAt", "deliveredAt", "openedAt", "clickedAt", "bouncedAt", "complainedAt" from jsonb_to_recordset($2::jsonb)
       as r (id uuid, "mailId" uuid, seq integer, "campaignId" uuid, "templateId" uuid, "stepId" uuid, "sentAt" timestamptz,
         "deliveredAt" timestamptz, "openedAt" timestamptz, "clickedAt" timestamptz, "bouncedAt" timestamptz,
         "complainedAt" timestamptz)`,
    mail,
  );
  await insertSteps(pool, projectId, mail);
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

/** SQL of the ID of the step execution that sent a mail, from the SQL of the mail's ID as text. */
export const stepExecutionOf = (mailId: string) => `md5(${mailId}::uuid || 'step')::uuid`;

/** Inserts the executions of the steps that sent mail, all of one run. */
export async function insertSteps(
  pool: Pool,
  projectId: string,
  mail: readonly { id: string; mailId: string; stepId?: string | null }[],
): Promise<void> {
  await pool.query(
    `with automation as (
       insert into automations (id, project_id, name) select gen_random_uuid(), $1::uuid, 'Conditions' returning id),
     version as (
       insert into automation_versions (id, automation_id, version, graph, hash)
       select gen_random_uuid(), id, 1, '{}', '' from automation returning id, automation_id),
     run as (
       insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status)
       select gen_random_uuid(), $1, automation_id, id, gen_random_uuid(), 1, 'COMPLETED' from version returning id)
     insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status)
     select ${stepExecutionOf('"mailId"')}, run.id, $1, r.id, "stepId", row_number() over (), 'SEND_EMAIL', 'Mail', 'COMPLETED'
     from run, jsonb_to_recordset($2::jsonb) as r (id uuid, "mailId" uuid, "stepId" uuid) where "stepId" is not null`,
    [projectId, JSON.stringify(mail)],
  );
}
