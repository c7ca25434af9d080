import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { retentionRules } from '../../activities/index.ts';
import { firstIdAt } from '../../src/lib/ids.ts';
import { emptyOldBodies, removeExpiredKeys, removeOldLosses } from '../../src/mail/ledger/retention.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let project: TestProject;
const day = 86_400_000;
const now = Date.now();
const before = new Date(now - 90 * day);

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
});
afterAll(() => database.close());
beforeEach(() => database.db.rows('truncate contacts, emails, retention_cursors cascade'));

/** A mail of so many days ago. */
async function mail(daysAgo: number, columns: Record<string, unknown> = {}): Promise<string> {
  const id = `${firstIdAt(new Date(now - daysAgo * day)).slice(0, 14)}${randomUUID().slice(14)}`;
  const row = {
    id,
    project_id: project.id,
    to_address: 'x.1.anna@kunde.example',
    from: project.sender,
    source_type: 'TRANSACTIONAL',
    message_class: 'TRANSACTIONAL',
    status: 'DELIVERED',
    subject: 'Your receipt',
    body: '<p>Thank you</p>',
    opens: 2,
    ...columns,
  };
  const names = Object.keys(row).map((name) => `"${name}"`);
  await database.db.count(
    `with owner as (
       insert into contacts (id, project_id, email, subscribed)
       values (gen_random_uuid(), $1, 'x.1.anna@kunde.example', true)
       on conflict (project_id, email) do update set subscribed = true returning id)
     insert into emails (contact_id, ${names.join(', ')})
     select owner.id, ${names.map((name) => `m.${name}`).join(', ')}
     from owner, jsonb_populate_record(null::emails, jsonb_build_object('opens', 0, 'clicks', 0) || $2::jsonb) as m`,
    [project.id, JSON.stringify(row)],
  );
  return id;
}
const read = (id: string) =>
  database.db.row<{ subject: string; body: string | null; render: unknown; attachments: unknown; opens: number }>(
    'select subject, body, render, attachments, opens from emails where id = $1',
    [id],
  );

test('plans of language models go after 30 days, also those of a project that makes no more', async () => {
  const plan = (age: string) =>
    database.db.count(
      `insert into mcp_plans (id, project_id, key_id, action, operation, input, sentence, affects, samples, again, needs_approval, expires_at, created_at)
       values (gen_random_uuid(), $1, gen_random_uuid(), 'send_email', 'sendEmail', '{}', 'x', 1, '{}', false, false, now(), now() - $2::interval)`,
      [project.id, age],
    );
  for (const age of ['31 days', '40 days', '29 days']) await plan(age);
  const rule = retentionRules({ db: database.db } as never).find(({ name }) => name === 'plans of language models');
  expect(await rule?.removeSome(1)).toBe(1);
  expect(await rule?.removeSome(5000)).toBe(1);
  expect(await database.db.row('select count(*)::int as plans from mcp_plans')).toEqual({ plans: 1 });
});

describe('bodies of mail', () => {
  test('are emptied after their time, and everything else of the mail stays', async () => {
    const attachments = [{ filename: 'invoice.pdf', contentType: 'application/pdf', content: 'JVBERi0=' }];
    const old = await mail(91, { attachments });
    const young = await mail(89, { attachments });
    expect(await emptyOldBodies(database.db, before, 100)).toBe(1);
    expect(await read(old)).toEqual({
      subject: 'Your receipt',
      body: '',
      render: null,
      attachments: [{ filename: 'invoice.pdf', contentType: 'application/pdf' }],
      opens: 2,
    });
    expect(await read(young)).toMatchObject({ body: '<p>Thank you</p>', attachments });
  });

  test('that were never rendered go with their sources; the subject stays', async () => {
    const render = {
      subject: 'Hello {{name}}',
      body: '<p>{{secret}}</p>',
      data: { secret: '4711' },
      contact: {},
      subscribed: true,
    };
    const failed = await mail(100, { status: 'FAILED', subject: null, body: null, render });
    expect(await emptyOldBodies(database.db, before, 100)).toBe(1);
    expect(await read(failed)).toMatchObject({ subject: 'Hello {{name}}', body: '', render: null });
  });

  test('of mail that still waits, and of campaigns, which have none, are left alone', async () => {
    const waiting = await mail(100, { status: 'PENDING' });
    const campaign = await mail(100, { body: null });
    expect(await emptyOldBodies(database.db, before, 100)).toBe(0);
    expect(await read(waiting)).toMatchObject({ body: '<p>Thank you</p>' });
    expect(await read(campaign)).toMatchObject({ body: null });
  });

  test('are emptied in bounded steps, each mail once, and a later run goes on where time has moved to', async () => {
    const ids: string[] = [];
    for (let daysAgo = 99; daysAgo > 92; daysAgo--) ids.push(await mail(daysAgo));
    const young = await mail(89.5);
    expect(await emptyOldBodies(database.db, before, 3)).toBe(3);
    expect(await Promise.all(ids.map(async (id) => (await read(id))?.body))).toEqual(
      ids.map((_, place) => (place < 3 ? '' : '<p>Thank you</p>')),
    );
    expect(await emptyOldBodies(database.db, before, 100)).toBe(4);
    expect(await emptyOldBodies(database.db, before, 100)).toBe(0);
    expect(await emptyOldBodies(database.db, new Date(before.getTime() + day), 100)).toBe(1);
    expect(await read(young)).toMatchObject({ body: '' });
  });
});

test('idempotency keys go when they have expired', async () => {
  const key = (name: string, expires: string) =>
    database.db.count(
      `insert into idempotency_keys (id, project_id, key, method, path, expires_at)
       values (gen_random_uuid(), $1, $2, 'POST', '/v1/send', now() + $3::interval)`,
      [project.id, name, expires],
    );
  await key('old', '-1 minute');
  await key('older', '-1 day');
  await key('open', '1 minute');
  expect(await removeExpiredKeys(database.db, 1)).toBe(1);
  expect(await removeExpiredKeys(database.db, 100)).toBe(1);
  const left = await database.db.rows<{ key: string }>('select key from idempotency_keys');
  expect(left).toEqual([{ key: 'open' }]);
});

test('the record of deleted contacts is kept for a day', async () => {
  await database.db.rows('delete from contact_losses');
  for (const age of ['25 hours', '23 hours'])
    await database.db.count('insert into contact_losses values ($1, now() - $2::interval)', [project.id, age]);
  expect(await removeOldLosses(database.db, 100)).toBe(1);
  expect(await database.db.rows('select from contact_losses')).toHaveLength(1);
});
