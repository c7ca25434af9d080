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

test('runs begin at the trigger', () => {
  expect(triggerOf(graph)).toBeUndefined();
  expect(triggerOf({ steps: [...graph.steps, step('t', 'TRIGGER')] })?.id).toBe('t');
});
