import { foldContactChanges } from '../../src/contacts/catalogue-queries.ts';
import { countNewEvents } from '../../src/contacts/events/counting-queries.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import { foldMailChanges } from '../../src/mail/ledger/mail-count-queries.ts';
import { createFirstProject } from '../../src/main/projects/first-project.ts';
import type { Database } from '../../src/store/sql.ts';
import type { Seeded } from '../../test/support/dashboard-seed.ts';
import { fillAudience } from './audience.ts';
import { fillDashboardMail } from './dashboard-mail.ts';
import { fillDashboardWorkflow } from './dashboard-workflow.ts';

/** How large the project is that the dashboard shows. */
function dashboardSize() {
  const contacts = Number(process.env.BENCH_CONTACTS ?? 1_000_000);
  const events = Number(process.env.BENCH_EVENTS ?? contacts * 4);
  const part = contacts / 1_000_000;
  return {
    contacts,
    events,
    ledger: Math.ceil(200_000 * part),
    mails: Math.ceil(100_000 * part),
    campaigns: 300,
    loud: Math.ceil(100_000 * part),
    waiting: Math.ceil(10_000 * part),
  };
}

/** Where each page of the dashboard finds something: the owner of the project and one thing of each kind. */
export interface DashboardData {
  owner: string;
  seeded: Seeded;
  /** A static segment. */
  chosen: string;
}

/** Reads the data of a database that an earlier run has filled; null when it is empty. */
export async function knownDashboard(db: Database): Promise<DashboardData | null> {
  const row = await db.row<{ known: string | null }>(`select obj_description('projects'::regclass) as known`);
  return row?.known ? (JSON.parse(row.known) as DashboardData) : null;
}

/** Fills an empty database with one project, and notes in it what is where. */
export async function fillDashboard(db: Database, env: NodeJS.ProcessEnv, say: (name: string) => void) {
  const size = dashboardSize();
  const project = await createFirstProject(readConfig(env));
  if (project === null) throw new Error('The database of a benchmark must be empty');
  const { projectId } = project;
  await fillAudience(db, projectId, size);
  say(`${size.contacts.toLocaleString('en')} contacts and ${size.events.toLocaleString('en')} events`);
  const { campaign, template, loud } = await fillDashboardMail(db, projectId, size);
  say(`a ledger of ${size.ledger.toLocaleString('en')} and ${size.mails.toLocaleString('en')} mails with their events`);
  const { workflow, execution } = await fillDashboardWorkflow(db, projectId, template, size.waiting);
  say(`${size.waiting.toLocaleString('en')} waiting executions and twice as many that have ended`);
  const [segment, chosen] = await segments(db, projectId, Math.ceil(size.contacts / 10));
  await keepBooks(db, projectId);
  say('segments, and the counts that workers keep');
  const owner = await db.row<{ id: string }>('select user_id as id from memberships where project_id = $1', [
    projectId,
  ]);
  const email = await db.row<{ id: string }>('select id from emails where project_id = $1 order by id desc limit 1', [
    projectId,
  ]);
  const endpoint = await db.row<{ id: string }>(
    `insert into webhook_endpoints (id, project_id, url, events, secret_sealed, cursor_at, cursor_id, counted_from, status)
     values (uuidv7(), $1, 'https://shop.example.com/hook', '{email.bounce}', '', now(), gen_random_uuid(), now(), 'PAUSED') returning id`,
    [projectId],
  );
  const seeded = {
    endpoint: endpoint?.id ?? '',
    erasure: '',
    permalink: Buffer.from(JSON.stringify({ contact: loud, about: { topic: 'any' } })).toString('base64url'),
    email: email?.id ?? '',
    project: projectId,
    contact: loud,
    template,
    campaign,
    segment,
    workflow,
    execution,
  };
  const data: DashboardData = { owner: owner?.id ?? '', seeded, chosen };
  await db.rows(`comment on table projects is '${JSON.stringify(data)}'`);
  return data;
}

/** A dynamic segment, which a fifth of all contacts match, and a static one. */
async function segments(db: Database, projectId: string, members: number): Promise<[string, string]> {
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'team' }] }],
  };
  const [dynamic, fixed] = await db.rows<{ id: string }>(
    `insert into segments (id, project_id, name, type, condition)
     values (uuidv7(), $1, 'On the team plan', 'DYNAMIC', $2::jsonb), (uuidv7(), $1, 'Chosen by hand', 'STATIC', null) returning id`,
    [projectId, JSON.stringify(condition)],
  );
  await db.count(
    `insert into segments (id, project_id, name, type, condition)
     select uuidv7(), $1, 'From ' || country, 'DYNAMIC', jsonb_build_object('logic', 'AND', 'groups', jsonb_build_array(jsonb_build_object(
       'filters', jsonb_build_array(jsonb_build_object('field', 'data.country', 'operator', 'equals', 'value', country)))))
     from unnest('{DE,FR,NL,BE,AT,CH,IT,ES}'::text[]) country`,
    [projectId],
  );
  await db.count(
    `insert into segment_memberships (segment_id, contact_id, entered_at)
     select $2, id, now() - row_number() over () * interval '1 second' from (select id from contacts where project_id = $1 order by email limit $3) people`,
    [projectId, fixed?.id, members],
  );
  for (const table of ['segments', 'segment_memberships']) await db.rows(`vacuum (analyze) ${table}`);
  return [dynamic?.id ?? '', fixed?.id ?? ''];
}

/** The rows were written past the triggers; what workers do as rows come is done here for all of them. */
async function keepBooks(db: Database, projectId: string): Promise<void> {
  await db.count('insert into contact_changes select project_id, data, subscribed, 1 from contacts');
  await foldContactChanges(db, projectId);
  await foldMailChanges(db, async () => undefined);
  while ((await countNewEvents(db)) === 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const table of [
    'contact_changes',
    'contact_fields',
    'contact_field_values',
    'contact_totals',
    'event_counts',
    'activity_counts',
    'mail_counts',
    'mail_count_changes',
  ])
    await db.rows(`vacuum (analyze) ${table}`);
}
