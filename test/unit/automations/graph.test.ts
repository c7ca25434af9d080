import { describe, expect, test } from 'vitest';
import { enablingIssues } from '../../../src/automations/graph/drafts.ts';
import type { Graph, GraphStep } from '../../../src/automations/graph/graph.ts';
import { delayMs, readStepConfig, type StepType } from '../../../src/automations/graph/step-configs.ts';
import { decideSplit } from '../../../src/automations/runtime/steps.ts';
import { graphHash } from '../../../src/automations/versions.ts';

const step = (id: string, type: StepType, config: Record<string, unknown> = {}): GraphStep => ({
  id,
  type,
  name: id,
  config,
  templateId: null,
});
const way = (from: string, to: string, more: object = {}) => ({
  id: `${from}-${to}`,
  fromStepId: from,
  toStepId: to,
  branch: null,
  waitOutcome: null,
  priority: 0,
  ...more,
});

describe('what enabling refuses in a step', () => {
  const issuesWith = (one: GraphStep, templates: string[] = []) =>
    enablingIssues({ steps: [step('t', 'TRIGGER'), one], transitions: [way('t', one.id)] }, new Set(templates)).map(
      ({ stepId, field }) => `${stepId} ${field}`,
    );

  test('a config that cannot be used, by its field', () => {
    expect(issuesWith(step('d', 'DELAY', { amount: 0, unit: 'days' }))).toEqual(['d config.amount']);
    expect(issuesWith(step('u', 'UPDATE_CONTACT'))).toEqual(['u config']);
  });

  test('a template that is not there', () => {
    const mail = { ...step('m', 'SEND_EMAIL'), templateId: 'welcome' };
    expect(issuesWith({ ...mail, templateId: null })).toEqual(['m templateId']);
    expect([issuesWith(mail), issuesWith(mail, ['welcome'])]).toEqual([['m templateId'], []]);
  });

  test('a webhook whose texts do not parse', () => {
    expect(issuesWith(step('w', 'WEBHOOK', { url: 'https://acme.test/{{' }))).toEqual(['w config.url']);
  });
});

describe('configs of steps', () => {
  const branch = (id: string) => ({ id, operator: 'exists' });
  const shares = (...percents: number[]) => percents.map((percent, n) => ({ id: `b${n}`, percent }));
  test.each<[StepType, unknown]>([
    ['DELAY', { amount: 0.5, unit: 'minutes', keep: 1 }],
    ['DELAY', { amount: 365, unit: 'days' }],
    ['WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 31_536_000 }],
    ['CONDITION', { field: 'data.plan', operator: 'equals', value: null }],
    ['CONDITION', { mode: 'multi', field: 'event.total', branches: [branch('a'), branch('b')] }],
    [
      'SPLIT',
      {
        branches: [
          { id: 'a', percent: 99.99 },
          { id: 'b', name: 'Control', percent: 0.01 },
        ],
        holdout: 'b',
        key: 'k',
      },
    ],
    ['SPLIT', { branches: shares(100) }],
    ['WAIT_UNTIL', { time: '09:00' }],
    ['WAIT_UNTIL', { time: '23:59', days: [1, 7], zone: 'Europe/Berlin', fallback: 'Asia/Tokyo' }],
    ['WAIT_UNTIL', { field: 'data.trialEnds', offset: '-3d', at: '09:00', passed: 'exit', zone: 'contact' }],
    ['WEBHOOK', { url: 'https://hooks.acme.test:8443/{{data.region}}?q={{email}}' }],
    [
      'WEBHOOK',
      { url: 'http://x', method: 'PUT', headers: { 'X-A': '{{ email }}' }, body: [1], retries: 5, failOnError: true },
    ],
    ['UPDATE_CONTACT', { updates: { stage: null } }],
    ['UPDATE_CONTACT', { data: { stage: 'x' } }],
    ['UPDATE_CONTACT', { subscriptionAction: 'unsubscribe' }],
    ['EXIT', {}],
    ['EXIT', { reason: 'converted' }],
    ['SEND_EMAIL', { recipient: { type: 'CUSTOM', customEmail: 'sales@acme.test' } }],
  ])('%s takes %j', (type, config) => {
    expect(readStepConfig(type, config).problems).toBeNull();
  });

  test.each<[StepType, unknown, string]>([
    ['DELAY', { amount: 0, unit: 'days' }, 'amount'],
    ['DELAY', { amount: '2', unit: 'days' }, 'amount'],
    ['DELAY', { amount: 8761, unit: 'hours' }, 'amount'],
    ['DELAY', { amount: 1, unit: 'weeks' }, 'unit'],
    ['WAIT_FOR_EVENT', { eventName: '' }, 'eventName'],
    ['WAIT_FOR_EVENT', { eventName: 'x', timeout: 0 }, 'timeout'],
    ['WAIT_FOR_EVENT', { eventName: 'x', timeout: 31_536_001 }, 'timeout'],
    ['CONDITION', { field: 'data.x', operator: 'like' }, 'operator'],
    ['CONDITION', { operator: 'exists' }, 'field'],
    ['CONDITION', { mode: 'multi', field: 'x', branches: [] }, 'branches'],
    ['CONDITION', { mode: 'multi', field: 'x', branches: [branch('default')] }, 'branches.0.id'],
    ['CONDITION', { mode: 'multi', field: 'x', branches: [branch('a'), branch('a')] }, 'branches'],
    [
      'CONDITION',
      { mode: 'multi', field: 'x', branches: Array.from({ length: 21 }, (_, n) => branch(`${n}`)) },
      'branches',
    ],
    ['WAIT_UNTIL', {}, 'time'],
    ['WAIT_UNTIL', { time: '9:00' }, 'time'],
    ['WAIT_UNTIL', { time: '24:00' }, 'time'],
    ['WAIT_UNTIL', { time: '09:00', days: [] }, 'days'],
    ['WAIT_UNTIL', { time: '09:00', days: [0] }, 'days.0'],
    ['WAIT_UNTIL', { time: '09:00', zone: 'Berlin' }, 'zone'],
    ['WAIT_UNTIL', { time: '09:00', fallback: 'contact' }, 'fallback'],
    ['WAIT_UNTIL', { field: '' }, 'field'],
    ['WAIT_UNTIL', { field: 'data.x', offset: '3 days' }, 'offset'],
    ['WAIT_UNTIL', { field: 'data.x', offset: '-366d' }, 'offset'],
    ['WAIT_UNTIL', { field: 'data.x', offset: '2h', at: '09:00' }, 'at'],
    ['WAIT_UNTIL', { field: 'data.x', passed: 'stop' }, 'passed'],
    ['SPLIT', {}, 'branches'],
    ['SPLIT', { branches: shares(60, 30) }, 'branches'],
    ['SPLIT', { branches: shares(...Array(11).fill(0), 100) }, 'branches'],
    ['SPLIT', { branches: shares(33.333, 66.667) }, 'branches.0.percent'],
    ['SPLIT', { branches: shares(-1, 101) }, 'branches.0.percent'],
    ['SPLIT', { branches: [...shares(50), ...shares(50)] }, 'branches'],
    ['SPLIT', { branches: shares(50, 50), holdout: 'c' }, 'holdout'],
    ['WEBHOOK', { url: 'https://{{data.host}}/x' }, 'url'],
    ['WEBHOOK', { url: '{{data.url}}' }, 'url'],
    ['WEBHOOK', { url: 'https://user:pass@acme.test/' }, 'url'],
    ['WEBHOOK', { url: 'https://acme.test/', method: 'TRACE' }, 'method'],
    ['WEBHOOK', { url: 'https://acme.test/', headers: { 'a b': 'x' } }, 'headers'],
    ['WEBHOOK', { url: 'https://acme.test/', retries: 6 }, 'retries'],
    ['UPDATE_CONTACT', { updates: { email: 'x', stage: '' } }, ''],
    ['UPDATE_CONTACT', {}, ''],
    ['UPDATE_CONTACT', { updates: { locale: 5 } }, ''],
    ['UPDATE_CONTACT', { subscriptionAction: 'pause' }, 'subscriptionAction'],
    ['EXIT', { reason: 'x'.repeat(201) }, 'reason'],
    ['SEND_EMAIL', { recipient: { type: 'CUSTOM' } }, 'recipient.customEmail'],
    ['SEND_EMAIL', { recipient: { type: 'NOBODY' } }, 'recipient.type'],
  ])('%s refuses %j and names the field', (type, config, field) => {
    expect(readStepConfig(type, config).problems?.[0]?.field).toBe(field);
  });

  test('a day has 24 hours', () => {
    expect(delayMs({ amount: 1.5, unit: 'days' })).toBe(129_600_000);
  });
});

describe('a split', () => {
  const branches = [
    { id: 'a', percent: 50 },
    { id: 'b', percent: 33.34 },
    { id: 'c', percent: 16.66 },
  ];
  const contacts = Array.from({ length: 100_000 }, (_, n) => `0198a3f0-0000-7000-8000-${String(n).padStart(12, '0')}`);
  const branchOf = (one: GraphStep, id: string) => decideSplit(one, id).branch;

  test('gives each branch of 100,000 contacts its share within half a percent', () => {
    const split = step('0198a3f0-1111-7000-8000-000000000001', 'SPLIT', { branches });
    const counts = new Map<string, number>();
    for (const id of contacts) {
      const branch = branchOf(split, id);
      counts.set(branch, (counts.get(branch) ?? 0) + 1);
    }
    for (const { id, percent } of branches)
      expect(Math.abs((counts.get(id) ?? 0) / 1_000 - percent), `share of ${id}`).toBeLessThan(0.5);
  });

  test('sends a contact the same way in every version, and apart from what other steps do', () => {
    const split = step('s1', 'SPLIT', { branches });
    const later = {
      ...split,
      name: 'Later',
      config: { branches: branches.map((one) => ({ ...one, name: 'x' })), holdout: 'c' },
    };
    const other = step('s2', 'SPLIT', { branches });
    const sharing = step('s2', 'SPLIT', { branches, key: 's1' });
    const few = contacts.slice(0, 2_000);
    const moved = (one: GraphStep) => few.filter((id) => branchOf(one, id) !== branchOf(split, id)).length;
    expect([moved(later), moved(sharing)]).toEqual([0, 0]);
    expect(moved(other)).toBeGreaterThan(500);
    // A branch that grows takes contacts from the next one alone.
    const grown = step('s1', 'SPLIT', {
      branches: [{ id: 'a', percent: 60 }, { id: 'b', percent: 23.34 }, branches[2]],
    });
    for (const id of few.filter((one) => branchOf(grown, one) !== branchOf(split, one)))
      expect([branchOf(split, id), branchOf(grown, id)]).toEqual(['b', 'a']);
  });

  test('has a path for each branch, and is refused with another one', () => {
    const split = step('s', 'SPLIT', { branches });
    const issues = (branch: string | null) =>
      enablingIssues(
        {
          steps: [step('t', 'TRIGGER'), split, step('e', 'EXIT')],
          transitions: [way('t', 's'), way('s', 'e', { branch })],
        },
        new Set(),
      ).map(({ stepId, field }) => `${stepId} ${field}`);
    expect([issues('c'), issues('d'), issues(null)]).toEqual([[], ['s transitions'], ['s transitions']]);
  });
});

test('the order of keys and of steps does not make a new version; what leads elsewhere does', () => {
  const graph = (config: Record<string, unknown>, target = 'b'): Graph => ({
    steps: [step('a', 'DELAY', config), step('b', 'EXIT')],
    transitions: [way('a', target)],
  });
  const hash = graphHash(graph({ amount: 1, unit: 'days' }));
  const { steps, transitions } = graph({ unit: 'days', amount: 1 });
  expect(graphHash({ steps: [...steps].reverse(), transitions })).toEqual(hash);
  expect(graphHash(graph({ amount: 2, unit: 'days' }))).not.toEqual(hash);
  expect(graphHash(graph({ amount: 1, unit: 'days' }, 'c'))).not.toEqual(hash);
});
