import { describe, expect, test } from 'vitest';
import { stepOnCycle } from '../src/graph.ts';
import { branchNames, canSplice, connectionProblem, pathProblem, unknownPathProblem } from '../src/paths.ts';
import { path, step } from './steps.ts';

describe('a connection', () => {
  const steps = [
    step('t', 'TRIGGER'),
    step('a', 'DELAY'),
    step('b', 'DELAY'),
    step('c', 'CONDITION'),
    step('e', 'EXIT'),
  ];
  const paths = [path('t', 'a'), path('a', 'b'), path('b', 'c'), path('c', 'e', { branch: 'yes' })];

  test('is refused exactly where it leads to the step itself, to the trigger, or back', () => {
    for (const from of steps)
      for (const to of steps) {
        const problem = connectionProblem(paths, from, to);
        const grown = { steps, transitions: [...paths, path(from.id, to.id)] };
        expect(problem !== null, `${from.id} to ${to.id}`).toBe(to.type === 'TRIGGER' || stepOnCycle(grown) !== null);
      }
  });

  test('says why', () => {
    const [trigger, a, b] = steps as [(typeof steps)[0], (typeof steps)[0], (typeof steps)[0]];
    expect(connectionProblem(paths, a, a)).toBe('Step "a" cannot lead to itself');
    expect(connectionProblem(paths, a, trigger)).toBe('No step can lead to the trigger');
    expect(connectionProblem(paths, b, a)).toBe('Step "a" already leads to "b": this would create a cycle');
  });
});

describe('a path beside those that there are', () => {
  const problem = (type: string, own: Parameters<typeof path>[2], ...others: Parameters<typeof path>[2][]) =>
    pathProblem(
      step('s', type),
      path('s', 'x', own),
      others.map((other) => path('s', 'y', other)),
    );

  test('of a step with one path is the only one, without branch or outcome', () => {
    expect(problem('DELAY', {})).toBeNull();
    expect(problem('DELAY', {}, {})?.message).toContain('already leads to another step');
    expect(problem('DELAY', { branch: 'yes' })?.field).toBe('branch');
    expect(problem('TRIGGER', { waitOutcome: 'EVENT' })?.field).toBe('waitOutcome');
    expect(problem('EXIT', {})).toEqual({ message: 'Step "s" is an EXIT: no step can follow it', field: null });
  });

  test('of a condition is for a branch that has none yet, or for what is left', () => {
    expect(problem('CONDITION', { branch: 'no' }, { branch: 'yes' }, {})).toBeNull();
    expect(problem('CONDITION', {}, { branch: 'yes' })).toBeNull();
    expect(problem('CONDITION', { branch: 'yes' }, { branch: 'yes' })?.field).toBe('branch');
    expect(problem('CONDITION', { waitOutcome: 'EVENT' })?.message).toContain('its paths have a branch');
  });

  test('of a wait is for an end that has none yet', () => {
    expect(problem('WAIT_FOR_EVENT', { waitOutcome: 'TIMEOUT' }, { waitOutcome: 'EVENT' })).toBeNull();
    expect(problem('WAIT_FOR_EVENT', { waitOutcome: 'EVENT' }, { waitOutcome: 'EVENT' })?.field).toBe('waitOutcome');
    expect(problem('WAIT_FOR_EVENT', { waitOutcome: 'EVENT' }, {})?.field).toBe('waitOutcome');
  });
});

test('the branches of a condition are yes and no, or its own and what is left', () => {
  const own = { mode: 'multi', branches: [{ id: 'vip' }, { id: 'trial' }, 'damaged', null] };
  const names = (config: unknown, type = 'CONDITION') => branchNames({ type, config });
  expect([names({}), names(own), names(null)]).toEqual([
    ['yes', 'no'],
    ['vip', 'trial', 'default'],
    ['yes', 'no'],
  ]);
  expect(unknownPathProblem(step('c', 'CONDITION', own), { branch: 'trial', waitOutcome: null })).toBeNull();
  expect(unknownPathProblem(step('c', 'CONDITION', own), { branch: 'yes', waitOutcome: null })).toEqual({
    message: 'Step "c" has no branch "yes": it must be one of vip, trial, default',
    field: 'branch',
  });
});

test('a split has a path for each of its branches and none for what is left', () => {
  const own = { branches: [{ id: 'a', percent: 50 }, { id: 'b', percent: 50 }, null] };
  const split = step('s', 'SPLIT', own);
  expect(branchNames(split)).toEqual(['a', 'b']);
  const to = (branch: string | null) => ({ branch, waitOutcome: null });
  expect(pathProblem(split, to('b'), [to('a')])).toBeNull();
  expect(pathProblem(split, to('a'), [to('a')])?.field).toBe('branch');
  expect(unknownPathProblem(split, to(null))?.field).toBe('branch');
  expect(pathProblem(split, { branch: null, waitOutcome: 'EVENT' }, [])?.message).toContain('its paths have a branch');
  expect([unknownPathProblem(split, to('a')), unknownPathProblem(split, to('default'))?.field]).toEqual([
    null,
    'branch',
  ]);
  expect(canSplice(split, [])).toBe(false);
});

test('a wait without a timeout has no path for it', () => {
  const timeout = { branch: null, waitOutcome: 'TIMEOUT' } as const;
  expect(unknownPathProblem(step('w', 'WAIT_FOR_EVENT', { timeout: 60 }), timeout)).toBeNull();
  expect(unknownPathProblem(step('w', 'WAIT_FOR_EVENT'), timeout)?.field).toBe('waitOutcome');
});

test('a step goes alone where what led to it knows where to lead', () => {
  const twoTargets = [path('w', 'x', { waitOutcome: 'EVENT' }), path('w', 'y', { waitOutcome: 'TIMEOUT' })];
  expect(canSplice(step('w', 'WAIT_FOR_EVENT'), twoTargets)).toBe(false);
  expect(canSplice(step('w', 'WAIT_FOR_EVENT'), [path('w', 'x'), path('other', 'y')])).toBe(true);
  expect(canSplice(step('c', 'CONDITION'), [path('c', 'x', { branch: 'yes' })])).toBe(false);
  expect(canSplice(step('t', 'TRIGGER'), [])).toBe(false);
});
