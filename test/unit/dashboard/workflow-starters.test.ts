import { EmailDocument } from '@fernpost/email-document';
import { graphIssues, segmentEvent, segmentSlug } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { eventOfKind, kindOf, segmentChoices } from '../../../dashboard/src/pages/workflows/graph/segment-trigger.ts';
import { starterGraph } from '../../../dashboard/src/pages/workflows/graph/starters/graph.ts';
import { starters } from '../../../dashboard/src/pages/workflows/graph/starters/starters.ts';
import { readStepConfig } from '../../../src/automations/graph/step-configs.ts';
import { memberEvent } from '../../../src/segments/pages.ts';

const trigger = { id: 'stored', name: 'Trigger: user.signup', config: { eventName: 'user.signup' } };

describe.each(starters.map((starter) => [starter.id, starter] as const))('the starter %s', (_, starter) => {
  // The form of the service's IDs.
  const templates = new Map(
    Object.keys(starter.emails).map((key, n) => [key, `00000000-0000-4000-8000-00000000000${n}`]),
  );
  const graph = starterGraph(starter, trigger, templates);

  test('can be enabled as it is: every path and every config is valid', () => {
    const problems = graphIssues(graph, (step) => readStepConfig(step.type, step.config).problems ?? []);
    expect(problems).toEqual([]);
    const known = new Set(graph.steps.map(({ id }) => id));
    expect(graph.transitions.filter((way) => !known.has(way.fromStepId) || !known.has(way.toStepId))).toEqual([]);
  });

  test('sends each of its emails, and no other', () => {
    const sent = graph.steps.flatMap(({ templateId }) => templateId ?? []);
    expect(sent.sort()).toEqual([...templates.values()].sort());
    for (const { document } of Object.values(starter.emails)) expect(v.is(EmailDocument, document)).toBe(true);
  });

  test('refers to no template where none was created', () => {
    const bare = starterGraph(starter, trigger, new Map());
    expect(bare.steps.filter(({ templateId, config }) => templateId !== null || 'templateId' in config)).toEqual([]);
  });
});

describe('segments as triggers', () => {
  test.each(['VIP Users!', '  Zwei   Worte ', 'Größe', '日本', 'a--b', '-x-', 'snake_case', ''])(
    'the events of “%s” have the names that the service emits',
    (name) => {
      const segment = { id: 'an-id', name };
      for (const kind of ['entry', 'exit'] as const)
        expect(segmentEvent(segmentSlug(segment), kind)).toBe(memberEvent(segment, kind).name);
    },
  );

  test('only tracked segments are offered, by name; those that share their events once', () => {
    const segment = (name: string, trackMembership: boolean) => ({
      id: name,
      name,
      type: 'DYNAMIC' as const,
      trackMembership,
    });
    const all = [segment('VIP!', true), segment('At risk', true), segment('VIP', true), segment('Old', false)];
    expect(segmentChoices(all)).toEqual({
      tracked: [
        { slug: 'at-risk', name: 'At risk' },
        { slug: 'vip', name: 'VIP!, VIP' },
      ],
      untracked: 1,
    });
  });

  test.each([
    ['', null, 'event'],
    ['', 'exit', 'exit'],
    ['segment.vip.exit', null, 'exit'],
    ['segment.vip.entry', 'exit', 'entry'],
    ['segment.vip.entry', 'event', 'event'],
    ['order.paid', 'entry', 'event'],
  ] as const)('the event “%s” with %s chosen is of kind %s', (eventName, chosen, kind) =>
    expect(kindOf(eventName, chosen)).toBe(kind),
  );

  test('a change of the kind keeps the segment, and nothing else', () => {
    expect(eventOfKind('segment.vip.entry', 'exit')).toBe('segment.vip.exit');
    expect(eventOfKind('segment.vip.entry', 'event')).toBe('');
    expect(eventOfKind('order.paid', 'entry')).toBe('');
    expect(eventOfKind('order.paid', 'event')).toBe('order.paid');
  });
});
