import { describe, expect, test } from 'vitest';
import { graphIssues } from '../../src/automations/checks.ts';
import { closesCycle, type Graph, type GraphStep, nextStep, reachableFrom } from '../../src/automations/graph.ts';
import { delayMs, readStepConfig, type StepType } from '../../src/automations/step-configs.ts';
import { graphHash } from '../../src/automations/versions.ts';

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
const fieldsOf = (graph: Graph) => graphIssues(graph, new Set()).map(({ stepId, field }) => `${stepId} ${field}`);

describe('the way out of a step', () => {
  const graph: Graph = {
    steps: ['a', 'b', 'c', 'w', 'x', 'y'].map((id) => step(id, 'DELAY')),
    transitions: [
      way('a', 'b', { branch: 'yes' }),
      way('a', 'c', { branch: null }),
      way('w', 'x', { waitOutcome: null }),
      way('w', 'y', { waitOutcome: 'TIMEOUT' }),
    ],
  };

  test('is the first in order whose branch is the result, or that has none', () => {
    expect(nextStep(graph, 'a', { branch: 'yes' })?.id).toBe('b');
    expect(nextStep(graph, 'a', { branch: 'no' })?.id).toBe('c');
    expect(nextStep(graph, 'b')).toBeNull();
  });

  test('of a wait is the one for its end, else the one for either', () => {
    expect(nextStep(graph, 'w', { waitOutcome: 'TIMEOUT' })?.id).toBe('y');
    expect(nextStep(graph, 'w', { waitOutcome: 'EVENT' })?.id).toBe('x');
  });

  test('is what reachability and circles follow', () => {
    expect([...reachableFrom(graph.transitions, 'a')]).toEqual(['a', 'b', 'c']);
    expect(closesCycle(graph.transitions, 'b', 'a')).toBe(true);
    expect(closesCycle(graph.transitions, 'c', 'b')).toBe(false);
  });
});

describe('what enabling refuses in a graph', () => {
  test('none, or two triggers', () => {
    expect(fieldsOf({ steps: [], transitions: [] })).toEqual(['null steps']);
    expect(fieldsOf({ steps: [step('a', 'TRIGGER'), step('b', 'TRIGGER')], transitions: [] })).toEqual(['null steps']);
  });

  test('a circle, ways out of EXIT and into TRIGGER, and two ways out of a plain step', () => {
    const steps = [step('t', 'TRIGGER'), step('d', 'DELAY', { amount: 1, unit: 'days' }), step('e', 'EXIT')];
    expect(fieldsOf({ steps, transitions: [way('t', 'd'), way('d', 't')] })).toEqual([
      't transitions',
      'd transitions',
    ]);
    expect(fieldsOf({ steps, transitions: [way('t', 'e'), way('e', 'd')] })).toEqual(['e transitions']);
    expect(fieldsOf({ steps, transitions: [way('t', 'e'), way('t', 'd')] })).toEqual(['t transitions']);
  });

  test('branches that a condition does not have, and a timeout where there is none', () => {
    const condition = step('c', 'CONDITION', { field: 'data.x', operator: 'exists' });
    const wait = step('w', 'WAIT_FOR_EVENT', { eventName: 'x' });
    const steps = [step('t', 'TRIGGER'), condition, wait, step('e', 'EXIT')];
    const transitions = [
      way('t', 'c'),
      way('c', 'w', { branch: 'maybe' }),
      way('c', 'e', { branch: 'no' }),
      way('w', 'e', { waitOutcome: 'TIMEOUT' }),
    ];
    expect(fieldsOf({ steps, transitions })).toEqual(['c transitions', 'w transitions']);
  });

  test('more than 200 steps', () => {
    const steps = [step('t', 'TRIGGER'), ...Array.from({ length: 200 }, (_, n) => step(`d${n}`, 'EXIT'))];
    expect(fieldsOf({ steps, transitions: [] })).toEqual(['null steps']);
  });
});

describe('configs of steps', () => {
  const branch = (id: string) => ({ id, operator: 'exists' });
  test.each<[StepType, unknown]>([
    ['DELAY', { amount: 0.5, unit: 'minutes', keep: 1 }],
    ['DELAY', { amount: 365, unit: 'days' }],
    ['WAIT_FOR_EVENT', { eventName: 'order.paid', timeout: 31_536_000 }],
    ['CONDITION', { field: 'data.plan', operator: 'equals', value: null }],
    ['CONDITION', { mode: 'multi', field: 'event.total', branches: [branch('a'), branch('b')] }],
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
