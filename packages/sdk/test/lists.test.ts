import { expect, test } from 'vitest';
import { clientOf } from './service.ts';

const contacts = [
  { body: { data: [{ email: 'a' }, { email: 'b' }], cursor: 'second', hasMore: true, total: 3 } },
  { body: { data: [{ email: 'c' }], cursor: null, hasMore: false, total: 3 } },
];

test('a list that is awaited is its first page, which knows the next one', async () => {
  const { fernpost, asked } = clientOf(contacts);
  const page = await fernpost.contacts.list({ limit: 2 });
  expect([page.data, page.cursor, page.hasMore, page.total]).toEqual([
    [{ email: 'a' }, { email: 'b' }],
    'second',
    true,
    3,
  ]);
  expect([...page].map(({ email }) => email)).toEqual(['a', 'b']);
  const next = await page.nextPage();
  expect([next?.data, next?.cursor, next?.hasMore, await next?.nextPage()]).toEqual([
    [{ email: 'c' }],
    null,
    false,
    null,
  ]);
  expect(asked.map(({ url }) => url.search)).toEqual(['?limit=2', '?limit=2&cursor=second']);
});

test('a list that is iterated has every item, and asks for no page beyond the one where the loop ends', async () => {
  const { fernpost, asked } = clientOf(contacts);
  const emails: string[] = [];
  for await (const { email } of fernpost.contacts.list()) emails.push(email);
  expect(emails).toEqual(['a', 'b', 'c']);
  expect(asked).toHaveLength(2);
  const stopped = clientOf(contacts);
  for await (const _ of stopped.fernpost.contacts.list()) break;
  expect(stopped.asked).toHaveLength(1);
  expect(
    (await clientOf(contacts).fernpost.all('listContacts')) &&
      (await clientOf(contacts).fernpost.contacts.list().all()),
  ).toHaveLength(3);
});

test('a list has the headers of its first page, and goes on from a cursor that was kept', async () => {
  const { fernpost, asked } = clientOf([{ ...contacts[1], headers: { 'X-Request-ID': 'r' } }]);
  const { data: page, requestId } = await fernpost.contacts.list({ cursor: 'kept' }).withResponse();
  expect([page.data.length, requestId, asked[0]?.url.search]).toEqual([1, 'r', '?cursor=kept']);
});

test('lists of every shape are pages', async () => {
  const numbered = clientOf([
    { body: { data: [{ id: '1' }], page: 1, totalPages: 2, total: 2 } },
    { body: { data: [{ id: '2' }], page: 2, totalPages: 2, total: 2 } },
  ]);
  expect((await numbered.fernpost.templates.list().all()).map(({ id }) => id)).toEqual(['1', '2']);
  expect(numbered.asked[1]?.url.search).toBe('?page=2');
  const plain = clientOf([{ body: [{ id: 's-1' }] }]);
  const page = await plain.fernpost.segments.list();
  expect([page.data, page.hasMore, page.total, page.cursor]).toEqual([[{ id: 's-1' }], false, 1, null]);
  const events = clientOf([{ body: { events: [{ id: 'e-1' }] } }]);
  expect((await events.fernpost.events.list().all()).map(({ id }) => id)).toEqual(['e-1']);
  const kept = clientOf([
    { body: { emails: [{ id: 'm-1' }], nextCursor: 'x' } },
    { body: { emails: [], nextCursor: null } },
  ]);
  expect(await kept.fernpost.suppressions.listEmails().all()).toHaveLength(1);
  expect(kept.asked[1]?.url.search).toBe('?cursor=x');
});

test('a search has its cursor in its body', async () => {
  const { fernpost, asked } = clientOf(contacts);
  expect(await fernpost.contacts.search({ filter: { search: 'acme' } }).all()).toHaveLength(3);
  expect(asked.map(({ body }) => body)).toEqual([
    { filter: { search: 'acme' } },
    { filter: { search: 'acme' }, cursor: 'second' },
  ]);
});
