import { expect, test } from 'vitest';
import { missingAt, type Needed, stepIn } from '../../../dashboard/src/pages/campaigns/rules/steps.ts';

const content: Needed = {
  name: 'March news',
  subject: 'News',
  body: '<p>Hello</p>',
  document: null,
  from: 'news@acme.com',
  audience: { audienceType: 'ALL', segmentId: '', audienceCondition: null },
};
const filtered = (filters: object[]) => ({
  audienceType: 'FILTERED' as const,
  segmentId: '',
  audienceCondition: { logic: 'AND', groups: [{ filters }] } as never,
});

test('a whole campaign misses nothing at any step', () => {
  expect(missingAt(content)).toEqual({ content: [], audience: [], send: [] });
});

test('a new campaign names all that is missing where it is written', () => {
  const empty = { ...content, name: ' ', subject: '', from: '', body: ' ' };
  expect(missingAt(empty).content).toEqual([
    'Enter a name.',
    'Enter a from address.',
    'Enter a subject.',
    'Write the email.',
  ]);
});

test.each([
  ['a segment that is not chosen', { ...content.audience, audienceType: 'SEGMENT' as const }, ['Select a segment.']],
  ['conditions that are not begun', { ...filtered([]), audienceCondition: null }, ['Add a condition.']],
  ['a filter without its value', filtered([{ field: 'data.plan', operator: 'contains' }]), ['Enter a value.']],
  ['a whole filter', filtered([{ field: 'data.plan', operator: 'equals', value: 'pro' }]), []],
])('%s', (_, audience, missing) => {
  expect(missingAt({ ...content, audience }).audience).toEqual(missing);
});

test('an address that names no step opens the first', () => {
  expect([stepIn('send'), stepIn('else'), stepIn(undefined)]).toEqual(['send', 'content', 'content']);
  // As older mails about approvals link to it.
  expect(stepIn('review')).toBe('send');
});
