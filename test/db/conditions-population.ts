import fc from 'fast-check';
import type { Subject } from '../unit/conditions/evaluate-condition.ts';

/** The instant that every window in these tests counts back from. */
export const now = new Date('2026-03-15T12:34:56.789Z');

/** Keys of contact data, with everything that has a meaning somewhere between here and Postgres. */
export const keys = [
  'plan',
  'a',
  'a.b',
  'a.b.c',
  'a b',
  `quo"te`,
  `o'clock`,
  'back\\slash',
  '100%',
  '_',
  'größe',
  '😀',
];
export const nestedKeys = ['a.b', 'a..b', 'plan.b', 'plan.b.c', `quo"te.b`, 'größe.y', 'plan.0', 'missing', 'a.b.c'];
const rareKeys = ['$', '@', '0', '', 'null', 'a..b', 'x.y'];

/** Text that looks like something else, or that differs from its neighbour in one respect only. */
const texts = [
  'pro',
  'Pro',
  'pro ',
  'prototype',
  '',
  ' ',
  '5',
  '5.0',
  '05',
  'true',
  'null',
  '%',
  '_',
  '50%',
  '5_0',
  '\\',
  "'",
  '"',
  "'; drop table contacts --",
  '$1',
  '?',
  '{"a":1}',
  'a\nb',
  'é',
  'e\u0301',
  '\uE000',
  '\uFFFD',
  '😀',
  '\u{10FFFF}',
  'z',
  'Z',
  // Longer than a page of Postgres.
  'prototype '.repeat(1_000),
];

/** Dates at the edges of days, of the calendar and of what counts as a date at all. */
export const dateTexts = [
  '2026-03-15',
  '2026-03-14',
  '2026-03-16',
  '2026-03-15T00:00:00.000Z',
  '2026-03-14T23:59:59.999Z',
  '2026-03-15T23:59:59.999Z',
  '2026-03-16T00:00:00Z',
  '2026-03-15T10:30',
  '2026-03-15T10:30:00',
  '2026-03-15T10:30:00.5',
  '2026-03-15T10:30Z',
  '2026-03-15T12:34:56.789Z',
  '2026-03-15T12:34:56.788999999Z',
  '2026-03-15T23:59:59.9999999Z',
  '2026-03-15T12:34:56.7891+00:00',
  '2026-03-15T01:00:00+02:00',
  '2026-03-14T23:00:00-02:00',
  '2026-03-16T10:00:00+14:00',
  '2026-03-14T12:00:00-14:59',
  '2026-02-28',
  '2024-02-29',
  '2000-02-29T12:00Z',
  '0001-01-01',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31',
  '9999-12-31T23:59:59-14:00',
  '2026-02-29',
  '1900-02-29',
  '2026-13-45',
  '2026-00-10',
  '2026-04-31',
  '0000-01-01',
  '2026-03-15T24:00',
  '2026-03-15T10:60',
  '2026-03-15T10:30:61',
  '2026-03-15T10:30+15:00',
  '2026-03-15T10',
  '2026-03-15 10:30',
  '2026-03-15Z',
  '2026-03-15\n',
  ' 2026-03-15',
  '20260315',
  '2026-3-5',
  '٢٠٢٦-٠٣-١٥',
  '2026-03-15T10:30:00.',
  '2026-03-15T10:30:00z',
  '12026-03-15',
  'tomorrow',
];

/** Dates on either side of a day's edge, most of them written in another zone. */
export const edgeDates = [
  '2026-03-15',
  '2026-03-14T23:00:00-02:00',
  '2026-03-16T01:00:00+02:00',
  '2026-03-15T01:00:00+02:00',
  '2026-03-15T23:00:00-02:00',
  '2026-03-16T10:00:00.5+14:00',
  '1990-03-15',
  '2025-03-21T23:30:00-02:00',
];

const numbers = [
  0,
  -0,
  5,
  -5,
  5.5,
  0.1,
  0.30000000000000004,
  1e21,
  1e-7,
  5e-324,
  Number.MAX_VALUE,
  2 ** 53,
  2 ** 53 - 1,
  42,
];

const day = 86_400_000;
// Those of 360 and 365 days ago have an anniversary in the next days.
const instants = [0, 1, 60_000, 3_600_000, day, 7 * day, 30 * day, 360 * day, 365 * day, 400 * day]
  .flatMap((ago) => [-1, 0, 1].map((shift) => now.getTime() - ago + shift))
  .concat(['2026-03-15', '2026-03-16', '2026-03-14'].flatMap((text) => [Date.parse(text), Date.parse(text) - 1]))
  .concat(
    ['2024-02-29', '2024-02-29T23:59:59.999Z', '2023-02-28T12:00Z', '2025-03-01'].map((text) => Date.parse(text)),
  );

/** Instants at the edges of the windows and days that the filters use. */
const anInstant = fc.constantFrom(...instants).map((instant) => new Date(instant));

/** Text and other scalars as contacts have them. */
export const aText = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(...dateTexts),
  fc.constantFrom(...edgeDates),
  anInstant.map((instant) => instant.toISOString()),
  fc.string({ unit: 'grapheme', maxLength: 4 }).filter((text) => !text.includes('\0')),
);
const aNumber = fc.oneof(fc.constantFrom(...numbers), fc.double({ noNaN: true, noDefaultInfinity: true }));
export const aScalar = fc.oneof({ weight: 4, arbitrary: aText }, { weight: 2, arbitrary: aNumber }, fc.boolean());

const aKey = fc.constantFrom(...keys, ...rareKeys);
const aSmallValue = fc.oneof(fc.constantFrom<unknown>('pro', 5, true, null, '2026-03-15'), aScalar);

/** Data in which a dotted key and the path of the same name compete. */
const aConflict = fc.record({ 'a.b': aSmallValue, a: fc.record({ b: aSmallValue }) }, { requiredKeys: [] });

/** Any JSON that may stand in a contact's data, nested values included. */
export const aValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: aScalar },
  fc.constant(null),
  fc.array(aSmallValue, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('b', 'c', '', 'y'), aSmallValue, { maxKeys: 2 }),
  aSmallValue.map((value) => ({ b: value })),
  aSmallValue.map((value) => ({ b: { c: value } })),
  aSmallValue.map((value) => [{ b: value }]),
  aSmallValue.map((value) => ({ '': { b: value } })),
);

/** Addresses as they are stored: lower-case. Some hold the wildcards of LIKE, which the address format may allow one day. */
const anEmail = fc
  .tuple(
    fc.constantFrom('anna', 'o_neil', 'oaneil', '100%', 'jo+news', "d'arcy", 'back\\slash', 'x'),
    fc.nat(9),
    fc.constantFrom('@example.com', '@kunde.example', '@example.co.example'),
  )
  .map((parts) => parts.join(''));

export const eventNames = ['purchase', 'user.signup', 'email.open', `it's "quoted"`, 'größe', 'contact.subscribed'];
export const activities = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const;

/** Sources that mail of the population comes from, and links that are clicked in it. */
export const sources = {
  stepId: ['50000000-0000-4000-8000-000000000001', '50000000-0000-4000-8000-000000000002'],
  campaignId: ['60000000-0000-4000-8000-000000000001', '60000000-0000-4000-8000-000000000002'],
  templateId: ['70000000-0000-4000-8000-000000000001', '70000000-0000-4000-8000-000000000002'],
} as const;
export const links = ['https://fernpost.example/a', "https://fernpost.example/it's?x=%"];

const aSource = (ids: readonly string[]) => fc.option(fc.constantFrom(...ids), { freq: 3 });
const aStamp = fc.option(anInstant, { freq: 3 });
const anEmailRow: fc.Arbitrary<Subject['emails'][number]> = fc.record({
  sentAt: aStamp,
  deliveredAt: aStamp,
  openedAt: aStamp,
  clickedAt: aStamp,
  bouncedAt: aStamp,
  complainedAt: aStamp,
  stepId: aSource(sources.stepId),
  campaignId: aSource(sources.campaignId),
  templateId: aSource(sources.templateId),
  clicks: fc.array(fc.record({ link: fc.constantFrom(...links), at: anInstant }), { maxLength: 2 }),
});

/** Data of an event. What is not to be kept stands for its value. */
const eventData = fc.option(
  fc.dictionary(
    fc.constantFrom('plan', 'a', 'a.b'),
    fc.oneof(
      aValue,
      aSmallValue.map((value) => ({ value, persistent: false })),
      aSmallValue.map((value) => ({ value, persistent: true })),
    ),
    { maxKeys: 3, noNullPrototype: true },
  ),
);

/** A contact with its events, emails and memberships among `segmentIds`. */
export function aSubject(segmentIds: string[]): fc.Arbitrary<Subject> {
  return fc.record({
    contact: fc.record({
      email: anEmail,
      subscribed: fc.boolean(),
      data: fc
        .tuple(fc.dictionary(aKey, aValue, { maxKeys: 8, noNullPrototype: true }), fc.option(aConflict, { nil: {} }))
        .map(([data, conflict]) => ({ ...data, ...conflict })),
      createdAt: anInstant,
      updatedAt: anInstant,
    }),
    events: fc.array(
      fc.record({ name: fc.constantFrom('purchase', ...eventNames), createdAt: anInstant, data: eventData }),
      { maxLength: 6 },
    ),
    emails: fc.array(anEmailRow, { maxLength: 2 }),
    memberships: fc.subarray(segmentIds).map((ids) => new Set(ids)),
  });
}
