import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

// Requests that come at the same moment share a statement; each must get what it would have got alone.
let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const send = (to: unknown, data: object) =>
  api.call(project.secretKey, 'POST', '/v1/send', {
    from: project.sender,
    subject: `For ${to}`,
    body: '<p>Hi</p>',
    to,
    data,
  });
const track = (email: string, data: object) =>
  api.call(project.publicKey, 'POST', '/v1/track', { email, event: `of ${email}`, data });
const addresses = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}.${n}@example.com`);
const contacts = (name: string) =>
  database.db.rows<{ id: string; email: string; data: unknown; subscribed: boolean }>(
    'select id, email, data, subscribed from contacts where project_id = $1 and email like $2',
    [project.id, `${name}.%`],
  );
const tooMuch = { text: 'x'.repeat(5_000), more: 'y'.repeat(5_000) };

test('each mail has its own recipient, content and values, and its contact what the request says', async () => {
  const people = addresses('mail', 30);
  // Some are known before, some of those stay as they are.
  await Promise.all(people.slice(0, 20).map((to, n) => send(to, { n })));
  const answers = await Promise.all(people.map((to, n) => send(to, { n: n < 10 ? n : n + 100 })));
  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 200));
  for (const [n, answer] of answers.entries()) {
    const [{ contact, email }] = answer.body.data.emails;
    const row = await database.db.row<Record<string, unknown>>(
      `select e.to_address, e.contact_id, e.subject, e.render, e.status, q.email_id as queued, q.bytes
       from emails e join email_queue q on q.email_id = e.id where e.id = $1`,
      [email],
    );
    const data = { n: n < 10 ? n : n + 100 };
    expect(row).toMatchObject({ to_address: people[n], contact_id: contact.id, status: 'PENDING', queued: email });
    expect(row?.render).toMatchObject({ subject: `For ${people[n]}`, data, contact: data, subscribed: false });
    expect(row?.bytes).toBeGreaterThan(0);
  }
  expect(await contacts('mail')).toHaveLength(30);
});

test('one event of each request, and one contact for each address', async () => {
  const people = addresses('event', 25);
  const answers = await Promise.all([...people, ...people].map((email, n) => track(email, { n })));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  const rows = await database.db.rows<{ id: string; name: string; email: string; contactId: string }>(
    `select e.id, e.name, c.email, c.id as "contactId" from events e join contacts c on c.id = e.contact_id
     where e.project_id = $1 and c.email like 'event.%'`,
    [project.id],
  );
  expect(rows.map(({ id }) => id).sort()).toEqual(answers.map(({ body }) => body.data.event).sort());
  expect(rows.every(({ name, email }) => name === `of ${email}`)).toBe(true);
  const shared = await database.db.row<{ commits: number }>(
    `select count(distinct xmin::text)::int as commits from events where project_id = $1 and name like 'of event.%'`,
    [project.id],
  );
  expect(shared?.commits).toBeLessThan(25);
  expect(await contacts('event')).toHaveLength(25);
  expect((await contacts('event')).every(({ subscribed }) => subscribed)).toBe(true);
});

test('what one of them must not write does no harm to the others', async () => {
  await database.db.rows(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'full.0@example.com', true, jsonb_build_object('big', repeat('z', 255000))`,
    [project.id],
  );
  const answers = await Promise.all(addresses('full', 12).map((to, n) => send(to, n === 0 ? tooMuch : { n })));
  expect(answers.map(({ status }) => status)).toEqual([422, ...Array.from({ length: 11 }, () => 200)]);
  const mails = await database.db.row<{ count: number }>(
    `select count(*)::int as count from emails where project_id = $1 and to_address like 'full.%'`,
    [project.id],
  );
  expect(mails?.count).toBe(11);
});

test('a contact that somebody else is changing holds up its own request only', async () => {
  const people = addresses('held', 10);
  await Promise.all(people.map((email) => track(email, { n: 0 })));
  let changed: Promise<{ status: number }> | undefined;
  await database.db.transaction(async (tx) => {
    await tx.count(`update contacts set data = data || '{"other":1}' where project_id = $1 and email = $2`, [
      project.id,
      people[0],
    ]);
    changed = track(people[0] ?? '', { n: 1 });
    const others = await Promise.all(people.slice(1).map((email) => track(email, { n: 1 })));
    expect(others.every(({ status }) => status === 200)).toBe(true);
  });
  expect((await changed)?.status).toBe(200);
  const held = (await contacts('held')).find(({ email }) => email === people[0]);
  expect(held?.data).toEqual({ n: 1, other: 1 });
});
