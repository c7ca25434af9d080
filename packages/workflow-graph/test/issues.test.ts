import { describe, expect, test } from 'vitest';
import { graphIssues } from '../src/paths.ts';
import { path, step } from './steps.ts';

type Graph = Parameters<typeof graphIssues<ReturnType<typeof step>>>[0];
const placesOf = (graph: Graph) => graphIssues(graph, () => []).map(({ stepId, field }) => `${stepId} ${field}`);

describe('what enabling refuses in a graph', () => {
  test('none, or two triggers', () => {
    expect(placesOf({ steps: [], transitions: [] })).toEqual(['null steps']);
    expect(placesOf({ steps: [step('a', 'TRIGGER'), step('b', 'TRIGGER')], transitions: [] })).toEqual(['null steps']);
  });

  test('a cycle, paths out of EXIT and into TRIGGER, and two paths out of a plain step', () => {
    const steps = [step('t', 'TRIGGER'), step('d', 'DELAY'), step('e', 'EXIT')];
    expect(placesOf({ steps, transitions: [path('t', 'd'), path('d', 't')] })).toEqual([
      't transitions',
      'd transitions',
    ]);
    expect(placesOf({ steps, transitions: [path('t', 'e'), path('e', 'd')] })).toEqual(['e transitions']);
    expect(placesOf({ steps, transitions: [path('t', 'e'), path('t', 'd')] })).toEqual(['t transitions']);
  });

  test('branches that a condition does not have, and a timeout where there is none', () => {
    const steps = [step('t', 'TRIGGER'), step('c', 'CONDITION'), step('w', 'WAIT_FOR_EVENT'), step('e', 'EXIT')];
    const transitions = [
      path('t', 'c'),
      path('c', 'w', { branch: 'maybe' }),
      path('c', 'e', { branch: 'no' }),
      path('w', 'e', { waitOutcome: 'TIMEOUT' }),
    ];
    expect(placesOf({ steps, transitions })).toEqual(['c transitions', 'w transitions']);
  });

  test('more than 200 steps', () => {
    const steps = [step('t', 'TRIGGER'), ...Array.from({ length: 200 }, (_, n) => step(`d${n}`, 'EXIT'))];
    expect(placesOf({ steps, transitions: [] })).toEqual(['null steps']);
  });

  test('what else is wrong with a step that a run can reach, by its name', () => {
    const steps = [step('t', 'TRIGGER'), step('d', 'DELAY'), step('lost', 'DELAY')];
    const problemsOf = ({ type }: { type: string }) =>
      type === 'DELAY' ? [{ field: 'config.amount', message: 'must be greater than 0' }] : [];
    expect(graphIssues({ steps, transitions: [path('t', 'd')] }, problemsOf)).toEqual([
      { stepId: 'd', field: 'config.amount', message: 'Step "d": must be greater than 0' },
    ]);
  });
});
