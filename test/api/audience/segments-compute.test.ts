import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses, allOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: SegmentHand;
let other: SegmentHand;
const people = addresses(400);

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  own = segmentHand(api, database, project);
  other = segmentHand(api, database, await aProject(database, 'Umbrella'));
});
afterAll(async () => {
  await api.close();
  await database.close();
});

// Each test has a key of contact data and people of its own, so that tests do not count each other's contacts.
let next = 0;
async function group(size: number, values: (index: number) => unknown = () => true) {
  const key = `group${next}`;
  const emails = people.slice(next, next + size);
  next += size;
  for (const [index, email] of emails.entries()) await own.contact(email, { [key]: values(index) });
  return { key, emails };
}
const compute = async (id: string) => (await own.call('POST', `/segments/${id}/compute`)).body;

describe('computing', () => {
  test('entries and exits are written, told and counted', async () => {
    const { key, emails } = await group(4, (index) => (index < 3 ? 'pro' : 'free'));
    const [one = '', two = '', three = '', four = ''] = emails;
    const { id } = await own.segment({
      name: ' VIP  Users! ',
      condition: allOf(dataIs(key, 'pro')),
      trackMembership: true,
    });
    expect(await compute(id)).toEqual({ added: 3, removed: 0, total: 3 });
    expect(await compute(id)).toEqual({ added: 0, removed: 0, total: 3 });
    await own.contact(one, { [key]: 'free' });
    await own.contact(four, { [key]: 'pro' });
    expect(await compute(id)).toEqual({ added: 1, removed: 1, total: 3 });
    await own.contact(one, { [key]: 'pro' });
    expect(await compute(id)).toEqual({ added: 1, removed: 0, total: 4 });
    expect(await own.memberCount(id)).toBe(4);
    expect(await own.members(id)).toEqual([...emails].sort());
    const entry = (email: string) => `segment.vip-users.entry ${email}`;
    expect(await own.told(id)).toEqual([
      ...[one, two, three].map(entry).sort(),
      entry(four),
      `segment.vip-users.exit ${one}`,
      entry(one),
    ]);
    const payload = await database.db.row(`select distinct data from events where data ->> 'segmentId' = $1`, [id]);
    expect(payload).toEqual({ data: { segmentId: id, segmentName: ' VIP  Users! ' } });
  });

  test('eight computes at once tell of each change once', async () => {
    const { key, emails } = await group(20, () => 'pro');
    const { id } = await own.segment({ name: 'Twins', condition: allOf(dataIs(key, 'pro')), trackMembership: true });
    const atOnce = async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => compute(id)));
      return answers.reduce(
        (sum, { added, removed }) => ({ added: sum.added + added, removed: sum.removed + removed }),
        {
          added: 0,
          removed: 0,
        },
      );
    };
    expect(await atOnce()).toEqual({ added: 20, removed: 0 });
    for (const email of emails.slice(0, 5)) await own.contact(email, { [key]: null });
    expect(await atOnce()).toEqual({ added: 0, removed: 5 });
    expect(await own.told(id)).toHaveLength(25);
  });

  test('all contacts may match, and none', async () => {
    const everybody = allOf({ field: 'email', operator: 'contains', value: '@' });
    const { id } = await own.segment({ condition: everybody, trackMembership: true });
    const row = await database.db.row<{ n: number }>('select count(*)::int as n from contacts where project_id = $1', [
      project.id,
    ]);
    const all = row?.n ?? 0;
    expect(all).toBeGreaterThan(20);
    expect(await compute(id)).toEqual({ added: all, removed: 0, total: all });
    await own.call('PATCH', `/segments/${id}`, { condition: allOf(dataIs('nothing', 'such')) });
    expect(await compute(id)).toEqual({ added: 0, removed: all, total: 0 });
  });

  test('turning tracking on tells of every match at the next compute; turning it off keeps members and tells nothing', async () => {
    const { key, emails } = await group(3);
    const { id } = await own.segment({ condition: allOf(dataIs(key, true)) });
    const refused = await own.call('POST', `/segments/${id}/compute`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    await own.call('PATCH', `/segments/${id}`, { trackMembership: true });
    expect(await own.told(id)).toEqual([]);
    expect(await compute(id)).toEqual({ added: 3, removed: 0, total: 3 });
    await own.call('PATCH', `/segments/${id}`, { trackMembership: false });
    expect(await own.members(id)).toEqual([...emails].sort());
    expect(await own.told(id)).toHaveLength(3);
    expect((await own.call('POST', `/segments/${id}/compute`)).status).toBe(400);
  });

  test('a static segment has nothing to compute', async () => {
    const { emails } = await group(2);
    const { id } = await own.segment({ type: 'STATIC', trackMembership: true });
    await own.call('POST', `/segments/${id}/members`, { emails });
    const told = await own.told(id);
    expect(await compute(id)).toEqual({ added: 0, removed: 0, total: 2 });
    expect(await own.told(id)).toEqual(told);
  });

  test('unknown and foreign segments are a 404', async () => {
    const foreign = await other.segment({ type: 'STATIC', trackMembership: true });
    for (const id of [randomUUID(), 'nonsense', foreign.id])
      for (const action of ['compute', 'refresh'])
        expect((await own.call('POST', `/segments/${id}/${action}`)).body.error.code).toBe('RESOURCE_NOT_FOUND');
  });

  test('contacts of another project neither enter nor are seen', async () => {
    const { key, emails } = await group(2);
    for (const email of emails) await other.contact(email, { [key]: true });
    await other.contact(people.at(-1) ?? '', { [key]: true });
    const { id } = await own.segment({ condition: allOf(dataIs(key, true)), trackMembership: true });
    expect(await compute(id)).toEqual({ added: 2, removed: 0, total: 2 });
    expect((await own.call('GET', `/segments/${id}/contacts`)).body.total).toBe(2);
    const events = (await other.call('POST', '/segments', { name: 'x', condition: allOf(dataIs(key, true)) })).body;
    expect(events.memberCount).toBe(3);
    const told = await database.db.row<{ n: number }>(
      `select count(*)::int as n from events where data ->> 'segmentId' = $1 and project_id <> $2`,
      [id, project.id],
    );
    expect(told?.n).toBe(0);
  });

  test('contacts that are deleted while it runs neither stop it nor come back', async () => {
    const { key, emails } = await group(30);
    const { id } = await own.segment({ condition: allOf(dataIs(key, true)), trackMembership: true });
    const ids = await database.db.rows<{ id: string }>(
      'select id from contacts where project_id = $1 and email = any($2) order by id desc',
      [project.id, emails.slice(0, 20)],
    );
    const answers = await Promise.all([
      ...ids.map((row) => own.call('DELETE', `/contacts/${row.id}`)),
      ...Array.from({ length: 4 }, () => own.call('POST', `/segments/${id}/compute`)),
    ]);
    expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
    expect((await compute(id)).total).toBe(10);
    expect(await own.members(id)).toEqual(emails.slice(20).sort());
  });
});

test('a refresh counts and does nothing else', async () => {
  const { key, emails } = await group(3);
  const { id } = await own.segment({ condition: allOf(dataIs(key, true)), trackMembership: true });
  await own.contact(emails[0] ?? '', { [key]: false });
  expect(await own.memberCount(id)).toBe(3);
  expect((await own.call('POST', `/segments/${id}/refresh`)).body).toEqual({ memberCount: 2 });
  expect(await own.memberCount(id)).toBe(2);
  expect([await own.members(id), await own.told(id)]).toEqual([[], []]);
});

test('who opened mail is asked of the mail, and a window of the instant', async () => {
  const { key, emails } = await group(3);
  const [opened = '', longAgo = ''] = emails;
  const mail = async (email: string, openedAt: string) =>
    database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, sent_at, opened_at)
       select gen_random_uuid(), project_id, id, email, 'hello@acme.test', 'CAMPAIGN', 'MARKETING', 'OPENED', now(), now() - $3::interval
       from contacts where project_id = $1 and email = $2`,
      [project.id, email, openedAt],
    );
  await mail(opened, '1 hour');
  await mail(longAgo, '40 days');
  const count = async (operator: string, window = {}) =>
    (await own.segment({ condition: allOf(dataIs(key, true), { field: 'email.opened', operator, ...window }) }))
      .memberCount;
  const month = { value: 30, unit: 'days' };
  expect(await count('triggered')).toBe(2);
  expect(await count('notTriggered')).toBe(1);
  expect(await count('triggeredWithin', month)).toBe(1);
  expect(await count('triggeredOlderThan', month)).toBe(1);
  expect(await count('notTriggeredWithin', month)).toBe(2);
});
