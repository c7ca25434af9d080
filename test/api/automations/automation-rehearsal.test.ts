import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../src/automations/runtime/advance.ts';
import { sql } from '../../../src/store/sql.ts';
import { aProject, type TestApi, testApi } from '../../support/api.ts';
import { type AutomationSpec, advanceDeps, anAutomation, anEvent, letIn } from '../../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { inFull } from '../../support/long.ts';

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

type Choose = <Item>(items: readonly Item[]) => Item;

/** Chooses by a seed, so that a graph that disagrees can be had again. */
function chooser(of: number): Choose {
  let state = of;
  return (items) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return items[Math.floor((state / 2 ** 32) * items.length)] as (typeof items)[number];
  };
}

const all = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] });
const large = [{ path: 'total', operator: 'greaterThan', value: 50 }];
const isPro = { field: 'data.plan', operator: 'equals', value: 'pro' };
const scores = { field: 'data.score', operator: 'greaterThan', value: 40 };

function aStep(choose: Choose): [type: string, config: object] {
  const amount = choose([1, 5, 30]);
  // biome-ignore format: one line for each step
  return choose<[string, object]>([
    ['CONDITION', choose<object>([isPro, { field: 'event.total', operator: 'greaterThan', value: 50 }])],
    ['CONDITION', { mode: 'tree', condition: all(choose([isPro, scores, { field: 'subscribed', operator: 'equals', value: true }])) }],
    ['CONDITION', { mode: 'multi', field: 'data.score', branches: [{ id: 'yes', operator: 'exists' }, { id: 'no', condition: all(isPro) }] }],
    ['SPLIT', { branches: [{ id: 'yes', percent: 50 }, { id: 'no', percent: 50 }] }],
    ['DELAY', { amount, unit: choose(['minutes', 'hours']) }],
    ['WAIT_FOR_EVENT', { eventName: choose(['order', 'visit']), timeout: choose([60, 3_600.5, 86_400]), ...choose([{}, { where: large }, { countsFrom: 'entry' }]) }],
    ['WAIT_FOR_EVENT', { eventName: 'order', ...choose([{}, { where: large }]) }],
    ['WAIT_UNTIL', { field: 'data.ends', passed: choose(['continue', 'exit']), offset: choose(['2h', '-1d']) }],
    ['UPDATE_CONTACT', { updates: choose<object>([{ plan: 'pro' }, { plan: null }, { score: 90 }, { ends: '2020-05-01' }]) }],
    ['UPDATE_CONTACT', { updates: {}, subscriptionAction: choose(['subscribe', 'unsubscribe']) }],
    ['SEND_EMAIL', choose<object>([{ templateId: template }, { templateId: template }, {}])],
    ['WEBHOOK', { url: 'https://crm.example.com/{{ plan }}' }],
    ['EXIT', choose<object>([{}, { reason: 'enough' }])],
  ]);
}

const branchesOf: Record<string, string[]> = {
  CONDITION: ['yes', 'no'],
  SPLIT: ['yes', 'no'],
  WAIT_FOR_EVENT: ['EVENT', 'TIMEOUT'],
};

/** A graph without cycles: each path leads to a later step. Some paths are missing, and end the run. */
function aGraph(choose: Choose): AutomationSpec {
  const count = choose([2, 4, 7, 12, 30]);
  const steps = Array.from({ length: count }, (_, n): [string, [string, object]] => [`s${n}`, aStep(choose)]);
  const ways = steps.flatMap(([name, [type]], n): [string, string][] =>
    type === 'EXIT' || n === count - 1
      ? []
      : (branchesOf[type] ?? [null]).flatMap((branch): [string, string][] => {
          const to = `s${Math.min(count - 1, n + choose([1, 1, 1, 2, 3]))}`;
          const from = branch === null ? name : `${name}.${branch}`;
          return choose([true, true, true, true, true, false]) ? [[from, to]] : [];
        }),
  );
  const byCondition = { id: 'rich', on: { condition: all(scores) }, reason: 'rich' };
  const byEvent = { id: 'bought', on: { event: 'order', where: large }, reason: 'bought' };
  const ends = Object.fromEntries([['then', choose(['exit', 'count'])]]);
  const goal = { on: choose<object>([{ event: 'visit' }, { condition: all(isPro) }]), withinDays: 365, ...ends };
  return {
    steps: Object.fromEntries(steps) as AutomationSpec['steps'],
    ways: [['trigger', 's0'], ...ways],
    exits: choose<object[]>([[], [], [], [byCondition], [byEvent], [byEvent, byCondition]]),
    ...choose([{}, {}, { goal }]),
  };
}

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
    const spec = aGraph(choose);
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
