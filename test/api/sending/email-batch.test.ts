import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { RATE_LIMIT_PER_MINUTE: '100000' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

interface Result {
  ok: boolean;
  emails: { email: string; contact: { email: string }; scheduledFor?: string }[];
  error: { code: string; statusCode: number; errors?: { field: string; code: string }[]; details?: object };
}

const batch = (project: TestProject, emails: unknown, more: object = {}, headers: Record<string, string> = {}) =>
  api.call(project.secretKey, 'POST', '/v1/emails/batch', { emails, ...more }, headers);
const mailTo = (project: TestProject, to: unknown, more: object = {}) => ({
  to,
  from: project.sender,
  subject: 'Hello',
  body: '<p>Hi</p>',
  ...more,
});

/** Everything that a request to send may write for a project. */
async function writtenFor({ id }: TestProject): Promise<Record<string, number> | null> {
  return database.db.row(
    `select (select count(*)::int from emails where project_id = $1) as emails,
       (select count(*)::int from email_queue where project_id = $1) as queued,
       (select count(*)::int from contacts where project_id = $1) as contacts,
       (select count(*)::int from events where project_id = $1) as events,
       (select count(*)::int from email_tags where project_id = $1) as tags,
       (select coalesce(sum(reserved), 0)::int from usage_counters where project_id = $1) as reserved`,
    [id],
  );
}
const nothing = { emails: 0, queued: 0, contacts: 0, events: 0, tags: 0, reserved: 0 };

describe('a batch', () => {
  test('accepts every item and answers them in their order, each as POST /v1/send does', async () => {
    const project = await aProject(database);
    const scheduledFor = new Date(Date.now() + 86_400_000).toISOString();
    const { status, body } = await batch(project, [
      mailTo(project, 'zoe@example.com', { tags: { order: '1' } }),
      mailTo(project, ['ada@example.com', { name: 'Zoe', email: 'zoe@example.com' }]),
      mailTo(project, 'later@example.com', { scheduledFor }),
    ]);
    expect(status).toBe(200);
    const results: Result[] = body.data.results;
    expect(results.map(({ ok, emails }) => [ok, emails.map(({ contact }) => contact.email)])).toEqual([
      [true, ['zoe@example.com']],
      [true, ['ada@example.com', 'zoe@example.com']],
      [true, ['later@example.com']],
    ]);
    expect(results[2]?.emails[0]?.scheduledFor).toBe(scheduledFor);
    const found = await api.call(project.secretKey, 'GET', `/v1/emails/${results[0]?.emails[0]?.email}`);
    expect(found.body).toMatchObject({ status: 'PENDING', tags: { order: '1' }, to: 'zoe@example.com' });
    expect(await writtenFor(project)).toMatchObject({ emails: 4, queued: 4, contacts: 3 });
  });

  // Each of these is refused by another part of the service.
  const bad: Record<string, (project: TestProject) => unknown> = {
    'no address': (project) => mailTo(project, 'nobody'),
    'no recipient': ({ sender }) => ({ from: sender, subject: 's', body: 'b' }),
    'no object': () => 'ada@example.com',
    'another domain': (project) => mailTo(project, 'ada@example.com', { from: 'a@elsewhere.example' }),
    'no template': ({ sender }) => ({ to: 'ada@example.com', from: sender, template: crypto.randomUUID() }),
    'too much data': (project) => mailTo(project, 'big@example.com', { data: { text: 'x'.repeat(300_000) } }),
    'too late': (project) => mailTo(project, 'ada@example.com', { scheduledFor: '2999-01-01T00:00:00Z' }),
  };
  const kinds = Object.keys(bad);

  test('writes nothing for `all` wherever the bad items stand, and names them', async () => {
    const project = await aProject(database);
    await database.db.count('update projects set billing_limit_transactional = 100000 where id = $1', [project.id]);
    const item = fc.oneof({ weight: 3, arbitrary: fc.constant('good') }, fc.constantFrom(...kinds));
    const lists = fc.array(item, { minLength: 1, maxLength: 12 }).filter((list) => list.some((one) => one !== 'good'));
    let written = nothing;
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const emails = list.map((kind, place) => {
          if (kind === 'good')
            return mailTo(project, [`p${place}@example.com`, `q${place}@example.com`], { tags: { n: '1' } });
          return bad[kind]?.(project);
        });
        const { status, body } = await batch(project, emails);
        expect(status).toBeGreaterThanOrEqual(400);
        expect(status).toBeLessThan(500);
        const named = body.error.errors.map(({ field }: { field: string }) => Number(field.split('.')[1]));
        const places = list.flatMap((kind, place) => (kind === 'good' ? [] : [place]));
        // What only Postgres can refuse is found last, and then alone.
        const early = places.filter((place) => list[place] !== 'too much data');
        expect([...new Set(named)]).toEqual(early.length > 0 ? early : [places[0]]);
        expect(await writtenFor(project)).toEqual(written);
      }),
      { numRuns: 40 },
    );
    const good = await batch(project, [mailTo(project, ['p0@example.com', 'q0@example.com'], { tags: { n: '1' } })]);
    expect(good.status).toBe(200);
    written = { emails: 2, queued: 2, contacts: 2, events: 0, tags: 2, reserved: 2 };
    expect(await writtenFor(project)).toEqual(written);
  });

  test('accepts with `each` what can be sent, and says of the rest what a single request would say', async () => {
    const project = await aProject(database);
    const list = ['good', ...kinds, 'good'];
    const emails = list.map((kind, place) =>
      kind === 'good' ? mailTo(project, `p${place}@example.com`) : bad[kind]?.(project),
    );
    const { status, body } = await batch(project, emails, { mode: 'each' });
    expect(status).toBe(200);
    for (const [place, kind] of list.entries()) {
      const result: Result = body.data.results[place];
      if (kind === 'good') {
        expect(result).toMatchObject({ ok: true, emails: [{ contact: { email: `p${place}@example.com` } }] });
        continue;
      }
      expect(result.ok).toBe(false);
      if (kind === 'no object') continue;
      const alone = await api.call(project.secretKey, 'POST', '/v1/send', emails[place] as object);
      const { requestId: _, ...error } = alone.body.error;
      expect(result.error).toEqual(error);
    }
    expect(await writtenFor(project)).toMatchObject({ emails: 2, queued: 2, contacts: 2 });
  });

  test('counts under the monthly limit: all of it or nothing, or as much as fits', async () => {
    const project = await aProject(database);
    await database.db.count('update projects set billing_limit_transactional = 3 where id = $1', [project.id]);
    const emails = [2, 2, 1].map((count, item) =>
      mailTo(
        project,
        Array.from({ length: count }, (_, n) => `p${item}-${n}@example.com`),
      ),
    );
    const all = await batch(project, emails);
    expect([all.status, all.body.error.code]).toEqual([402, 'BILLING_LIMIT_EXCEEDED']);
    expect(await writtenFor(project)).toEqual(nothing);
    const each = await batch(project, emails, { mode: 'each' });
    expect(each.body.data.results.map(({ ok, error }: Result) => (ok ? 'sent' : error.statusCode))).toEqual([
      'sent',
      402,
      'sent',
    ]);
    expect(await writtenFor(project)).toMatchObject({ emails: 3, reserved: 3 });
  });

  test.each([
    ['no items', [], 'emails'],
    ['101 items', Array.from({ length: 101 }, () => ({})), 'emails'],
    ['what is no list', {}, 'emails'],
    ['1,001 recipients', [600, 401].map((n) => ({ to: Array.from({ length: n }, () => 'a@example.com') })), 'emails'],
  ])('is refused with %s', async (_, emails, field) => {
    const project = await aProject(database);
    const { status, body } = await batch(project, emails, { mode: 'each' });
    expect([status, body.error.errors[0].field]).toEqual([422, field]);
  });

  test('happens once under its key, and answers 50 equal requests alike with the mode replay', async () => {
    const project = await aProject(database);
    const emails = [mailTo(project, 'ada@example.com'), 'bad', mailTo(project, 'zoe@example.com')];
    const headers = { 'Idempotency-Key': 'batch-1', 'Idempotency-Mode': 'replay' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => batch(project, emails, { mode: 'each' }, headers)),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]?.body.data.results.map(({ ok }: Result) => ok)).toEqual([true, false, true]);
    expect(await writtenFor(project)).toMatchObject({ emails: 2, queued: 2 });
    const again = await batch(project, emails, { mode: 'all' }, { 'Idempotency-Key': 'batch-1' });
    expect([again.status, again.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('of many at once with the same people in other orders gets every one done', async () => {
    const project = await aProject(database);
    const people = Array.from({ length: 10 }, (_, n) => `p${n}@example.com`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, round) => {
        const turned = [...people.slice(round % 10), ...people.slice(0, round % 10)];
        return batch(
          project,
          (round % 2 === 0 ? turned : turned.toReversed()).map((to) => mailTo(project, to)),
        );
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await writtenFor(project)).toMatchObject({ emails: 200, contacts: 10 });
  });
});
