import { expect, test } from 'vitest';
import { graphProblem, sizeProblem } from '../src/paths.ts';
import { path, step } from './steps.ts';

test('a workflow has a largest size', () => {
  expect([sizeProblem(200, 1000), sizeProblem(201, 0), sizeProblem(1, 1001)]).toEqual([
    null,
    'A workflow has at most 200 steps',
    'A workflow has at most 1000 transitions',
  ]);
});

test('steps cannot be saved with paths that none of them may have, or in a cycle', () => {
  const steps = [step('c', 'CONDITION'), step('d', 'DELAY'), step('e', 'EXIT')];
  const problem = (...transitions: ReturnType<typeof path>[]) => graphProblem({ steps, transitions });
  expect(problem(path('c', 'd', { branch: 'yes' }), path('c', 'e', { branch: 'no' }), path('d', 'e'))).toBeNull();
  expect(problem(path('d', 'e'), path('d', 'c'))).toBe('Step "d" is a DELAY and already leads to another step');
  expect(problem(path('e', 'd'))).toBe('Step "e" is an EXIT: no step can follow it');
  expect(problem(path('d', 'd'))).toBe('Step "d" cannot lead to itself');
  expect(problem(path('c', 'd'), path('d', 'c'))).toBe('Step "c" leads back to itself');
  expect(problem(path('d', 'gone'))).toBe('A path leads to a step that is not there');
  expect(graphProblem({ steps: Array.from({ length: 201 }, (_, n) => step(`${n}`, 'EXIT')), transitions: [] })).toBe(
    'A workflow has at most 200 steps',
  );
});
