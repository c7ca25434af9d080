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

const branchesOf: Record<string, string[]> = {
  CONDITION: ['yes', 'no'],
  SPLIT: ['yes', 'no'],
  WAIT_FOR_EVENT: ['EVENT', 'TIMEOUT'],
};

/** A graph without cycles: each path leads to a later step. Some paths are missing, and end the run. */
export function randomGraph(choose: Choose, template: string): AutomationSpec {
  const count = choose([2, 4, 7, 12, 30]);
  const steps = Array.from({ length: count }, (_, n): [string, [string, object]] => [`s${n}`, aStep(choose, template)]);
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
