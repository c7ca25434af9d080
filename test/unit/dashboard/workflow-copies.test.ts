import { stepsMarker } from '@fernpost/earlier-name';
import { describe, expect, test } from 'vitest';
import {
  copyText,
  pasteInto,
  pasteProblem,
  readCopy,
  withoutSteps,
} from '../../../dashboard/src/pages/workflows/graph/copies.ts';
import type { DraftStep, DraftWay, Graph } from '../../../dashboard/src/pages/workflows/graph/draft.ts';
import { stepSize } from '../../../dashboard/src/pages/workflows/graph/graph.ts';

const step = (id: string, type: DraftStep['type'], y: number, config: DraftStep['config'] = {}): DraftStep => ({
  id,
  type,
  name: id,
  position: { x: 0, y },
  config,
  templateId: null,
});
const way = (fromStepId: string, toStepId: string, branch: string | null = null): DraftWay => ({
  id: `${fromStepId}-${toStepId}`,
  fromStepId,
  toStepId,
  branch,
  waitOutcome: null,
  priority: 0,
});
/** trigger → ask → (yes) mail → end, (no) end. */
const graph: Graph = {
  steps: [
    step('trigger', 'TRIGGER', 0),
    step('ask', 'CONDITION', 200, { field: 'data.plan' }),
    step('mail', 'SEND_EMAIL', 400),
    step('end', 'EXIT', 600),
  ],
  transitions: [way('trigger', 'ask'), way('ask', 'mail', 'yes'), way('ask', 'end', 'no'), way('mail', 'end')],
};
const copied = (...ids: string[]) => readCopy(copyText(graph, ids) ?? '') as Graph;
const waysByName = ({ steps, transitions }: Graph) => {
  const name = (id: string) => steps.find((each) => each.id === id)?.name;
  return transitions.map(({ fromStepId, toStepId, branch }) => [name(fromStepId), name(toStepId), branch]);
};

describe('copies of steps', () => {
  test('have the paths among them and no others, and never the trigger', () => {
    expect(waysByName(copied('ask', 'mail', 'trigger'))).toEqual([['ask', 'mail', 'yes']]);
    expect(copied('ask', 'mail', 'trigger').steps.map(({ id }) => id)).toEqual(['ask', 'mail']);
    expect([copyText(graph, ['trigger']), copyText(graph, [])]).toEqual([null, null]);
  });

  test('of a split assign contacts by a key of their own', () => {
    const split = { steps: [step('halves', 'SPLIT', 0, { branches: [], key: 'first' })], transitions: [] };
    const { ids, change } = pasteInto(graph, split);
    expect(change(graph).steps.at(-1)?.config).toEqual({ branches: [], key: ids[0] });
  });

  test('are pasted with ids and names of their own, on no other step', () => {
    const { ids, change } = pasteInto(graph, copied('ask', 'mail'));
    const after = change(graph);
    expect(after.steps.map(({ name }) => name)).toEqual(['trigger', 'ask', 'mail', 'end', 'ask 2', 'mail 2']);
    expect(new Set(after.steps.map(({ id }) => id)).size).toBe(6);
    expect(waysByName(after).at(-1)).toEqual(['ask 2', 'mail 2', 'yes']);
    const again = pasteInto(after, copied('ask', 'mail')).change(after);
    for (const [n, one] of again.steps.entries())
      for (const other of again.steps.slice(n + 1))
        expect(
          Math.abs(one.position.x - other.position.x) >= stepSize.width ||
            Math.abs(one.position.y - other.position.y) >= stepSize.height,
        ).toBe(true);
    expect(again.steps.at(-1)?.name).toBe('mail 3');
    expect(ids).toHaveLength(2);
  });

  test('are not pasted where the service would refuse them', () => {
    expect(pasteProblem(graph, copied('ask', 'mail', 'end'))).toBeNull();
    const full = { ...graph, steps: Array.from({ length: 199 }, (_, n) => step(`${n}`, 'DELAY', n)) };
    expect(pasteProblem(full, copied('mail', 'end'))).toBe('A workflow has at most 200 steps');
    const twoPaths = copied('ask', 'mail', 'end');
    twoPaths.transitions.push(way('mail', 'ask'));
    expect(pasteProblem(graph, twoPaths)).toBe('Step "mail" is a SEND_EMAIL and already leads to another step');
  });

  test('of a name as long as names may be keep that length', () => {
    const long = {
      ...graph,
      steps: graph.steps.map((each) => ({ ...each, name: `${each.id}${'x'.repeat(240)}`.padEnd(255, 'y') })),
    };
    const pasted = pasteInto(long, readCopy(copyText(long, ['mail']) ?? '') as Graph).change(long);
    expect(pasted.steps.at(-1)?.name).toHaveLength(255);
    expect(new Set(pasted.steps.map(({ name }) => name)).size).toBe(5);
  });

  test('are read from nothing but a whole copy', () => {
    const text = copyText(graph, ['ask', 'mail']) as string;
    const damaged = (change: (value: Record<string, unknown>, step: Record<string, unknown>) => void) => {
      const value = JSON.parse(text) as Record<string, unknown>;
      change(value, (value.steps as Record<string, unknown>[])[0] as Record<string, unknown>);
      return readCopy(JSON.stringify(value));
    };
    expect(readCopy(text)?.steps).toHaveLength(2);
    expect(readCopy(JSON.stringify({ ...JSON.parse(text), type: stepsMarker }))?.steps).toHaveLength(2);
    expect([readCopy(''), readCopy('null'), readCopy('hello'), readCopy('[]'), readCopy('{"steps":[]}')]).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
    const damages: Parameters<typeof damaged>[0][] = [
      (value) => {
        value.version = 2;
      },
      (value) => {
        value.steps = [];
      },
      (value) => {
        value.steps = Array.from({ length: 201 }, (_, n) => ({ ...step(`s${n}`, 'DELAY', n) }));
      },
      (value) => {
        value.transitions = [way('ask', 'elsewhere')];
      },
      (value) => {
        value.transitions = 'none';
      },
      (_, first) => {
        first.type = 'TRIGGER';
      },
      (_, first) => {
        first.type = 'toString';
      },
      (_, first) => {
        first.position = { x: '1', y: 2 };
      },
      (_, first) => {
        first.config = [];
      },
      (_, first) => {
        first.name = 'x'.repeat(256);
      },
      (_, first) => {
        first.templateId = 7;
      },
      (_, first) => {
        first.note = 'x'.repeat(2001);
      },
      (_, first) => {
        first.id = 'mail';
      },
    ];
    expect(damages.map(damaged)).toEqual(damages.map(() => null));
  });
});

test('steps that go leave what led to them leading on, but for branches', () => {
  const straight = withoutSteps(graph, ['mail']);
  expect(waysByName(straight)).toEqual([
    ['trigger', 'ask', null],
    ['ask', 'end', 'yes'],
    ['ask', 'end', 'no'],
  ]);
  expect(waysByName(withoutSteps(graph, ['ask', 'trigger']))).toEqual([['mail', 'end', null]]);
  expect(withoutSteps(graph, ['trigger'])).toBe(graph);
});
