import { describe, expect, test } from 'vitest';
import { addStep, withoutUntouched } from '../../../dashboard/src/pages/workflows/graph/add.ts';
import {
  bodyOf,
  connectProblem,
  countChanges,
  type DraftStep,
  type DraftWay,
  type Graph,
  withIds,
  withoutStep,
  withoutWay,
  withStep,
  withStepBetween,
  withWay,
} from '../../../dashboard/src/pages/workflows/graph/draft.ts';
import { dropOff, figuresOf } from '../../../dashboard/src/pages/workflows/graph/figures.ts';
import { findSteps } from '../../../dashboard/src/pages/workflows/graph/find.ts';
import { hasAction, pathCountOf, summary, waysOut } from '../../../dashboard/src/pages/workflows/graph/graph.ts';
import { merge, takeTheirs } from '../../../dashboard/src/pages/workflows/graph/merge.ts';

const step = (id: string, type: DraftStep['type'], config: DraftStep['config'] = {}): DraftStep => ({
  id,
  type,
  name: id,
  position: { x: 0, y: 0 },
  config,
  templateId: null,
});
const way = (fromStepId: string, toStepId: string, more: Partial<DraftWay> = {}): DraftWay => ({
  id: `${fromStepId}-${toStepId}`,
  fromStepId,
  toStepId,
  branch: null,
  waitOutcome: null,
  priority: 0,
  ...more,
});
/** trigger → wait → mail → end. */
const base: Graph = {
  steps: [
    step('trigger', 'TRIGGER'),
    step('wait', 'DELAY', { amount: 1, unit: 'days' }),
    step('mail', 'SEND_EMAIL'),
    step('end', 'EXIT'),
  ],
  transitions: [way('trigger', 'wait'), way('wait', 'mail'), way('mail', 'end')],
};
const ways = ({ transitions }: Graph) =>
  transitions.map(({ fromStepId, toStepId, branch, waitOutcome }) => {
    const label = branch ?? waitOutcome;
    return `${fromStepId} → ${toStepId}${label ? ` (${label})` : ''}`;
  });

describe('an edit of a graph', () => {
  test('counts what differs, and nothing once it is led back', () => {
    const renamed = withStep(base, 'wait', { name: 'Wait' });
    expect([countChanges(base, renamed), countChanges(base, withStep(renamed, 'wait', { name: 'wait' }))]).toEqual([
      1, 0,
    ]);
    expect(countChanges(base, withWay(base, 'wait', 'next', 'end'))).toBe(2);
    expect(countChanges(base, withoutStep(base, 'mail', true))).toBe(4);
  });

  test('takes a step out alone, its ways then leading on, or with everything behind it', () => {
    expect(ways(withoutStep(base, 'wait', true))).toEqual(['trigger → mail', 'mail → end']);
    const cut = withoutStep(base, 'wait', false);
    expect([cut.steps.map(({ id }) => id), ways(cut)]).toEqual([['trigger'], []]);
  });

  test('puts a step into a way by its first branch, and what follows makes room', () => {
    const grown = withStepBetween(base, 'wait-mail', step('new-1', 'CONDITION', { field: 'data.plan' }));
    expect(ways(grown)).toEqual(['trigger → wait', 'wait → new-1', 'mail → end', 'new-1 → mail (yes)']);
    expect(grown.steps.filter(({ position }) => position.y > 0).map(({ id }) => id)).toEqual(['mail', 'end']);
  });

  test('a split leads on by its branches, with their shares, and has a key of its own', () => {
    const { id, change } = addStep(base, 'SPLIT', null, base.steps[1]);
    const grown = change({ ...base, transitions: [] });
    const split = grown.steps.find((each) => each.id === id) ?? step('none', 'SPLIT');
    expect(split.config.key).toBe(id);
    expect(withoutUntouched([{ stepId: id }], grown, base)).toEqual([]);
    expect(summary(split)).toBe('A 50%, B 50%');
    const config = {
      branches: [
        { id: 'a', name: 'New', percent: 90 },
        { id: 'rest', percent: 10 },
      ],
      holdout: 'rest',
    };
    expect(waysOut({ ...split, config }).map(({ key, label }) => [key, label])).toEqual([
      ['a', 'New 90%'],
      ['rest', 'rest 10% (control)'],
    ]);
  });

  test('says why two steps cannot be connected', () => {
    expect(connectProblem(base, 'wait', 'end')).toBeNull();
    expect(connectProblem(base, 'mail', 'wait')).toContain('cycle');
    expect(connectProblem(base, 'wait', 'wait')).toContain('itself');
    expect(connectProblem(base, 'wait', 'trigger')).toContain('trigger');
  });

  test('is sent without what only the form knows, and takes over the ids that new steps have got', () => {
    const grown = withStep(withStepBetween(base, 'wait-mail', step('new-1', 'DELAY')), 'new-1', { bodyText: '{' });
    expect(bodyOf(grown).steps.at(-1)).toEqual({ ...step('new-1', 'DELAY'), note: null });
    expect(ways(withIds(grown, { 'new-1': 'b7' }))).toContain('wait → b7');
  });
});

describe('two edits of one graph', () => {
  test('come together where they touch different things, down to the parts of one step', () => {
    const mine = withStep(base, 'wait', { name: 'Mine' });
    const theirs = withStep(withWay(base, 'wait', 'next', 'end'), 'wait', { config: { amount: 2, unit: 'days' } });
    const { graph, conflicts } = merge(base, mine, theirs);
    expect(conflicts).toEqual([]);
    expect(graph.steps[1]).toMatchObject({ name: 'Mine', config: { amount: 2 } });
    expect(ways(graph).sort()).toEqual(['mail → end', 'trigger → wait', 'wait → end']);
  });

  test('clash where both have changed the same part: one’s own stays until it is decided', () => {
    const mine = withStep(base, 'wait', { name: 'Mine' });
    const theirs = withStep(base, 'wait', { name: 'Theirs' });
    const { graph, conflicts } = merge(base, mine, theirs);
    expect(graph.steps[1]?.name).toBe('Mine');
    expect(conflicts).toMatchObject([{ stepId: 'wait', theirs: { name: 'Theirs' } }]);
    const [conflict] = conflicts;
    expect(conflict && takeTheirs(graph, conflict).steps[1]?.name).toBe('Theirs');
    expect(merge(base, mine, mine).conflicts).toEqual([]);
  });

  test('never delete unseen what the other has changed', () => {
    const changed = withStep(base, 'mail', { name: 'Changed' });
    const deleted = withoutStep(base, 'mail', true);
    const kept = merge(base, deleted, changed);
    expect(kept.graph.steps.map(({ name }) => name)).toContain('Changed');
    const mine = merge(base, changed, deleted);
    expect(mine.conflicts).toEqual([{ stepId: 'mail', theirs: null }]);
    expect(ways(mine.graph)).toContain('mail → end');
    const [conflict] = mine.conflicts;
    expect(conflict && takeTheirs(mine.graph, conflict).steps.map(({ id }) => id)).not.toContain('mail');
    // What neither has touched goes when one deletes it.
    expect(merge(base, deleted, base).graph.steps.map(({ id }) => id)).not.toContain('mail');
    expect(merge(base, base, deleted).graph.steps.map(({ id }) => id)).not.toContain('mail');
  });

  test('leave no way to a step that is gone, and none of two ways out of one place', () => {
    const mine = withWay(base, 'wait', 'next', 'end');
    const theirs = withoutStep(base, 'end', false);
    expect(ways(merge(base, mine, theirs).graph)).toEqual(['trigger → wait']);
    const other = withWay(base, 'wait', 'next', '');
    expect(ways(merge(base, mine, other).graph).filter((text) => text.startsWith('wait'))).toEqual(['wait → end']);
  });

  test('follow the trigger, which is saved apart', () => {
    const mine = withStep(base, 'trigger', { position: { x: 5, y: 5 } });
    const theirs = withStep(base, 'trigger', { name: 'Trigger: order.paid', config: { eventName: 'order.paid' } });
    expect(merge(base, mine, theirs).graph.steps[0]).toMatchObject({
      name: 'Trigger: order.paid',
      position: { x: 5, y: 5 },
    });
  });
});

test('a way for every outcome has counted all those whom no other way is for', () => {
  const people = {
    active: 0,
    arriving: 0,
    steps: [
      {
        stepId: 'ask',
        name: 'Ask',
        type: 'WAIT_FOR_EVENT' as const,
        running: 0,
        waiting: 0,
        reached: 10,
        dropped: 1,
        invalidZones: 0,
        branches: [
          { branch: 'EVENT', count: 3 },
          { branch: 'TIMEOUT', count: 4 },
        ],
      },
      {
        stepId: 'hook',
        name: 'Hook',
        type: 'WEBHOOK' as const,
        running: 0,
        waiting: 0,
        reached: 1000,
        dropped: 990,
        invalidZones: 0,
        branches: [
          { branch: 'success', count: 8 },
          { branch: 'failure', count: 2 },
        ],
      },
    ],
  };
  const counted = (one: ReturnType<typeof way>, siblings: ReturnType<typeof way>[]) =>
    pathCountOf(one, siblings, people.steps.find(({ stepId }) => stepId === one.fromStepId)?.branches ?? []);
  const either = way('ask', 'end');
  const onEvent = way('ask', 'mail', { waitOutcome: 'EVENT' });
  expect(counted(either, [])).toEqual({ count: 7, failed: 0 });
  expect(counted(either, [onEvent])).toEqual({ count: 4, failed: 0 });
  expect(counted(onEvent, [either])).toEqual({ count: 3, failed: 0 });
  expect(counted(way('hook', 'end'), [])).toEqual({ count: 10, failed: 2 });
  expect(counted(way('mail', 'end'), [])).toEqual({ count: 0, failed: 0 });
  expect(figuresOf(onEvent, [either], people, 'Ask')).toEqual({
    text: '3 · 30%',
    drop: '',
    words:
      '3 of 10 contacts that reached “Ask” took this path (30%). 1 dropped off (10%) at this step. 2 are still there.',
  });
  expect(figuresOf(either, [], people, 'Ask')).toMatchObject({ text: '7 · 70%', drop: '−10%' });
  // Who has left the workflow at a step has not gone on to the next.
  const left = [
    { branch: 'next', count: 3 },
    { branch: 'exit:bought', count: 1 },
  ];
  const exited = { steps: [{ stepId: 'wait', reached: 4, dropped: 0, invalidZones: 0, branches: left }] };
  expect(figuresOf(way('wait', 'mail'), [], exited, 'Wait')).toEqual({
    text: '3 · 75%',
    drop: '',
    words: '3 of 4 contacts that reached “Wait” took this path (75%). 1 left the workflow.',
  });
  // What is nearly all or nearly nobody is not rounded to it.
  expect(figuresOf(way('hook', 'end'), [], people, 'Hook')).toMatchObject({ text: '10 (2 failed) · 1%', drop: '−99%' });
  const rare = {
    steps: [
      {
        stepId: 'hook',
        reached: 1001,
        dropped: 0,
        invalidZones: 0,
        branches: [
          { branch: 'success', count: 1000 },
          { branch: 'failure', count: 1 },
        ],
      },
    ],
  };
  expect(figuresOf({ fromStepId: 'hook', branch: 'failure', waitOutcome: null }, [], rare, '')?.text).toContain('<1%');
  expect(figuresOf({ fromStepId: 'hook', branch: 'success', waitOutcome: null }, [], rare, '')?.text).toBe(
    '1,000 · >99%',
  );
  expect(figuresOf(way('mail', 'end'), [], people, 'Mail')).toBeNull();
  expect([dropOff({ reached: 4, dropped: 1 }), dropOff({ reached: 4, dropped: 0 })]).toEqual([
    '1 dropped off (25%)',
    '',
  ]);
});

test('a delay of one is said in the singular', () => {
  const delay = (amount: number) => summary({ type: 'DELAY', config: { amount, unit: 'days' } });
  expect([delay(1), delay(2)]).toEqual(['1 day', '2 days']);
});

test('a workflow acts by a step that its trigger leads to', () => {
  expect(hasAction(base.steps, base.transitions)).toBe(true);
  expect(hasAction(base.steps, withoutWay(base, 'wait-mail').transitions)).toBe(false);
});

test('a note is a change of its step, travels with it, and of two people’s notes one’s own waits for a decision', () => {
  const noted = withStep(base, 'mail', { note: 'Ask Mira' });
  expect([countChanges(base, noted), countChanges(base, withStep(noted, 'mail', { note: '' }))]).toEqual([1, 0]);
  expect(bodyOf(noted).steps.map(({ note }) => note)).toEqual([null, null, 'Ask Mira', null]);
  const theirs = withStep(base, 'mail', { note: 'Ask Ben' });
  expect(merge(base, withStep(base, 'mail', { name: 'Mail' }), theirs)).toMatchObject({ conflicts: [] });
  expect(merge(base, noted, theirs).conflicts.map(({ stepId }) => stepId)).toEqual(['mail']);
  const trigger = withStep(base, 'trigger', { note: 'By hand' });
  expect(merge(base, trigger, theirs).graph.steps.map(({ note }) => note ?? null)).toEqual([
    'By hand',
    null,
    'Ask Ben',
    null,
  ]);
  expect(findSteps(noted.steps, 'mira').map(({ id }) => id)).toEqual(['mail']);
});

test('steps are found by words of name, type and summary, from the top down', () => {
  const found = (text: string) => findSteps(base.steps, text).map(({ id }) => id);
  expect(found('')).toEqual(['trigger', 'wait', 'mail', 'end']);
  expect(found(' SEND mail ')).toEqual(['mail']);
  expect(found('1 day')).toEqual(['wait']);
  expect(found('nowhere')).toEqual([]);
  const [first, ...rest] = base.steps;
  const lower = first ? [{ ...first, position: { x: 0, y: 9 } }, ...rest] : rest;
  expect(findSteps(lower, '').map(({ id }) => id)).toEqual(['wait', 'mail', 'end', 'trigger']);
});

test('a new step has no problems until somebody begins to fill it in, or until it is saved', () => {
  const { id, change } = addStep(base, 'WAIT_FOR_EVENT', null);
  const graph = change(base);
  const issues = [
    { stepId: id, field: 'config.eventName', message: 'is required' },
    { stepId: 'wait', field: 'config.amount', message: 'is required' },
    { stepId: null, field: 'steps', message: 'must have at most 500 steps' },
  ];
  expect(withoutUntouched(issues, graph, base)).toEqual(issues.slice(1));
  expect(withoutUntouched(issues, graph, graph)).toEqual(issues);
  for (const touch of [{ name: 'Wait for an order' }, { config: { eventName: '' } }, { note: 'Ask sales' }])
    expect(withoutUntouched(issues, withStep(graph, id, touch), base), JSON.stringify(touch)).toEqual(issues);
});
