import { ensureVersion } from '../../src/automations/versions.ts';
import type { Database } from '../../src/store/sql.ts';
import { anAutomation } from '../../test/support/automation-fixtures.ts';

/**
 * An automation with contacts inside, and twice as many that have left: rows as a worker leaves them, half of those inside in
 * a delay, half waiting for an event. Nothing runs for them, so the service must be one without a worker. Answers the ids of the
 * automation and of one execution.
 */
export async function fillDashboardWorkflow(db: Database, projectId: string, template: string, waiting: number) {
  const automation = await anAutomation(db, projectId, {
    name: 'Onboarding',
    event: 'membership.begun',
    steps: {
      settle: ['DELAY', { amount: 14, unit: 'days' }],
      check: ['CONDITION', { field: 'data.plan', operator: 'equals', value: 'pro' }],
      welcome: ['SEND_EMAIL', { templateId: template }],
      visit: ['WAIT_FOR_EVENT', { eventName: 'purchase', timeout: 30 * 86_400 }],
      out: ['EXIT'],
    },
    ways: [
      ['trigger', 'settle'],
      ['settle', 'check'],
      ['check.yes', 'welcome'],
      ['check.no', 'visit'],
      ['welcome', 'visit'],
      ['visit.EVENT', 'out'],
      ['visit.TIMEOUT', 'out'],
    ],
  });
  const version = await ensureVersion(db, automation.id);
  const { trigger, settle, check, visit, out } = automation.steps;
  await db.transaction(async (sql) => {
    await sql.rows('set local session_replication_role = replica');
    await sql.count(runRows, [projectId, automation.id, version, settle, visit, out, waiting]);
    await sql.count(stepRows, [automation.id, trigger, settle, check, visit, out]);
    await sql.count(
      'insert into automation_entries (automation_id, contact_id, last_entry) select automation_id, contact_id, 1 from automation_runs where automation_id = $1',
      [automation.id],
    );
  });
  for (const table of ['automations', 'automation_runs', 'automation_step_runs', 'automation_entries'])
    await db.rows(`vacuum (analyze) ${table}`);
  await db.count(runCounts);
  const run = await db.row<{ id: string }>(
    `select id from automation_runs where automation_id = $1 and current_step_id = $2 and status = 'WAITING' order by id limit 1`,
    [automation.id, visit],
  );
  return { workflow: automation.id, execution: run?.id ?? '' };
}

// Every third person is inside, the others have left.
const runRows = `
  insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status, current_step_id, seq, due_at,
    started_at, completed_at, exit_reason)
  select uuidv7(), $1, $2, $3, id, 1, case when n % 3 = 0 then 'WAITING' else 'EXITED' end,
    case when n % 3 <> 0 then $6::uuid when n % 2 = 0 then $4::uuid else $5::uuid end,
    case when n % 3 <> 0 then 5 when n % 2 = 0 then 2 else 4 end,
    case when n % 3 = 0 then started + case when n % 2 = 0 then interval '14 days' else interval '44 days' end end,
    started, case when n % 3 <> 0 then started + interval '15 days' end, case when n % 3 <> 0 then 'The step "out" was reached' end
  from (select id, n, now() - interval '12 days' * n / ($7::int * 3) - case when n % 3 <> 0 then interval '16 days' when n % 2 = 1 then interval '14 days' else interval '0' end as started
    from (select id, row_number() over (order by id) as n
      from (select id from contacts where project_id = $1 order by id desc limit $7::int * 3) people) numbered) entered`;

const stepRows = `
  insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, scheduled_for,
    execute_after, event_name, outcome, input, output, started_at, completed_at)
  select uuidv7(), r.id, r.project_id, r.contact_id, s.step_id, s.seq, s.type, s.name,
    case when s.seq < r.seq - 1 or r.status = 'EXITED' then 'COMPLETED' when s.type = 'DELAY' then 'SCHEDULED' else 'WAITING' end,
    case when s.type = 'DELAY' then r.started_at + interval '14 days' end,
    case when s.type = 'WAIT_FOR_EVENT' then r.started_at + interval '44 days' end,
    case when s.type = 'WAIT_FOR_EVENT' then 'purchase' end,
    case when s.type = 'WAIT_FOR_EVENT' and r.status = 'EXITED' then 'EVENT' end,
    case when s.type = 'DELAY' then '{"amount": 14, "unit": "days"}'::jsonb end,
    case when s.type = 'CONDITION' then '{"branch": "no"}'::jsonb end, r.started_at + s.seq * interval '1 hour',
    case when s.seq < r.seq - 1 or r.status = 'EXITED' then r.started_at + (s.seq + 1) * interval '1 hour' end
  from automation_runs r, lateral (values ($2::uuid, 0, 'TRIGGER', 'trigger'), ($3::uuid, 1, 'DELAY', 'settle'),
    ($4::uuid, 2, 'CONDITION', 'check'), ($5::uuid, 3, 'WAIT_FOR_EVENT', 'visit'), ($6::uuid, 4, 'EXIT', 'out')) s (step_id, seq, type, name)
  where r.automation_id = $1 and s.seq < r.seq`;

const runCounts = `
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced,
    rated_complained, runs_started, runs_completed)
  select r.project_id, date_bin('1 hour', item.at, timestamptz 'epoch'), 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(item.started), sum(item.completed)
  from automation_runs r, lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
  where item.at is not null group by 1, 2`;
