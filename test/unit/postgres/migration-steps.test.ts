import { expect, test } from 'vitest';
import { type LargeTables, migrationSteps } from '../../../src/store/migration-steps.ts';

const large: LargeTables = new Map([
  ['contacts', { rows: 1_200_000, bytes: 2 ** 30 }],
  ['events', { rows: 60_000_000, bytes: 2 ** 34 }],
]);
const slowOf = (text: string) => migrationSteps([text], 0, large).map(({ slow }) => slow);

test.each([
  `update api_keys set scopes = array_append(scopes, 'contacts:erase') where not 'contacts:erase' = any (scopes)`,
  `update webhook_endpoints set events = events || '{contact.created}' where events && array['contacts', 'it''s events']`,
  `insert into retention_cursors (rule, through) values ('events', '')`,
  `update segments s set size = 0 -- counted again from contacts
   from projects p where p.id = s.project_id`,
  'insert into event_counts (project_id, name, day, events) select project_id, name, day, events from event_counts_old',
])('a text or a column that is called as a table is no work on the table: %s', (text) => {
  expect(slowOf(text)).toEqual([null]);
});

test.each([
  ['update contacts set data = data', '1,200,000 rows of contacts'],
  ['delete from only "contacts" where not subscribed', '1,200,000 rows of contacts'],
  ['insert into field_values select id from projects p, contacts as c where c.project_id = p.id', 'rows of contacts'],
  ['update emails e set at = v.at from contacts c join events v on v.contact_id = c.id', '60,000,000 rows of events'],
  ['with old as (select id from events) delete from visits using old where old.id = visits.id', 'rows of events'],
])('a statement is estimated by the largest table that it names: %s', (text, rows) => {
  expect(slowOf(text)).toEqual([
    { what: expect.stringContaining(rows), takes: expect.stringMatching(/^up to \d+ (s|min)$/) },
  ]);
});
