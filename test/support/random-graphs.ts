import type { AutomationSpec } from './automation-fixtures.ts';

/** Chooses one of several. */
export type Choose = <Item>(items: readonly Item[]) => Item;

/** Chooses by a seed, so that a graph that disagrees can be had again. */
export function chooser(of: number): Choose {
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

function aStep(choose: Choose, template: string): [type: string, config: object] {
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

const operators = ['equals', 'notEquals', 'contains', 'greaterThan', 'lessThanOrEqual', 'exists', 'notExists'];
const values = ['pro', 'free', 50, '50', true, null, '2026-12-24', ['pro']];
// biome-ignore format: one line
const fields = ['data.plan', 'data.score', 'data.ends', 'data.address.city', 'contact.data.plan', 'contact.subscribed', 'contact.email', 'event.total', 'workflow.item.size'];

/** A step of a type that the release with the earlier name had, with a config that it takes. */
function anEarlierStep(choose: Choose, { templates, receiver }: EarlierPlaces): [type: string, config: object] {
  const test = () => ({ operator: choose(operators), value: choose(values) });
  const url = `${receiver}/${choose(['well', 'well', 'bad', 'never'])}/{{ plan }}`;
  // biome-ignore format: one line for each step
  return choose<[string, object]>([
    ['CONDITION', { field: choose(fields), ...test() }],
    ['CONDITION', { field: choose(fields), ...test() }],
    ['CONDITION', { mode: 'multi', field: choose(fields), branches: [{ id: 'yes', ...test() }, { id: 'no', ...test() }] }],
    ['DELAY', { amount: choose([1, 5, 30, 0.5]), unit: choose(['minutes', 'hours', 'hours', 'days']) }],
    ['WAIT_FOR_EVENT', { eventName: choose(['order', 'visit']), timeout: choose([60, 3_600.5, 86_400, 864_000]) }],
    ['WAIT_FOR_EVENT', { eventName: choose(['order', 'visit']), timeout: choose([60, 3_600.5, 86_400, 864_000]) }],
    ['WAIT_FOR_EVENT', { eventName: 'order' }],
    ['UPDATE_CONTACT', { updates: choose<object>([{ plan: 'pro' }, { plan: null }, { score: 90 }, { address: { city: 'Bergen' } }]) }],
    ['UPDATE_CONTACT', { updates: choose<object>([{}, { seen: true }]), subscriptionAction: choose(['subscribe', 'unsubscribe']) }],
    ['SEND_EMAIL', { templateId: choose(templates), ...choose([{}, {}, { recipient: { type: 'CUSTOM', customEmail: 'desk@example.com' } }]) }],
    ['SEND_EMAIL', { templateId: choose(templates) }],
    ['WEBHOOK', { url, method: choose(['POST', 'PUT']), failOnError: choose([false, false, true]), retries: choose([0, 2]) }],
    ['EXIT', choose<object>([{}, { reason: 'enough' }])],
  ]);
}

/** What the graphs of the earlier release refer to. */
interface EarlierPlaces {
  templates: readonly string[];
  /** Where webhooks go. */
  receiver: string;
}

const branchesOf: Record<string, string[]> = {
  CONDITION: ['yes', 'no'],
  SPLIT: ['yes', 'no'],
  WAIT_FOR_EVENT: ['EVENT', 'TIMEOUT'],
};

type Steps = [name: string, step: [type: string, config: object]][];

/** Ways without cycles: each leads to a later step. Some are missing, and end the run. */
function waysBetween(choose: Choose, steps: Steps): [string, string][] {
  const count = steps.length;
  const ways = steps.flatMap(([name, [type]], n): [string, string][] =>
    type === 'EXIT' || n === count - 1
      ? []
      : (branchesOf[type] ?? [null]).flatMap((branch): [string, string][] => {
          const to = `s${Math.min(count - 1, n + choose([1, 1, 1, 2, 3]))}`;
          const from = branch === null ? name : `${name}.${branch}`;
          return choose([true, true, true, true, true, false]) ? [[from, to]] : [];
        }),
  );
  return [['trigger', 's0'], ...ways];
}

/** A graph of steps of all types. */
export function randomGraph(choose: Choose, template: string): AutomationSpec {
  const count = choose([2, 4, 7, 12, 30]);
  const steps = Array.from({ length: count }, (_, n): Steps[number] => [`s${n}`, aStep(choose, template)]);
  const ways = waysBetween(choose, steps);
  const byCondition = { id: 'rich', on: { condition: all(scores) }, reason: 'rich' };
  const byEvent = { id: 'bought', on: { event: 'order', where: large }, reason: 'bought' };
  const ends = Object.fromEntries([['then', choose(['exit', 'count'])]]);
  const goal = { on: choose<object>([{ event: 'visit' }, { condition: all(isPro) }]), withinDays: 365, ...ends };
  return {
    steps: Object.fromEntries(steps) as AutomationSpec['steps'],
    ways,
    exits: choose<object[]>([[], [], [], [byCondition], [byEvent], [byEvent, byCondition]]),
    ...choose([{}, {}, { goal }]),
  };
}

/** A graph of the release with the earlier name. */
export function randomEarlierGraph(choose: Choose, places: EarlierPlaces): Pick<AutomationSpec, 'steps' | 'ways'> {
  const count = choose([2, 4, 7, 12, 20]);
  const steps = Array.from({ length: count }, (_, n): Steps[number] => [`s${n}`, anEarlierStep(choose, places)]);
  return { steps: Object.fromEntries(steps) as AutomationSpec['steps'], ways: waysBetween(choose, steps) };
}
