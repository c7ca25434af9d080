import { describe, expect, test } from 'vitest';
import type { Step } from '../../../dashboard/src/pages/workflows/graph/shapes.ts';
import {
  comparisonsOf,
  firstAsked,
  isWhole,
  liveVersion,
  requestOf,
  whoseText,
} from '../../../dashboard/src/pages/workflows/graph/simulation/asked.ts';
import {
  type BothCounts,
  collisionTexts,
  mailDays,
  partDetail,
  partText,
  rowsOf,
  type SideCounts,
  type StepCounts,
  withCounts,
} from '../../../dashboard/src/pages/workflows/graph/simulation/counts.ts';

const now = Date.parse('2026-11-29T12:00:00Z');
const graph = { steps: [], transitions: [] };

describe('what is asked of a simulation', () => {
  test('is compared with the version that most new contacts get, else with the newest', () => {
    const version = (number: number, share: number) => ({ version: number, share });
    expect(liveVersion([version(3, 10), version(2, 90), version(1, 0)])?.version).toBe(2);
    expect(liveVersion([version(2, 0), version(1, 0)])?.version).toBe(2);
    expect(liveVersion([])).toBeNull();
  });

  test('offers only what can be compared: without an event nobody knows who would have entered', () => {
    expect(comparisonsOf('month', true, true)).toEqual(['live', 'actual', 'check', 'none']);
    expect(comparisonsOf('month', true, false)).toEqual(['actual', 'check', 'none']);
    expect(comparisonsOf('month', false, true)).toEqual(['actual', 'check']);
    expect(comparisonsOf('segment', false, true)).toEqual(['live', 'actual', 'check', 'none']);
    expect([firstAsked(true, true).compare, firstAsked(false, true).compare]).toEqual(['live', 'actual']);
  });

  test('is the graph as it stands over the last thirty days, or over a segment or contacts', () => {
    const month = { event: { from: '2026-10-30T12:00:00.000Z', until: '2026-11-29T12:00:00.000Z' } };
    const asked = firstAsked(true, true);
    const rest = { horizon: '30d', most: 10_000, futures: 'recorded' };
    expect(requestOf(asked, graph, 4, now)).toEqual({ over: month, graph, compareWith: 4, ...rest });
    expect(requestOf({ ...asked, compare: 'none' }, graph, 4, now)).toEqual({ over: month, graph, ...rest });
    // Each run is repeated in its own version.
    const check = requestOf({ ...asked, compare: 'check' }, graph, 4, now);
    expect(check).toEqual({ over: month, compareWith: 'actual', ...rest });
    const segment = requestOf({ ...asked, whom: 'segment', segmentId: 's' }, graph, null, now);
    expect(segment).toEqual({ over: { segmentId: 's' }, graph, ...rest });
    const contacts = new Map([['c', 'ada@kunde.example']]);
    expect(requestOf({ ...asked, whom: 'contacts', contacts }, graph, 4, now).over).toEqual({ contactIds: ['c'] });
    expect([isWhole({ ...asked, whom: 'segment' }), isWhole({ ...asked, whom: 'contacts', contacts })]).toEqual([
      false,
      true,
    ]);
  });
});

test('the figures of a simulation say over what time and of whom', () => {
  const asked = firstAsked(true, true);
  const live = { version: 4, share: 100 };
  const text = (more: object, version = live) => whoseText({ ...asked, ...more }, 'email.click', version, now);
  expect(text({})).toBe(
    'Contacts with the event Email clicked from Oct 30, 2026 to Nov 29, 2026, each run followed for up to 30 days, beside live version 4.',
  );
  expect(text({ compare: 'actual', horizonDays: 7 })).toBe(
    'Finished runs that started from Oct 30, 2026 to Nov 29, 2026, each followed for up to 7 days.',
  );
  const segment = { whom: 'segment', segmentId: 's', segmentName: 'Pros' };
  expect(text(segment, { version: 2, share: 0 })).toBe(
    'Contacts in the segment “Pros”, each run followed for up to 30 days, beside version 2.',
  );
  const contacts = new Map([['c', 'ada@kunde.example']]);
  expect(text({ whom: 'contacts', contacts, compare: 'none' })).toBe(
    'The chosen contact, each run followed for up to 30 days.',
  );
});

const stepCounts = (stepId: string, reached: number, paths: Record<string, number>, more: Partial<StepCounts> = {}) =>
  ({ stepId, name: stepId, type: 'CONDITION', reached, inside: 0, failed: 0, paths, ...more }) as StepCounts;
const counts = (executions: number, steps: StepCounts[], days: Record<string, number> = {}): SideCounts => ({
  executions,
  steps,
  mails: { byDay: Object.entries(days).map(([day, number]) => ({ day, count: number })) },
  collisions: {
    within24Hours: { mails: 1, contacts: 1 },
    afterGoal: { mails: 0, contacts: 0 },
    quietHours: { mails: 0, contacts: 0 },
  },
});
const result: BothCounts = {
  ...counts(20, [stepCounts('plan', 20, { yes: 12, no: 7, 'exit:bought': 1 }), stepCounts('new', 12, { next: 12 })], {
    '2026-11-02': 3,
    '2026-11-04': 5,
  }),
  comparison: {
    counts: {
      ...counts(18, [stepCounts('plan', 18, { yes: 9, no: 9 }), stepCounts('old', 9, {}, { inside: 2, failed: 1 })], {
        '2026-11-01': 4,
        '2026-11-02': 4,
      }),
      collisions: {
        within24Hours: { mails: 3, contacts: 2 },
        afterGoal: { mails: 1, contacts: 1 },
        quietHours: { mails: 0, contacts: 0 },
      },
    },
  },
};
const sides = { here: 'Draft', there: 'Version 3' };
const known = (id: string, type: Step['type'], config: Record<string, unknown>) => [id, { id, type, config }] as const;
const steps = new Map([
  known('trigger', 'TRIGGER', { exits: [{ id: 'bought', reason: 'bought something' }] }),
  known('plan', 'CONDITION', { field: 'data.plan' }),
]);

describe('the counts of a simulation', () => {
  test('stand beside those of the other side at each step and path, also of steps that only one side has', () => {
    const rows = rowsOf(result, steps).map(({ step, path, here, there }) => [
      step.name,
      path,
      partText(here),
      partText(there),
    ]);
    expect(rows).toEqual([
      ['plan', null, '20 (100%)', '18 (100%)'],
      ['plan', 'yes', '12 (60%)', '9 (50%)'],
      ['plan', 'no', '7 (35%)', '9 (50%)'],
      ['plan', 'Left: bought something', '1 (5%)', '0'],
      ['new', null, '12 (60%)', '–'],
      ['old', null, '–', '9 (50%)'],
    ]);
    expect(partDetail(rowsOf(result, steps).at(-1)?.there ?? null)).toBe('2 still there, 1 failed');
  });

  test('say days and collisions of both sides', () => {
    expect(mailDays(result)).toEqual([
      { day: '2026-11-01', here: 0, there: 4 },
      { day: '2026-11-02', here: 3, there: 4 },
      { day: '2026-11-04', here: 5, there: 0 },
    ]);
    expect(mailDays({ ...result, comparison: null }).map(({ there }) => there)).toEqual([null, null]);
    expect(collisionTexts(result, sides)).toEqual([
      '1 email to 1 contact within 24 hours of another email of this workflow (version 3: 3 to 2)',
      '0 emails to 0 contacts after the contact had reached the goal (version 3: 1 to 1)',
    ]);
  });

  test('take the place of contacts on the canvas', () => {
    const position = { x: 0, y: 0 };
    const shown = (id: string) => ({ step: { id, type: 'CONDITION' as const, name: id, position, config: {} } });
    const way = (id: string, fromStepId: string, branch: string | null) => ({
      ...{ id, fromStepId, toStepId: 'x', branch, waitOutcome: null, label: branch ?? '' },
    });
    const drawing = {
      steps: [shown('plan'), shown('new'), shown('elsewhere')],
      ways: [way('1', 'plan', 'yes'), way('2', 'plan', 'no'), way('3', 'new', null), way('4', 'elsewhere', null)],
    };
    const drawn = withCounts(drawing, result, sides);
    expect(drawn.steps.map(({ trace }) => trace)).toEqual(['Draft 20 · version 3 18', 'Draft 12', undefined]);
    expect(drawn.ways.map(({ figures }) => figures?.text)).toEqual([
      '12 · version 3 9',
      '7 · version 3 9',
      '12',
      undefined,
    ]);
    expect(drawn.ways[0]?.figures?.words).toBe(
      'Draft: 12 of 20 runs that reached the step took this path (60%). Version 3: 9 of 18 runs (50%).',
    );
  });
});
