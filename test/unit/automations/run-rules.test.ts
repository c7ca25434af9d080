import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { delayMs } from '../../../src/automations/graph/step-configs.ts';
import { dateInstant, nextTime, occurrencesOf, zoneFor } from '../../../src/automations/graph/wait-until.ts';
import {
  evaluateStepCondition,
  fieldValue,
  mergeContext,
  type StepFacts,
} from '../../../src/automations/runtime/condition.ts';
import { type Directive, isShown, StepFailure } from '../../../src/automations/runtime/directive.ts';
import { firstWait } from '../../../src/automations/runtime/steps.ts';
import { parseIsoDate } from '../../../src/lib/conditions/dates.ts';
import type { JsonObjectValue, JsonValue } from '../../../src/lib/contact-data.ts';
import { wallInstant } from '../../../src/lib/time.ts';
import { aValue } from '../../db/conditions-population.ts';
import { inFull } from '../../support/long.ts';

const facts: StepFacts = {
  contact: {
    id: '0190f3a2-0000-7000-8000-000000000001',
    email: 'ingrid.dahl@example.com',
    subscribed: true,
    data: {
      plan: 'pro',
      seats: 12,
      seatsText: '12',
      address: { city: 'Oslo', 'postal.code': '0150' },
      'first.name': 'Ingrid',
      tags: ['heron', 'osprey'],
      trialEnd: '2026-03-01',
      nothing: null,
      blank: '',
    },
    createdAt: '2026-01-05T08:00:00.000Z',
    updatedAt: '2026-02-01T09:30:00.000Z',
  },
  context: { total: 620, items: [{ sku: 'B-1' }] },
};

describe('fields', () => {
  test.each<[string, JsonValue | undefined]>([
    ['contact.email', 'ingrid.dahl@example.com'],
    ['contact.subscribed', true],
    ['contact.id', facts.contact.id],
    ['contact.createdAt', '2026-01-05T08:00:00.000Z'],
    ['contact.updatedAt', '2026-02-01T09:30:00.000Z'],
    ['data.plan', 'pro'],
    ['contact.data.plan', 'pro'],
    ['data.address.city', 'Oslo'],
    ['data.first.name', 'Ingrid'],
    ['data.tags.1', 'osprey'],
    ['event.total', 620],
    ['workflow.total', 620],
    ['event.items.0.sku', 'B-1'],
    ['data.missing', undefined],
    ['data.plan.length', undefined],
    ['data.constructor', undefined],
    ['data.__proto__', undefined],
    ['contact.plan', undefined],
    ['contact.toString', undefined],
    ['plan', undefined],
    ['data', undefined],
    ['', undefined],
  ])('%s', (field, value) => {
    expect(fieldValue(field, facts)).toEqual(value);
  });

  test('a run without a context has no event fields', () => {
    expect(fieldValue('event.total', { ...facts, context: null })).toBeUndefined();
  });
});

describe('a condition of one comparison', () => {
  const isTrue = (field: string, operator: string, value?: JsonValue) => {
    const output = evaluateStepCondition({ field, operator, value }, facts);
    expect(output.branch).toBe('result' in output && output.result ? 'yes' : 'no');
    return 'result' in output && output.result;
  };

  test.each<[string, string, JsonValue | undefined, boolean]>([
    ['data.plan', 'equals', 'pro', true],
    ['data.plan', 'equals', 'Pro', false],
    ['data.seats', 'equals', 12, true],
    ['data.seats', 'equals', '12', false],
    ['contact.subscribed', 'equals', true, true],
    ['contact.subscribed', 'equals', 'true', false],
    ['data.tags', 'equals', ['heron', 'osprey'], true],
    ['data.missing', 'equals', null, true],
    ['data.missing', 'equals', undefined, true],
    ['data.nothing', 'equals', null, true],
    ['data.missing', 'equals', 'pro', false],
    ['data.blank', 'equals', null, false],
    ['data.plan', 'notEquals', 'free', true],
    ['data.seats', 'notEquals', '12', true],
    ['data.plan', 'notEquals', 'pro', false],
    ['data.missing', 'notEquals', 'pro', false],
    ['data.nothing', 'notEquals', 'pro', false],
    ['data.plan', 'contains', 'r', true],
    ['data.plan', 'contains', 'R', false],
    ['data.seats', 'contains', 2, true],
    ['data.tags', 'contains', 'osprey', true],
    ['data.missing', 'contains', 'x', false],
    ['data.plan', 'notContains', 'x', true],
    ['data.plan', 'notContains', 'pr', false],
    ['data.missing', 'notContains', 'x', false],
    ['data.seats', 'greaterThan', 11, true],
    ['data.seats', 'greaterThan', 12, false],
    ['data.seatsText', 'greaterThan', '9', true],
    ['data.seats', 'greaterThanOrEqual', 12, true],
    ['data.seats', 'lessThan', 13, true],
    ['data.seats', 'lessThanOrEqual', 11, false],
    ['data.plan', 'greaterThan', 1, false],
    ['data.plan', 'lessThan', 1, false],
    ['data.blank', 'lessThan', 1, false],
    ['data.missing', 'lessThan', 1, false],
    ['data.nothing', 'greaterThanOrEqual', 0, false],
    ['data.tags', 'greaterThan', 0, false],
    ['data.trialEnd', 'greaterThan', '2026-02-28T23:59:59Z', true],
    ['data.trialEnd', 'lessThan', '2026-02-28', false],
    ['contact.createdAt', 'lessThan', '2026-01-05T10:00:00+01:00', true],
    ['data.plan', 'exists', undefined, true],
    ['data.blank', 'exists', undefined, true],
    ['data.nothing', 'exists', undefined, false],
    ['data.missing', 'notExists', undefined, true],
    ['data.plan', 'notExists', undefined, false],
    ['contact.email', 'equals', 'Ingrid.Dahl@Example.com', true],
    ['contact.email', 'notEquals', 'INGRID.DAHL@EXAMPLE.COM', false],
    ['contact.email', 'contains', '@EXAMPLE.', true],
    ['contact.email', 'notContains', '@EXAMPLE.', false],
  ])('%s %s %j is %s', (field, operator, value, expected) => {
    expect(isTrue(field, operator, value)).toBe(expected);
  });

  test('says what it compared', () => {
    expect(evaluateStepCondition({ field: 'data.missing', operator: 'equals', value: 'pro' }, facts)).toEqual({
      field: 'data.missing',
      operator: 'equals',
      expectedValue: 'pro',
      actualValue: null,
      result: false,
      branch: 'no',
    });
  });

  test.each(['matches', 'toString', 'constructor', ''])('an unknown operator (%j) fails the step', (operator) => {
    expect(() => isTrue('data.plan', operator, 'x')).toThrow(StepFailure);
  });
});

/** The table of docs/contract/campaigns-and-workflows.md#3-3, read once more: when each operator holds of a value that is there. */
const table: Record<string, (actual: JsonValue, expected: JsonValue) => boolean> = {
  equals: (actual, expected) => sorted(actual) === sorted(expected),
  notEquals: (actual, expected) => sorted(actual) !== sorted(expected),
  contains: (actual, expected) => asText(actual).indexOf(asText(expected)) >= 0,
  notContains: (actual, expected) => asText(actual).indexOf(asText(expected)) < 0,
  greaterThan: (actual, expected) => difference(actual, expected) > 0,
  lessThan: (actual, expected) => difference(actual, expected) < 0,
  greaterThanOrEqual: (actual, expected) => difference(actual, expected) >= 0,
  lessThanOrEqual: (actual, expected) => difference(actual, expected) <= 0,
  exists: () => true,
  notExists: () => false,
};

/** JSON with the keys of objects in order: equal texts are equal values of equal types. */
function sorted(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${sorted(each)}`).join()}}`;
}

function asText(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(asText).join(',');
  if (typeof value === 'object') return value === null ? '' : JSON.stringify(value);
  return `${value}`;
}

// Infinity less infinity is no number, though neither is greater.
function difference(actual: JsonValue, expected: JsonValue): number {
  if (typeof actual === 'string' && typeof expected === 'string') {
    const [one, other] = [parseIsoDate(actual), parseIsoDate(expected)];
    if (one !== null && other !== null) return one - other;
  }
  const [left, right] = [asNumber(actual), asNumber(expected)];
  return left === right ? 0 : left - right;
}

function asNumber(value: JsonValue): number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /\S/.test(value) ? +value : Number.NaN;
}

const pairs = inFull(100_000, 5_000);

test(`${pairs.toLocaleString('en-US')} generated pairs are compared as the table of the contract says`, () => {
  // As Postgres has it: no number below zero is zero.
  const aJson = aValue.map((value): JsonValue => JSON.parse(JSON.stringify(value)));
  const operators = fc.constantFrom(...Object.keys(table));
  const seen = new Map<string, number>();
  const close = aJson.chain((value) => fc.tuple(fc.constant(value), fc.oneof(fc.constant(value), aJson)));
  fc.assert(
    fc.property(close, operators, fc.boolean(), ([actual, expected], operator, isMissing) => {
      const isThere = !isMissing && actual !== null;
      const data: JsonObjectValue = isMissing ? {} : { x: actual };
      const compared = { ...facts, contact: { ...facts.contact, data } };
      const output = evaluateStepCondition({ field: 'data.x', operator, value: expected }, compared);
      const ordering = /Than/.test(operator) && expected === null;
      const whenMissing = operator === 'notExists' || (operator === 'equals' && expected === null);
      const holds = isThere ? !ordering && table[operator]?.(actual, expected) : whenMissing;
      expect(output.branch).toBe(holds ? 'yes' : 'no');
      if (holds) seen.set(operator, (seen.get(operator) ?? 0) + 1);
    }),
    { numRuns: pairs },
  );
  expect([...seen.keys()].sort()).toEqual(Object.keys(table).sort());
});

describe('a condition of several branches', () => {
  const branches = [
    { id: 'big', operator: 'greaterThan', value: 500 },
    { id: 'any', operator: 'exists' },
  ];

  test('takes the first branch that matches', () => {
    expect(evaluateStepCondition({ mode: 'multi', field: 'event.total', branches }, facts)).toEqual({
      field: 'event.total',
      mode: 'multi',
      matchedBranch: 'big',
      actualValue: 620,
      branch: 'big',
    });
  });

  test('takes the default when none matches', () => {
    expect(evaluateStepCondition({ mode: 'multi', field: 'event.missing', branches }, facts)).toEqual({
      field: 'event.missing',
      mode: 'multi',
      matchedBranch: null,
      actualValue: null,
      branch: 'default',
    });
  });
});

test('an awaited event is merged shallowly into the context, newer keys win', () => {
  const before = { total: 620, items: [1, 2], from: 'trigger' };
  expect(mergeContext(before, { total: 5, items: [] })).toEqual({ total: 5, items: [], from: 'trigger' });
  expect(mergeContext(null, { total: 5 })).toEqual({ total: 5 });
  expect(mergeContext(before, null)).toEqual(before);
  expect(mergeContext(null, null)).toBeNull();
});

test('a delay is exact to the millisecond, fractions included, and a day has 24 hours', () => {
  expect(delayMs({ amount: 2, unit: 'days' })).toBe(172_800_000);
  expect(delayMs({ amount: 1.5, unit: 'hours' })).toBe(5_400_000);
  expect(delayMs({ amount: 0.05, unit: 'minutes' })).toBe(3_000);
});

describe('the first wait of a graph', () => {
  const at = '2026-03-02T10:00:00.000Z';
  // Steps one after the other, with more ways out of the last.
  const graphOf = (...steps: [string, object?][]) => ({
    steps: [['TRIGGER'], ...steps].map(([type, config = {}], place) => ({
      ...{ id: `${place}`, name: '', templateId: null },
      ...({ type, config } as { type: 'DELAY'; config: Record<string, unknown> }),
    })),
    transitions: steps.map((_, place) => ({
      ...{ id: '', fromStepId: `${place}`, toStepId: `${place + 1}` },
      ...{ branch: null, waitOutcome: null, priority: 0 },
    })),
  });
  const delay: [string, object] = ['DELAY', { amount: 2, unit: 'hours' }];
  const event = (config: object): [string, object] => ['WAIT_FOR_EVENT', { eventName: 'order.paid', ...config }];

  test.each<[string, Parameters<typeof graphOf>, ReturnType<typeof firstWait>]>([
    ['a delay', [delay, event({})], { waitingFor: 'timer', dueAt: '2026-03-02T12:00:00.000Z' }],
    ['an event', [event({ timeout: 60 })], { waitingFor: 'order.paid', dueAt: '2026-03-02T10:01:00.000Z' }],
    ['an event without an end', [event({})], { waitingFor: 'order.paid', dueAt: null }],
    [
      'one behind steps that take no time',
      [['SEND_EMAIL'], ['UPDATE_CONTACT'], delay],
      { waitingFor: 'timer', dueAt: '2026-03-02T12:00:00.000Z' },
    ],
    ['one behind a condition is not known', [['CONDITION'], delay], null],
    ['one that depends on the contact is not known', [['WAIT_UNTIL', { field: 'data.ends' }], delay], null],
    ['one that may be over already is not known', [event({ countsFrom: 'entry' })], null],
    ['a webhook is none', [['WEBHOOK'], delay], null],
    ['a delay that cannot be read is none', [['DELAY', { amount: -1 }]], null],
    ['a graph without a wait has none', [['EXIT']], null],
    ['a graph that ends has none', [['SEND_EMAIL']], null],
  ])('%s', (_, steps, expected) => {
    expect(firstWait(graphOf(...steps), at)).toEqual(expected);
  });

  test('is shown where the execution waits for that, but for a minute', () => {
    const common = { seq: 2, step: { id: '', type: '', name: '', since: at }, summary: '' };
    const sleep = (until: string): Directive => ({ next: 'sleep', until, ...common });
    const wait = (until: string | null): Directive => ({ next: 'wait', event: 'order.paid', until, ...common });
    const timer = { waitingFor: 'timer', dueAt: at };
    expect(isShown(sleep('2026-03-02T10:00:59.000Z'), timer)).toBe(true);
    expect(isShown(sleep('2026-03-02T10:01:01.000Z'), timer)).toBe(false);
    expect(isShown(wait(at), timer)).toBe(false);
    expect(isShown(wait(at), { waitingFor: 'order.paid', dueAt: at })).toBe(true);
    expect(isShown(wait(null), { waitingFor: 'order.paid', dueAt: at })).toBe(false);
    expect(isShown(wait(null), { waitingFor: 'order.paid', dueAt: null })).toBe(true);
    expect(isShown({ next: 'goOn', seq: 25 }, timer)).toBe(false);
  });
});

describe('a wait until a time', () => {
  const clocks = new Map<string, Intl.DateTimeFormat>();
  // The offset as the name of the zone says it, in milliseconds.
  const offsetOf = (zone: string, instant: number) => {
    const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    clocks.set(zone, clock);
    const name = clock.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = 0, minutes = 0] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name) ?? [];
    return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  };
  const day = 86_400_000;
  /** The first instants of other offsets in a year, to the minute. */
  const changesOf = (zone: string) => {
    const changes: number[] = [];
    for (let from = Date.UTC(2026, 0, 1); from < Date.UTC(2027, 0, 1); from += 20 * day) {
      let [low, high] = [from, from + 20 * day];
      if (offsetOf(zone, low) === offsetOf(zone, high)) continue;
      while (high - low > 60_000) {
        const middle = low + Math.floor((high - low) / 120_000) * 60_000;
        if (offsetOf(zone, middle) === offsetOf(zone, low)) low = middle;
        else high = middle;
      }
      changes.push(high);
    }
    return changes;
  };

  test('is right in all zones at both changes of clocks', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    let [gaps, overlaps] = [0, 0];
    for (const zone of zones) {
      const noon = Date.UTC(2026, 5, 15, 12);
      expect(wallInstant(noon, zone), zone).toBe(noon - offsetOf(zone, noon));
      for (const change of changesOf(zone)) {
        const [before, after] = [offsetOf(zone, change - 60_000), offsetOf(zone, change)];
        if (after > before) gaps += 1;
        else overlaps += 1;
        const place = `${zone} at ${new Date(change).toISOString()}`;
        // The last minute before, and the first one that is shown after.
        expect(wallInstant(change - 60_000 + before, zone), place).toBe(change - 60_000);
        const clear = Math.max(before, after);
        expect(wallInstant(change + clear, zone), place).toBe(change + clear - after);
        // What is left out is as much later; of what comes twice it is the first. Both are by the clock from before.
        for (const part of [0, 0.5]) {
          const wall =
            change + Math.min(before, after) + Math.floor((Math.abs(after - before) * part) / 60_000) * 60_000;
          expect(wallInstant(wall, zone), place).toBe(wall - before);
        }
      }
    }
    expect(zones.length).toBeGreaterThan(400);
    expect([gaps > 50, overlaps > 50]).toEqual([true, true]);
  });

  const at = (text: string) => Date.parse(text);
  const iso = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString());

  test('is the next time on one of the days, or now', () => {
    const next = (now: string, days?: number[], zone = 'Europe/Berlin') =>
      iso(nextTime({ time: '09:00', days }, zone, at(now)));
    expect(next('2026-11-27T08:00:00Z')).toBe('2026-11-27T08:00:00.000Z');
    expect(next('2026-11-27T08:00:00.001Z')).toBe('2026-11-28T08:00:00.000Z');
    // A Friday; the clocks of New York are a day behind those of Auckland.
    expect(next('2026-11-27T08:00:01Z', [1, 2, 3, 4, 5])).toBe('2026-11-30T08:00:00.000Z');
    expect(next('2026-11-27T12:00:00Z', [5], 'America/New_York')).toBe('2026-11-27T14:00:00.000Z');
    expect(next('2026-11-27T12:00:00Z', [5], 'Pacific/Auckland')).toBe('2026-12-03T20:00:00.000Z');
    expect(next('2026-03-28T12:00:00Z')).toBe('2026-03-29T07:00:00.000Z');
  });

  test('is the date of a contact with its offset, on days of the calendar', () => {
    const until = (value: JsonValue, config: object, zone = 'Europe/Berlin') =>
      iso(dateInstant(config as { offset?: string; at?: string }, value, zone));
    expect(until('2026-12-24', {})).toBe('2026-12-23T23:00:00.000Z');
    expect(until('2026-12-24', { offset: '-3d', at: '09:00' })).toBe('2026-12-21T08:00:00.000Z');
    expect(until('2026-12-24T22:30:00-05:00', { at: '09:00' })).toBe('2026-12-25T08:00:00.000Z');
    // The clocks change between the two days, hours pass all the same.
    expect(until('2026-03-30T10:00:00+02:00', { offset: '-1w' })).toBe('2026-03-23T09:00:00.000Z');
    expect(until('2026-03-30T10:00:00+02:00', { offset: '-168h' })).toBe('2026-03-23T08:00:00.000Z');
    for (const value of ['soon', '', 5, null, '2026-02-30', '9999-12-31'])
      expect(until(value, { offset: '52w' })).toBeNull();
  });

  test('comes each year from that of the date on, in all zones, February 29 on the 28th of other years', () => {
    const config = { every: 'year', at: '09:00' } as const;
    const days = (value: JsonValue, from: string, zone = 'UTC', more: object = {}, count = 3) => {
      const found: string[] = [];
      for (const one of occurrencesOf({ ...config, ...more }, value, zone, at(from)))
        if (found.push(`${one.day} ${iso(one.at)}`) === count) break;
      return found;
    };
    expect(days('1992-02-29', '2026-03-01T00:00:00Z')).toEqual([
      '2027-02-28 2027-02-28T09:00:00.000Z',
      '2028-02-29 2028-02-29T09:00:00.000Z',
      '2029-02-28 2029-02-28T09:00:00.000Z',
    ]);
    expect(days('2027-05-17', '2024-01-01T00:00:00Z')[0]).toBe('2027-05-17 2027-05-17T09:00:00.000Z');
    // An instant of its own is still to come; the offset may lead into another year.
    expect(days('1990-01-02', '2026-12-30T09:00:00Z', 'UTC', { offset: '-3d' })[0]).toBe(
      '2027-01-02 2026-12-30T09:00:00.000Z',
    );
    expect(days('1990-12-30', '2026-01-01T00:00:00Z', 'UTC', { offset: '365d' }, 1)).toEqual([
      '2025-12-30 2026-12-30T09:00:00.000Z',
    ]);
    expect(days('2026-05-17', '2026-05-17T09:00:00.001Z', 'UTC', { every: null })).toEqual([]);
    expect(days('2026-05-17T06:30:00Z', '2026-01-01T00:00:00Z', 'UTC', { every: null, at: null })).toEqual([
      '2026-05-17 2026-05-17T06:30:00.000Z',
    ]);
    for (const value of ['soon', '', 5, null, '2026-02-30']) expect(days(value, '2026-01-01T00:00:00Z')).toEqual([]);
    for (const zone of Intl.supportedValuesOf('timeZone'))
      for (const change of changesOf(zone)) {
        // A day whose clocks change: what is left out is as much later, and of what comes twice it is the first.
        const wall = new Date(change - 60_000 + offsetOf(zone, change - 60_000)).toISOString();
        const [day = '', clock = ''] = [wall.slice(0, 10), wall.slice(11, 16)];
        const [first] = occurrencesOf(
          { every: 'year', at: clock },
          `1990${day.slice(4)}`,
          zone,
          change - 2 * 86_400_000,
        );
        expect([first?.day, iso(first?.at ?? 0)], zone).toEqual([day, iso(change - 60_000)]);
      }
  });

  test('takes the zone of the contact, or the fallback where that is missing or invalid', () => {
    const config = { time: '09:00', zone: 'contact', fallback: 'Asia/Tokyo' };
    const zone = (timezone?: JsonValue) => zoneFor(config, timezone === undefined ? {} : { timezone });
    expect(zone('Europe/Berlin')).toEqual({ zone: 'Europe/Berlin', isInvalid: false });
    expect([zone(), zone(null), zone('')]).toEqual(Array(3).fill({ zone: 'Asia/Tokyo', isInvalid: false }));
    expect([zone('Berlin'), zone('+02:00'), zone(2)]).toEqual(Array(3).fill({ zone: 'Asia/Tokyo', isInvalid: true }));
    expect(zoneFor({ ...config, zone: 'UTC' }, { timezone: 'Berlin' })).toEqual({ zone: 'UTC', isInvalid: false });
  });
});
