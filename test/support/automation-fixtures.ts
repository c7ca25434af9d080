import { pino } from 'pino';
import { automationActivities, webhookActivities } from '../../activities/automation.ts';
import { startRuns } from '../../src/automations/enrollment/starting.ts';
import type { StepType } from '../../src/automations/graph/step-configs.ts';
import type { RunRow } from '../../src/automations/rows.ts';
import type { AdvanceDeps } from '../../src/automations/runtime/advance.ts';
import { createEnroller, enrollmentChannel } from '../../src/automations/runtime/enrol.ts';
import { wakesUnderWay } from '../../src/automations/runtime/recovery.ts';
import { guardedConnector } from '../../src/http/guarded-requests/guard.ts';
import { newId } from '../../src/lib/ids.ts';
import { revivers } from '../../src/main/setup/outside.ts';
import { Outbox } from '../../src/store/outbox/dispatcher.ts';
import { enqueueAll } from '../../src/store/outbox/queries.ts';
import { startRelay } from '../../src/store/outbox/recovery.ts';
import { startWokenLoop } from '../../src/store/postgres/listener.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { type Database, sql as query } from '../../src/store/sql.ts';
import type { TestDatabase } from './database.ts';
import { type TestWorker, testWorker } from './worker.ts';

/** A step of a test's automation: its type, and its config where that is not empty. */
type StepSpec = [type: StepType, config?: object];

/** An automation in a few lines. A way out of a CONDITION is `['check.yes', 'mail']`, one out of a wait `['wait.TIMEOUT', 'mail']`. */
export interface AutomationSpec {
  /** The event that starts it; `user.signup` when absent. */
  event?: string;
  /** Tests of the data of that event. */
  where?: object[];
  exits?: object[];
  goal?: object;
  steps: Record<string, StepSpec>;
  /** From and to, by the names of the steps; the TRIGGER is `trigger`. In one chain, in the order of `steps`, when absent. */
  ways?: [from: string, to: string][];
  allowReentry?: boolean;
  enabled?: boolean;
  name?: string;
}

/** An automation of a test; the ids of its steps by their names. */
export interface TestAutomation {
  id: string;
  projectId: string;
  steps: Record<string, string>;
}

/** Inserts an automation. */
export async function anAutomation(sql: Database, projectId: string, spec: AutomationSpec): Promise<TestAutomation> {
  const id = newId();
  const trigger = { eventName: spec.event ?? 'user.signup', ...(spec.where ? { where: spec.where } : {}) };
  const config = {
    ...trigger,
    ...(spec.exits ? { exits: spec.exits } : {}),
    ...(spec.goal ? { goal: spec.goal } : {}),
  };
  await sql.count(
    `with made as (
       insert into automations (id, project_id, name, enabled, trigger_type, trigger_config, allow_reentry)
       values ($1, $2, $3, $4, 'EVENT', $5, $6) returning id, enabled)
     insert into automation_switches (automation_id, enabled) select id, enabled from made`,
    [
      id,
      projectId,
      spec.name ?? 'Onboarding',
      spec.enabled ?? true,
      JSON.stringify(trigger),
      spec.allowReentry ?? false,
    ],
  );
  const all: [string, StepSpec][] = [['trigger', ['TRIGGER', config]], ...Object.entries(spec.steps)];
  const steps = Object.fromEntries(all.map(([name]) => [name, newId()]));
  for (const [name, [type, config = {}]] of all)
    await sql.count(
      `insert into automation_steps (id, automation_id, type, name, position, config, template_id)
       values ($1, $2, $3, $4, '{"x":0,"y":0}', $5, $6)`,
      [steps[name], id, type, name, JSON.stringify(config), (config as { templateId?: string }).templateId ?? null],
    );
  const names = all.map(([name]) => name);
  const ways = spec.ways ?? names.slice(1).map((name, n): [string, string] => [names[n] ?? '', name]);
  for (const [from, to] of ways) {
    const [step = '', end = null] = from.split('.');
    const isWait = end === 'EVENT' || end === 'TIMEOUT';
    await sql.count(
      `insert into automation_transitions (id, automation_id, from_step_id, to_step_id, branch, wait_outcome)
       values ($1, $2, $3, $4, $5, $6)`,
      [newId(), id, steps[step], steps[to], isWait ? null : end, isWait ? end : null],
    );
  }
  return { id, projectId, steps };
}

/** Inserts a template and answers its id. */
export async function aTemplate(
  sql: Database,
  project: { id: string; sender: string },
  changes: { type?: string; subject?: string; body?: string } = {},
): Promise<string> {
  const id = newId();
  await sql.count(
    `insert into templates (id, project_id, name, subject, body, "from", type) values ($1, $2, 'Welcome', $3, $4, $5, $6)`,
    [
      id,
      project.id,
      changes.subject ?? 'Welcome, {{name ?? there}}',
      changes.body ?? '<p>Your total is {{event.total}}.</p>',
      project.sender,
      changes.type ?? 'TRANSACTIONAL',
    ],
  );
  return id;
}

/** Lets contacts in by hand, without starting their executions. Answers the runs. */
export async function letIn(
  db: Database,
  { projectId, id }: TestAutomation,
  contactIds: readonly string[],
  context: Record<string, unknown> | null = null,
): Promise<RunRow[]> {
  const wishes = contactIds.map((contactId) => ({ contactId, context, sourceEventId: null }));
  const outcomes = await db.transaction(async (tx) => {
    const started = await startRuns(tx, projectId, id, wishes, 0);
    await enqueueAll(tx, started.starts);
    return started.outcomes;
  });
  return outcomes.map(({ outcome, run }) => {
    if (run === null) throw new Error(`The contact was not let in: ${outcome}`);
    return run;
  });
}

/** Makes runs of all pending enrollments. Their executions are not started: the starts stay in the outbox, taken for a minute. */
export async function enrolPending(db: Database, startsPerHour = 0): Promise<void> {
  const dispatch: Outbox['dispatch'] = async (limit, take) => (await take(limit, 60_000)).length;
  // Nobody takes a run further, so none of them ever begins.
  const enrol = createEnroller({ db, startsPerHour, outbox: { dispatch }, mostUnderWay: Number.POSITIVE_INFINITY });
  while ((await enrol()) === 0);
}

/** Enables or disables an automation, and notes it as a request does. */
export async function switchAutomation(sql: Database, id: string, enabled: boolean): Promise<void> {
  await sql.count(query`
    with switched as (update automations set enabled = ${enabled} where id = ${id} returning id, enabled)
    insert into automation_switches (automation_id, enabled) select id, enabled from switched`);
}

/** Records an event of a contact as any writer would. Answers its id. */
export async function anEvent(
  sql: Database,
  projectId: string,
  contactId: string | null,
  name: string,
  data: object | null = null,
): Promise<string> {
  const id = newId();
  await sql.count(recordingEvents({ events: [{ id, projectId, contactId, name, data }] }));
  return id;
}

/** A step of a run as a test looks at it. */
interface StepFact {
  name: string;
  status: string;
  outcome: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test names what it expects; the assertion is the check.
  output: any;
  error: string | null;
}

/** A run as a test looks at it. */
export interface RunFact {
  id: string;
  status: string;
  reason: string | null;
  at: string | null;
  seq: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test names what it expects; the assertion is the check.
  context: any;
  steps: StepFact[];
}

/** Reads runs of an automation with their steps, in the order in which they began. */
export function runsOf(sql: Database, automationId: string): Promise<RunFact[]> {
  return sql.rows<RunFact>(
    `select r.id, r.status, r.exit_reason as reason, r.seq, r.context,
       (select s.name from automation_steps s where s.id = r.current_step_id) as at,
       coalesce((select jsonb_agg(jsonb_build_object('name', x.step_name, 'status', x.status, 'outcome', x.outcome,
         'output', x.output, 'error', x.error) order by x.seq) from automation_step_runs x where x.run_id = r.id), '[]') as steps
     from automation_runs r where r.automation_id = $1 order by r.id`,
    [automationId],
  );
}

/** The one run of an automation. */
export async function runOf(sql: Database, automationId: string): Promise<RunFact> {
  const [run, ...others] = await runsOf(sql, automationId);
  if (run === undefined || others.length > 0) throw new Error(`There are ${others.length + (run ? 1 : 0)} runs`);
  return run;
}

/** What `advance` needs; nobody delivers mail, `woken` says who would be woken. */
export function advanceDeps(db: Database): AdvanceDeps & { woken: string[] } {
  const woken: string[] = [];
  return {
    db,
    billing: { freeTier: null, publicDailyEmails: null },
    wake: (projectId) => woken.push(projectId),
    woken,
  };
}

/** Everything that runs automations: relay, enroller, and a worker for their queues. */
export interface TestRuntime extends AsyncDisposable {
  worker: TestWorker;
  outbox: Outbox;
}

/** Runs automations on the test's database and the test server. `allowedHosts` may be called although they are private. */
export async function automationRuntime(
  database: TestDatabase,
  options: {
    allowedHosts?: string[];
    queuePrefix?: string;
    mostUnderWay?: number;
    startsPerHour?: number;
    address?: string;
    advance?: Partial<AdvanceDeps>;
  } = {},
): Promise<TestRuntime> {
  const { db } = database;
  const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const worker = await testWorker({
    activities: {
      ...automationActivities({ ...advanceDeps(db), ...options.advance }),
      ...webhookActivities({
        db,
        links: {
          pagesUrl: 'https://mail.test',
          apiUrl: 'https://mail.test',
          secret: 'a secret of the tests, long enough',
        },
        connect: guardedConnector({ allowedHosts: options.allowedHosts ?? [] }, 2_000),
      }),
    },
    queues: ['automation', 'http'],
    ...(options.queuePrefix === undefined ? {} : { queuePrefix: options.queuePrefix }),
    ...(options.address === undefined ? {} : { address: options.address }),
  });
  const outbox = new Outbox({ db, temporal: worker.temporal, queuePrefix: worker.queuePrefix, log, revivers });
  const relay = startRelay({ outbox, listenUrl: database.url, log, wakes: wakesUnderWay(db) });
  const enroller = startWokenLoop({
    channel: enrollmentChannel,
    listenUrl: database.url,
    work: createEnroller({
      db,
      startsPerHour: options.startsPerHour ?? 50,
      outbox,
      ...(options.mostUnderWay === undefined ? {} : { mostUnderWay: options.mostUnderWay }),
    }),
    what: 'enrolling',
    log,
  });
  return {
    worker,
    outbox,
    async [Symbol.asyncDispose]() {
      await Promise.all([enroller.close(), relay.close()]);
      await outbox.close();
      await worker.stop();
    },
  };
}
