import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closesCycle, nextStep, reachableFrom, stepOnCycle, triggerOf } from '../src/graph.ts';
import { path, step } from './steps.ts';

const graph = {
  steps: ['a', 'b', 'c', 'w', 'x', 'y'].map((id) => step(id, 'DELAY')),
  transitions: [
    path('a', 'b', { branch: 'yes' }),
    path('a', 'c'),
    path('w', 'x'),
    path('w', 'y', { waitOutcome: 'TIMEOUT' }),
  ],
};

describe('the path out of a step', () => {
  test('is the first in order whose branch is the result, or that has none', () => {
    expect(nextStep(graph, 'a', { branch: 'yes' })?.id).toBe('b');
    expect(nextStep(graph, 'a', { branch: 'no' })?.id).toBe('c');
    expect(nextStep(graph, 'b')).toBeNull();
  });

  test('of a wait is the one for its end, else the one for either', () => {
    expect(nextStep(graph, 'w', { waitOutcome: 'TIMEOUT' })?.id).toBe('y');
    expect(nextStep(graph, 'w', { waitOutcome: 'EVENT' })?.id).toBe('x');
  });
});

test('what a step leads to, and what leads back to it', () => {
  expect([...reachableFrom(graph.transitions, 'a')]).toEqual(['a', 'b', 'c']);
  expect(closesCycle(graph.transitions, 'b', 'a')).toBe(true);
  expect(closesCycle(graph.transitions, 'c', 'b')).toBe(false);
  expect(stepOnCycle(graph)).toBeNull();
  expect(stepOnCycle({ ...graph, transitions: [...graph.transitions, path('c', 'a')] })?.id).toBe('a');
});

test('a cycle is found in any graph that has one', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const anyPath = fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)).map(([from, to]) => path(from, to));
  // By its definition: as many steps in a row as there are, and one more.
  const leadsOn = (paths: ReturnType<typeof path>[], from: string[]) =>
    paths.filter(({ fromStepId }) => from.includes(fromStepId)).map(({ toStepId }) => toStepId);
  fc.assert(
    fc.property(fc.array(anyPath, { maxLength: 10 }), (paths) => {
      const hasCycle = ids.reduce((at) => leadsOn(paths, at), ids).length > 0;
      const found = stepOnCycle({ steps: ids.map((id) => step(id, 'CONDITION')), transitions: paths });
      expect(found !== null).toBe(hasCycle);
      if (found)
        expect(
          paths.some(({ fromStepId, toStepId }) => fromStepId === found.id && closesCycle(paths, found.id, toStepId)),
        ).toBe(true);
    }),
  );
});

test('runs begin at the trigger', () => {
  expect(triggerOf(graph)).toBeUndefined();
  expect(triggerOf({ steps: [...graph.steps, step('t', 'TRIGGER')] })?.id).toBe('t');
});
