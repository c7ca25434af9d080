import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

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

const track = (body: unknown) => api.call(project.publicKey, 'POST', '/v1/track', body);
const eventsOf = (email: string) =>
  database.db.rows<{ name: string; data: unknown }>(
    'select e.name, e.data from events e join contacts c on c.id = e.contact_id where c.email = $1 and c.project_id = $2 order by e.id',
    [email, project.id],
  );
const contact = async (email: string) =>
  (await api.call(project.secretKey, 'GET', `/contacts?search=${encodeURIComponent(email)}`)).body.data[0];

describe('tracking', () => {
  test('creates a subscribed contact, stores the event as it was sent, and answers both ids', async () => {
    const data = { plan: 'pro', cart: { value: [1, 2], persistent: false }, note: '' };
    const answer = await track({ email: ' X.33.Jo@Kunde.example ', event: 'checkout.started', data });
    expect(answer.status).toBe(200);
    expect(answer.body.data.timestamp).toMatch(/Z$/);
    expect(await contact('x.33.jo@kunde.example')).toMatchObject({
      id: answer.body.data.contact,
      subscribed: true,
      data: { plan: 'pro' },
    });
    expect(await eventsOf('x.33.jo@kunde.example')).toEqual([{ name: 'checkout.started', data }]);
  });

  test('without data the event has none, and the contact stays as it is', async () => {
    await track({ email: '6.sam@example.com', event: 'first', data: { plan: 'team' } });
    const before = await contact('6.sam@example.com');
    await track({ email: '6.sam@example.com', event: 'second' });
    await track({ email: '6.sam@example.com', event: 'third', data: null });
    expect(await contact('6.sam@example.com')).toEqual(before);
    expect(await eventsOf('6.sam@example.com')).toEqual([
      { name: 'first', data: { plan: 'team' } },
      { name: 'second', data: null },
      { name: 'third', data: null },
    ]);
  });

  test('a flip of the subscription is recorded before the event that brought it', async () => {
    await track({ email: '7.kim@posta.example', event: 'joined' });
    await track({ email: '7.kim@posta.example', event: 'left', subscribed: false });
    await track({ email: '7.kim@posta.example', event: 'left again', subscribed: false });
    expect((await eventsOf('7.kim@posta.example')).map((event) => event.name)).toEqual([
      'joined',
      'contact.unsubscribed',
      'left',
      'left again',
    ]);
  });

  test('half a surrogate pair is mended, for no database could keep it', async () => {
    const answer = await api.call(
      project.publicKey,
      'POST',
      '/v1/track',
      '{"email":"half@example.net","event":"e","data":{"a":"x\\ud83d","b":["\\ude00 y"],"fine":"\\ud83d\\ude00"}}',
    );
    expect(answer.status).toBe(200);
    expect(await eventsOf('half@example.net')).toEqual([
      { name: 'e', data: { a: 'x\ufffd', b: ['\ufffd y'], fine: '😀' } },
    ]);
  });

  test('many at once for a new address make one contact and lose no event', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => track({ email: 'burst@example.net', event: `e${index}` })),
    );
    expect(new Set(answers.map((answer) => answer.body.data.contact)).size).toBe(1);
    expect(await eventsOf('burst@example.net')).toHaveLength(20);
  });

  test('of many flips at once each real change is one event', async () => {
    await track({ email: 'turn@example.net', event: 'start' });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        track({ email: 'turn@example.net', event: 'turn', subscribed: index % 2 === 0 }),
      ),
    );
    const flips = (await eventsOf('turn@example.net'))
      .map((event) => event.name)
      .filter((name) => name.startsWith('contact.'));
    const final = (await contact('turn@example.net')).subscribed;
    // From subscribed, every second change is back: an odd number of flips ends unsubscribed.
    expect(flips.length % 2 === 0).toBe(final);
    expect(
      flips.filter((name) => name === 'contact.unsubscribed').length -
        flips.filter((name) => name === 'contact.subscribed').length,
    ).toBe(final ? 0 : 1);
  });
});

describe('refusals', () => {
  test.each([
    'email.sent',
    'email.anything',
    'contact.subscribed',
    'contact.unsubscribed',
    'segment.vip.entry',
    'segment.a.b.exit',
  ])('the reserved name %s, before anything is written', async (name) => {
    const answer = await track({ email: 'reserved@example.org', event: name });
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toEqual([
      expect.objectContaining({ field: 'event', code: 'reserved_event', received: name }),
    ]);
    expect(await contact('reserved@example.org')).toBeUndefined();
  });

  test.each(['email', 'emailed', 'Email.open', 'contact.created', 'segment.x', 'segment.entryway'])(
    'but not %s',
    async (name) => {
      expect((await track({ email: 'fine@example.org', event: name })).status).toBe(200);
    },
  );

  test.each<[string, unknown, string, string]>([
    ['no address', { event: 'e' }, 'email', 'invalid_type'],
    ['a malformed address', { email: 'ada@', event: 'e' }, 'email', 'invalid_string'],
    ['no event', { email: 'ada@example.com' }, 'event', 'invalid_type'],
    ['an empty event', { email: 'ada@example.com', event: '' }, 'event', 'too_small'],
    ['an event name too long', { email: 'ada@example.com', event: 'x'.repeat(256) }, 'event', 'too_big'],
    ['data that is text', { email: 'ada@example.com', event: 'e', data: 'x' }, 'data', 'invalid_type'],
    [
      'a subscription that is text',
      { email: 'ada@example.com', event: 'e', subscribed: 'yes' },
      'subscribed',
      'invalid_type',
    ],
  ])('%s', async (_, body, field, code) => {
    const answer = await track(body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toContainEqual(expect.objectContaining({ field, code }));
  });
});
