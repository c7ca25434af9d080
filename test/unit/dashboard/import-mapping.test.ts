import { expect, test } from 'vitest';
import { choicesOf } from '../../../dashboard/src/pages/contacts/import/rules/mapping.ts';

const subscriptions = (columns: string[], rows: string[][], fields: string[] = []) =>
  choicesOf({ columns, rows }, fields).flatMap(({ name, field }) => (field === 'subscribed' ? name : []));

test.each(['Newsletter', 'opt-in', 'Opt In', 'Subscribed', 'accepts_marketing'])(
  'a column “%s” of yes and no is taken for the subscription',
  (name) => {
    const rows = [
      ['ada@example.com', 'yes'],
      ['ben@example.com', ''],
      ['cleo@example.com', 'No'],
    ];
    expect(subscriptions(['Email', name], rows)).toEqual([name]);
  },
);

test('a column is not taken for the subscription if its cells say something else, it is a field, or another column is', () => {
  expect(subscriptions(['Email', 'Newsletter'], [['ada@example.com', 'weekly']])).toEqual([]);
  expect(subscriptions(['Email', 'Newsletter'], [['ada@example.com', '']])).toEqual([]);
  expect(subscriptions(['Email', 'Newsletter'], [['ada@example.com', 'yes']], ['data.newsletter'])).toEqual([]);
  expect(subscriptions(['Newsletter', 'Email', 'subscribed'], [['yes', 'ada@example.com', 'no']])).toEqual([
    'subscribed',
  ]);
  expect(subscriptions(['Newsletter', 'Email', 'opt-in'], [['yes', 'ada@example.com', 'no']])).toEqual(['Newsletter']);
});
