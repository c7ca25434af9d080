import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../src/automations/runtime/advance.ts';
import { sql } from '../../../src/store/sql.ts';
import { aProject, type TestApi, testApi } from '../../support/api.ts';
import { advanceDeps, anAutomation, anEvent, letIn } from '../../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { inFull } from '../../support/long.ts';
import { chooser, randomGraph } from '../../support/random-graphs.ts';

// What executions did, by the code that runs them and the rows that it wrote, is what test runs of the same graphs say.
const graphs = inFull(5_000, 150);
const seed = Number(process.env.TEST_SEED ?? 20_261_129);

let database: TestDatabase;
let api: TestApi;
let hand: AutomationHand;
let projectId: string;
let template: string;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  const owner = await aProject(database);
  projectId = owner.id;
  hand = automationHand(api, owner);
  template = await hand.template();
});
afterAll(async () => {
  await api.close();
  await database.close();
});

/** A step of an execution or of a test run. */
interface Passed {
  step: string;
  outcome: string;
  said: unknown;
}

interface Walked {
  end: string;
  reason: string | null;
  steps: Passed[];
  /** How long each step that waits was to wait, in milliseconds. */
  waits: number[];
}

/** What outputs of executions and of test runs have in common. */
function said(type: string, output: Record<string, unknown> | null): unknown {
  const { exit, reason, skipped, branch, waitOutcome, newData, subscribed, passed } = output ?? {};
  if (exit !== undefined) return { exit, reason };
  if (type === 'TRIGGER') return null;
  return { reason, skipped, branch, waitOutcome, newData, subscribed, passed };
}

async function testRunOf(id: string, body: object): Promise<Walked> {
  const run = await hand.done('POST', `/workflows/${id}/test-run`, body);
  const steps = run.steps as {
    stepId: string;
    type: string;
    outcome: string;
    at: string;
    output: Record<string, string>;
  }[];
  return {
    end: run.end,
    reason: run.reason,
    steps: steps.map(({ stepId: step, type, outcome, output }) => ({ step, outcome, said: said(type, output) })),
    waits: steps.flatMap(({ type, output, at }) =>
      type === 'DELAY' || (type === 'WAIT_FOR_EVENT' && output.until)
        ? [Date.parse(output.until ?? '') - Date.parse(at)]
        : [],
    ),
  };
}

interface StepRow {
  step: string;
  type: string;
  status: string;
  outcome: string | null;
  output: Record<string, unknown> | null;
  waits: number | null;
}

const whyWaiting = {
  date: 'The contact has no date to wait for',
  event: 'The event never comes, and the wait has no timeout',
};

/** Lets a contact in and moves the run on; time passes, and webhooks answer, by the rows. */
async function executionOf(
  automation: { id: string; projectId: string },
  contactId: string,
  context: Record<string, unknown> | null,
  event: object | null,
): Promise<Walked> {
  const { db } = database;
  const [run] = await letIn(db, { ...automation, steps: {} }, [contactId], context);
  if (run === undefined) throw new Error('no run');
  const overdue = (column: 'scheduled_for' | 'execute_after') =>
    db.count(
      `update automation_step_runs set ${column} = now() - interval '1 second', input = input || jsonb_build_object('lasts',
      extract(epoch from ${column} - started_at) * 1000) where run_id = $1 and ${column} > now() and status in ('WAITING', 'SCHEDULED')`,
      [run.id],
    );
  let stays: string | null = null;
  for (let directive = await advance(advanceDeps(db), run.id, 0); directive.next !== 'done'; ) {
    if (directive.next === 'http')
      await db.count(`update automation_step_runs set output = jsonb_build_object('statusCode', 200) where id = $1`, [
        directive.stepRunId,
      ]);
    else if (directive.next === 'sleep') await overdue('scheduled_for');
    else if (directive.next === 'wait') {
      const { type } = directive.step;
      const recorded = event !== null && type === 'WAIT_FOR_EVENT';
      if (recorded) await anEvent(db, automation.projectId, contactId, directive.event, event);
      const before = directive.seq;
      directive = await advance(advanceDeps(db), run.id, before);
      if (directive.next !== 'wait' || directive.seq !== before) continue;
      if ((await overdue('execute_after')) === 0) {
        stays = type === 'WAIT_UNTIL' ? whyWaiting.date : whyWaiting.event;
        break;
      }
    }
    directive = await advance(advanceDeps(db), run.id, directive.seq);
  }
  const row = await db.row<{ status: string; reason: string | null }>(sql`
    select status, exit_reason as reason from automation_runs where id = ${run.id}`);
  const steps = await db.rows<StepRow>(sql`
    select step_id as step, step_type as type, status, outcome, output, (input ->> 'lasts')::float8 as waits
    from automation_step_runs where run_id = ${run.id} order by seq`);
  const open = ['WAITING', 'SCHEDULED'];
  return {
    end: row?.status ?? 'GONE',
    reason: stays ?? row?.reason ?? null,
    steps: steps.map(({ step, type, status, output }) => ({
      step,
      outcome: open.includes(status) ? 'WAITING' : output?.skipped ? 'SKIPPED' : status,
      said:
        open.includes(status) && type === 'WAIT_FOR_EVENT'
          ? said(type, { waitOutcome: 'TIMEOUT' })
          : said(type, output),
    })),
    waits: steps.flatMap(({ type, waits, outcome }) =>
      type === 'DELAY' || (type === 'WAIT_FOR_EVENT' && outcome === 'TIMEOUT') ? (waits ?? -1) : [],
    ),
  };
}

test(`a test run takes the path of the execution, of ${graphs} random graphs`, {
  timeout: graphs * 2_000,
}, async () => {
  const met = new Map<string, number>();
  const count = (what: string) => met.set(what, (met.get(what) ?? 0) + 1);
  for (let n = 0; n < graphs; n += 1) {
    const choose = chooser(seed + n * 7_919);
    const spec = randomGraph(choose, template);
    const automation = await anAutomation(database.db, projectId, spec);
    const known = { plan: choose(['pro', 'free', undefined]), score: choose([10, 60, undefined]) };
    const ends = choose(['2021-03-01', '2022-12-24T10:00:00Z', 'soon', undefined]);
    const contactId = await hand.contact(`${n}-${projectId}@example.com`, { ...known, ends });
    const context = choose([null, { total: 80 }, { total: 5 }]);
    const event = choose([null, {}, { total: 80 }, { total: 5 }]);
    const asked = { contactId, data: context, waits: event === null ? 'TIMEOUT' : 'EVENT', waitData: event };
    const tested = await testRunOf(automation.id, asked);
    const walked = await executionOf(automation, contactId, context, event);
    expect({ n, ...tested }, JSON.stringify({ spec, known, ends, context, event })).toEqual({ n, ...walked });
    const types = new Map(
      Object.entries(automation.steps).map(([name, id]) => [id, spec.steps[name]?.[0] ?? 'TRIGGER']),
    );
    for (const { step, outcome } of walked.steps) count(`${types.get(step)} ${outcome}`);
    count(walked.end);
    count(String(walked.reason));
  }
  // A generator that never gets somewhere proves nothing about it.
  for (const what of [
    'COMPLETED',
    'EXITED',
    'FAILED',
    'WAITING',
    'bought',
    'rich',
    'reached the goal',
    'date_passed',
    ...Object.values(whyWaiting),
  ])
    expect([what, met.get(what) ?? 0]).toEqual([what, expect.toSatisfy((times: number) => times > 0)]);
  for (const type of [
    'CONDITION',
    'SPLIT',
    'DELAY',
    'WAIT_FOR_EVENT',
    'WAIT_UNTIL',
    'UPDATE_CONTACT',
    'SEND_EMAIL',
    'WEBHOOK',
    'EXIT',
  ])
    expect([type, met.get(`${type} COMPLETED`) ?? 0]).toEqual([type, expect.toSatisfy((times: number) => times > 0)]);
});
