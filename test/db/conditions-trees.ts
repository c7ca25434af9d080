import fc from 'fast-check';
import {
  activities,
  aScalar,
  aText,
  aValue,
  dateTexts,
  edgeDates,
  eventNames,
  keys,
  links,
  nestedKeys,
  sources,
} from './conditions-population.ts';
import type { Row } from './conditions-rows.ts';

const equality = ['equals', 'notEquals'];
const ordering = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'];
const windows = ['within', 'olderThan', 'withinNext', 'anniversaryWithin'];
const happened = ['triggered', 'triggeredWithin', 'triggeredOlderThan', 'notTriggered', 'notTriggeredWithin'];

/** Every operator of every kind of field. */
export const operators = {
  email: [...equality, 'contains', 'notContains'],
  subscribed: equality,
  date: [...equality, ...ordering, ...windows],
  data: [...equality, ...ordering, 'contains', 'notContains', ...windows, 'exists', 'notExists'],
  event: happened,
  activity: happened,
  segment: ['memberOfSegment', 'notMemberOfSegment'],
};
export type Kind = keyof typeof operators;

const aWindow = {
  value: fc.constantFrom<unknown>(0, 1, '1', 0.5, 7, 30, '30.0', 400, 1 / 86_400_000, 1e300),
  unit: fc.constantFrom('days', 'hours', 'minutes'),
};

const aShortWindow = { value: fc.constantFrom<unknown>(0, 1, '1', 0.5, 7, 30, '30.0', 366), unit: aWindow.unit };

/** Filters with one operator, for the most part on fields and with values that some of the contacts have. */
export function aFilter(kind: Kind, operator: string, rows: Row[], segmentIds: string[]): fc.Arbitrary<unknown> {
  const target = aTarget(kind, operator, rows, segmentIds);
  const narrowing = aNarrowing(kind, operator, rows);
  if (!/within(Next)?$|olderThan$/i.test(operator))
    return fc.tuple(target, narrowing).map(([fieldAndValue, more]) => ({ operator, ...fieldAndValue, ...more }));
  const window = operator === 'anniversaryWithin' ? aShortWindow : aWindow;
  return fc
    .tuple(target, fc.record(window), narrowing)
    .map(([{ field }, given, more]) => ({ operator, field, ...given, ...more }));
}

/** What filters on events and mail may have besides: tests of data, numbers of times, sources of mail and links. */
function aNarrowing(kind: Kind, operator: string, rows: Row[]): fc.Arbitrary<Record<string, unknown>> {
  if (kind === 'event') {
    const test = fc
      .constantFrom(...equality, ...ordering, 'contains', 'notContains', 'exists', 'notExists')
      .chain((name) => aFilter('data', name, rows, []).map((filter) => ({ name, ...(filter as { field: string }) })))
      .chain(({ name, field, ...rest }) =>
        fc
          .constantFrom('plan', 'a', 'a.b', field.slice('data.'.length))
          .map((path) => ({ ...rest, path, operator: name })),
      );
    const where = { where: fc.oneof(fc.constant(undefined), fc.array(test, { minLength: 1, maxLength: 2 })) };
    if (operator !== 'triggered' && operator !== 'triggeredWithin') return fc.record(where);
    const times = fc
      .record({ atLeast: fc.constantFrom(0, 1, 2), more: fc.constantFrom(0, 1, 2), isOpen: fc.boolean() })
      .map(({ atLeast, more, isOpen }) => (isOpen && atLeast > 0 ? { atLeast } : { atLeast, atMost: atLeast + more }));
    return fc.record({ ...where, times: fc.option(times, { nil: undefined }) });
  }
  if (kind !== 'activity') return fc.constant({});
  const of = fc
    .constantFrom(...Object.entries(sources))
    .chain(([source, ids]) => fc.constantFrom(...ids).map((id) => ({ [source]: id.toUpperCase() })));
  return fc.oneof(
    fc.record({ of: fc.option(of, { nil: undefined }) }),
    fc.record({
      field: fc.constant('email.clicked'),
      link: fc.constantFrom(...links),
      of: fc.option(of, { nil: null }),
    }),
  );
}

/** Trees of up to four levels, most of them small, so that many match some contacts and not others. */
export function aTree(rows: Row[], segmentIds: string[]): fc.Arbitrary<unknown> {
  const filter = fc.oneof(
    ...Object.entries(operators).flatMap(([kind, names]) =>
      names.map((name) => aFilter(kind as Kind, name, rows, segmentIds)),
    ),
  );
  const flat = fc.record({ filters: fc.array(filter, { minLength: 1, maxLength: 3 }) });
  const joined = (group: fc.Arbitrary<unknown>) =>
    fc.record({ logic: fc.constantFrom('AND', 'OR'), groups: fc.array(group, { minLength: 1, maxLength: 3 }) });
  const deeper = (conditions: fc.Arbitrary<unknown>) =>
    joined(fc.oneof(flat, fc.record({ filters: fc.array(filter, { maxLength: 2 }), conditions })));
  return fc.oneof(joined(flat), deeper(joined(flat)), deeper(deeper(deeper(joined(flat)))));
}

/** A tree of one filter. */
export function leaf(filter: unknown): unknown {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}

type Target = { field: string; value?: unknown };

function aTarget(kind: Kind, operator: string, rows: Row[], segmentIds: string[]): fc.Arbitrary<Target> {
  const contact = fc.constantFrom(...rows.map(({ subject }) => subject.contact));
  const whole = equality.includes(operator);
  switch (kind) {
    case 'email': {
      const own = contact.map(({ email }) => (whole ? ` ${email.toUpperCase()} ` : email.slice(1, 6).toUpperCase()));
      const value = fc.oneof(own, fc.constantFrom('ANNA', '_', '%', '\\', 'o_n', 'EXAMPLE.C', "'", '\u212A', ''));
      return fc.record({ field: fc.constant('email'), value });
    }
    case 'subscribed':
      return fc.record({
        field: fc.constant('subscribed'),
        value: fc.constantFrom<unknown>(true, false, 'true', 'false'),
      });
    case 'date': {
      const own = contact.map(({ createdAt }) => createdAt.toISOString());
      const others = fc.constantFrom(...edgeDates, '2026-03-15 10:30', '15 Mar 2026 12:34:56.789 GMT', '0001-01-01');
      return fc.record({ field: fc.constantFrom('createdAt', 'updatedAt'), value: fc.oneof(own, others) });
    }
    case 'data': {
      const key = fc.constantFrom(...keys, ...nestedKeys);
      const value = whole ? aValue : /contains$/i.test(operator) ? fc.oneof(aText, aScalar) : aComparable;
      const stored = contact.chain(({ data }) => fc.constantFrom(...storedTargets(data, whole)));
      return fc.oneof(stored, fc.record({ field: key.map((name) => `data.${name}`), value }));
    }
    case 'event': {
      const prefixed = fc.constantFrom(...eventNames, 'never').map((name) => `event.${name}`);
      return fc.record({ field: fc.oneof(prefixed, fc.constantFrom('purchase', 'user.signup')) });
    }
    case 'activity': {
      const name = fc.constantFrom(...activities, 'open', 'delivery', 'click', 'bounce', 'complaint');
      return fc.record({ field: name.map((activity) => `email.${activity}`) });
    }
    case 'segment':
      return fc.record({ field: fc.constantFrom(...segmentIds).map((id) => `segment.${id}`) });
  }
}

const aComparable = fc.oneof(fc.constantFrom(...dateTexts), fc.constantFrom(...edgeDates), aScalar);

/** Fields that a contact has, with its own values: what a filter must ask for to match it, or just fail to. */
function storedTargets(data: Record<string, unknown>, anyJson: boolean): Target[] {
  const targets: Target[] = [{ field: 'data.plan', value: 'pro' }];
  for (const [key, value] of Object.entries(data)) {
    const inner = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
    for (const [path, each] of [
      [key, value] as const,
      ...inner.map(([name, item]) => [`${key}.${name}`, item] as const),
    ]) {
      const scalar = typeof each !== 'object';
      if (path !== '' && (anyJson || scalar)) targets.push({ field: `data.${path}`, value: each });
    }
  }
  return targets;
}
