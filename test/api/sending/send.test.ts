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

const send = (body: Record<string, unknown>, owner = project) =>
  api.call(owner.secretKey, 'POST', '/v1/send', {
    from: owner.sender,
    subject: 'Welcome',
    body: '<p>Welcome</p>',
    ...body,
  });
const emailRows = (ids: string[]) =>
  database.db.rows<Record<string, unknown>>(
    'select e.*, q.email_id as queued from emails e left join email_queue q on q.email_id = e.id where e.id = any($1) order by e.id',
    [ids],
  );
const contact = async (email: string, owner = project) =>
  (await api.call(owner.secretKey, 'GET', `/contacts?search=${encodeURIComponent(email)}`)).body.data[0];
async function writtenSoFar() {
  const row = await database.db.row<{ n: number }>(
    'select (select count(*) from emails) + (select count(*) from contacts) + (select count(*) from events) as n',
  );
  return Number(row?.n);
}

describe('what is accepted', () => {
  test('the queue notes what a message takes in memory, however small the ledger stores it', async () => {
    const answer = await send({
      to: 'size@example.com',
      subject: 's',
      body: 'A'.repeat(100_000),
      data: { plan: 'team' },
    });
    const ids = answer.body.data.emails.map(({ email }: { email: string }) => email);
    const row = await database.db.row<{ bytes: number }>('select bytes from email_queue where email_id = $1', ids);
    expect(row?.bytes).toBeGreaterThan(100_000);
    expect(row?.bytes).toBeLessThan(100_100);
  });

  test('each recipient becomes an unsubscribed contact and has one queued message, in the order of "to"', async () => {
    const to = [
      'X.0.Lee@example.com',
      { email: '16.sam@mail.example.net', name: 'Jan Dzienisz' },
      'x.0.lee@example.com',
    ];
    const answer = await send({ to, data: { plan: 'team' } });
    expect(answer.status).toBe(200);
    const { emails, timestamp } = answer.body.data;
    expect(emails.map((item: { contact: { email: string } }) => item.contact.email)).toEqual([
      'x.0.lee@example.com',
      '16.sam@mail.example.net',
      'x.0.lee@example.com',
    ]);
    expect(emails[0].contact.id).toBe(emails[2].contact.id);
    expect(new Set(emails.map((item: { email: string }) => item.email)).size).toBe(3);
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const rows = await emailRows(emails.map((item: { email: string }) => item.email));
    expect(
      rows.every((row) => row.status === 'PENDING' && row.queued !== null && row.source_type === 'TRANSACTIONAL'),
    ).toBe(true);
    expect(await contact('16.sam@mail.example.net')).toMatchObject({
      subscribed: false,
      data: { plan: 'team', name: 'Jan Dzienisz' },
    });
  });

  test('an empty list sends nothing and is no error', async () => {
    expect((await send({ to: [] })).body.data.emails).toEqual([]);
  });

  test('contact data follows the rules: empty is ignored, null deletes, transient values and reserved keys are not stored', async () => {
    await send({ to: 'x.1.anna@kunde.example', data: { city: 'Bonn', tier: 'gold', score: 645 } });
    await send({
      to: 'x.1.anna@kunde.example',
      data: {
        city: '',
        tier: null,
        profile: { a: [1, 2] },
        code: { value: '4711', persistent: false },
        id: 'x',
        email: 'other@example.com',
        unsubscribeUrl: 'x',
        fernpost_id: 'x',
        __proto__: { admin: true },
      },
    });
    expect((await contact('x.1.anna@kunde.example')).data).toEqual({
      city: 'Bonn',
      score: 645,
      profile: { a: [1, 2] },
    });
  });

  test('values of the request and a snapshot of the contact wait with the message', async () => {
    await send({ to: '2.jo@example.com', data: { plan: 'enterprise' } });
    const answer = await send({
      to: '2.jo@example.com',
      subject: 'Code {{code}}',
      data: { code: { value: '4711', persistent: false } },
    });
    const [row] = await emailRows([answer.body.data.emails[0].email]);
    expect(row?.render).toMatchObject({
      subject: 'Code {{code}}',
      data: { code: '4711' },
      contact: { plan: 'enterprise' },
      subscribed: false,
    });
  });

  test('parallel requests with different keys of one contact lose nothing', async () => {
    const keys = Array.from({ length: 16 }, (_, index) => `key${index}`);
    const answers = await Promise.all(keys.map((key) => send({ to: 'storm@example.org', data: { [key]: 1 } })));
    expect(answers.map((answer) => answer.status)).toEqual(keys.map(() => 200));
    expect(new Set(answers.map((answer) => answer.body.data.emails[0].contact.id)).size).toBe(1);
    expect(Object.keys((await contact('storm@example.org')).data).sort()).toEqual([...keys].sort());
  });

  test('a flip of the subscription is recorded once, and only for a contact that existed', async () => {
    await send({ to: 'flip@example.org', subscribed: true });
    await send({ to: 'flip@example.org', subscribed: true });
    await send({ to: 'flip@example.org', subscribed: false });
    await send({ to: 'flip@example.org' });
    const events = await database.db.rows<{ name: string }>(
      'select e.name from events e join contacts c on c.id = e.contact_id where c.email = $1 order by e.id',
      ['flip@example.org'],
    );
    expect(events.map((event) => event.name)).toEqual(['contact.unsubscribed']);
    expect((await contact('flip@example.org')).subscribed).toBe(false);
  });

  test('a thousand recipients in one request', async () => {
    const to = Array.from({ length: 999 }, (_, index) => `many${index}@example.net`);
    const answer = await send({ to: [...to, 'many0@example.net'] });
    expect(answer.body.data.emails).toHaveLength(1_000);
    expect(answer.body.data.emails.map((item: { contact: { email: string } }) => item.contact.email)).toEqual([
      ...to,
      'many0@example.net',
    ]);
  });
});

describe('sender and template', () => {
  const template = async (fields: Record<string, unknown> = {}) =>
    (
      await api.call(project.secretKey, 'POST', '/templates', {
        name: 'Trial ending',
        subject: '{{firstName ?? there}}, three days left',
        body: '<p>Your {{plan}} trial ends soon.</p>',
        from: project.sender,
        fromName: 'Acme Trials',
        replyTo: `help@${project.domain}`,
        type: 'TRANSACTIONAL',
        ...fields,
      })
    ).body;

  test('parts of the request replace those of the template, each on its own', async () => {
    const { id } = await template();
    const answer = await api.call(project.secretKey, 'POST', '/v1/send', {
      to: '23.kim@example.org',
      template: id,
      subject: 'Own subject',
    });
    const [row] = await emailRows([answer.body.data.emails[0].email]);
    expect(row).toMatchObject({
      from: project.sender,
      from_name: 'Acme Trials',
      reply_to: `help@${project.domain}`,
      template_id: id,
      render: { subject: 'Own subject', body: '<p>Your {{plan}} trial ends soon.</p>' },
    });
  });

  test('an edit of a template is used by the next request', async () => {
    const { id } = await template();
    const body = { to: '23.kim@example.org', template: id };
    await api.call(project.secretKey, 'POST', '/v1/send', body);
    await api.call(project.secretKey, 'PATCH', `/templates/${id}`, { subject: 'Changed' });
    await expect
      .poll(async () => {
        const answer = await api.call(project.secretKey, 'POST', '/v1/send', body);
        return (await emailRows([answer.body.data.emails[0].email]))[0]?.render;
      })
      .toMatchObject({ subject: 'Changed' });
  });

  test.each([
    ['the name of a sender object', { from: { email: 'FROM', name: 'Own' }, fromName: 'Older' }, 'Own'],
    ['fromName beside a plain sender', { fromName: 'Older', name: 'Oldest' }, 'Older'],
    ['name as the older word for it', { name: 'Oldest' }, 'Oldest'],
    ['not fromName beside a sender object', { from: { email: 'FROM' }, fromName: 'Older' }, 'Acme'],
    ['the name of the project where nothing else is said', {}, 'Acme'],
  ])('the display name is %s', async (_, fields, expected) => {
    const from = (fields as { from?: { email: string } }).from;
    const body = { ...fields, ...(from ? { from: { ...from, email: project.sender } } : {}) };
    const answer = await send({ to: '25.zoe@example.org', ...body });
    expect((await emailRows([answer.body.data.emails[0].email]))[0]?.from_name).toBe(expected);
  });

  test('marketing templates need subscribed recipients, and nothing is sent to anyone otherwise', async () => {
    const { id } = await template({ type: 'MARKETING' });
    const mail = (fields: Record<string, unknown>) =>
      api.call(project.secretKey, 'POST', '/v1/send', { template: id, ...fields });
    await api.call(project.secretKey, 'POST', '/contacts', { email: 'yes@example.org', subscribed: true });
    const before = await writtenSoFar();
    const refused = await mail({ to: ['yes@example.org', 'new@example.org'] });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(refused.body.error.message).toContain('new@example.org');
    expect(await writtenSoFar()).toBe(before);
    expect((await mail({ to: 'yes@example.org' })).status).toBe(200);
    expect((await mail({ to: 'new@example.org', subscribed: true })).status).toBe(200);
    expect((await mail({ to: 'yes@example.org', subscribed: false })).status).toBe(400);
  });
});

describe('bad input writes nothing and names the place', () => {
  const file = { filename: 'a.txt', content: 'aGVsbG8=', contentType: 'text/plain' };
  test.each<[string, Record<string, unknown>, number, string, string | undefined, string | undefined]>([
    ['no recipient', { to: undefined }, 422, 'VALIDATION_ERROR', 'to', 'invalid_union'],
    ['a recipient without an address', { to: { name: 'x' } }, 422, 'VALIDATION_ERROR', 'to', 'invalid_union'],
    ['a malformed address', { to: 'ada@example' }, 422, 'VALIDATION_ERROR', 'to', 'invalid_string'],
    [
      'a malformed address in a list',
      { to: ['ok@example.com', 'nope'] },
      422,
      'VALIDATION_ERROR',
      'to.1',
      'invalid_string',
    ],
    [
      'a line break in a recipient name',
      { to: { email: 'a@example.com', name: 'A\r\nBcc: b@example.com' } },
      422,
      'VALIDATION_ERROR',
      'to.name',
      'invalid_string',
    ],
    [
      'a line break in the subject',
      { subject: 'Hi\r\nBcc: b@example.com' },
      422,
      'VALIDATION_ERROR',
      'subject',
      'invalid_string',
    ],
    ['a subject too long', { subject: 'x'.repeat(999) }, 422, 'VALIDATION_ERROR', 'subject', 'too_big'],
    [
      'a body that could never be filled in',
      { body: 'x'.repeat(10_000_001) },
      422,
      'VALIDATION_ERROR',
      'body',
      'too_big',
    ],
    ['an empty subject', { subject: '' }, 422, 'VALIDATION_ERROR', 'subject', 'too_small'],
    ['neither template nor body', { body: undefined }, 422, 'VALIDATION_ERROR', 'template', 'custom'],
    ['no sender', { from: undefined }, 422, 'VALIDATION_ERROR', 'from', 'required'],
    ['a sender that is a number', { from: 5 }, 422, 'VALIDATION_ERROR', 'from', 'invalid_union'],
    [
      'a sender of a foreign domain',
      { from: 'hello@stranger.test' },
      403,
      'INTERNAL_SERVER_ERROR',
      undefined,
      undefined,
    ],
    ['a sender of a subdomain', { from: 'SUB' }, 403, 'INTERNAL_SERVER_ERROR', undefined, undefined],
    [
      'an unknown template',
      { template: '0b6f2a54-2a0e-4d0c-9d5f-7b8f0f7b1c11' },
      404,
      'TEMPLATE_NOT_FOUND',
      undefined,
      undefined,
    ],
    ['a template id that is none', { template: 'welcome' }, 422, 'VALIDATION_ERROR', 'template', 'invalid_string'],
    [
      'a header name with a colon',
      { headers: { 'X:Y': 'a' } },
      422,
      'VALIDATION_ERROR',
      'headers.X:Y',
      'invalid_string',
    ],
    [
      'a header value with a line break',
      { headers: { 'X-A': 'a\nBcc: x' } },
      422,
      'VALIDATION_ERROR',
      'headers.X-A',
      'invalid_string',
    ],
    [
      '101 headers',
      { headers: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`X-${n}`, 'a'])) },
      422,
      'VALIDATION_ERROR',
      'headers',
      'too_big',
    ],
    [
      'more than 32 kB of headers',
      { headers: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`X-${n}`, 'a'.repeat(900)])) },
      422,
      'VALIDATION_ERROR',
      'headers',
      'too_big',
    ],
    ['data that is a list', { data: [] }, 422, 'VALIDATION_ERROR', 'data', 'invalid_type'],
    ['a locale that is a number', { data: { locale: 5 } }, 400, 'BAD_REQUEST', undefined, undefined],
    [
      'an attachment that is not base64',
      { attachments: [{ ...file, content: '***' }] },
      422,
      'VALIDATION_ERROR',
      'attachments.0.content',
      'invalid_string',
    ],
    [
      'a quote in a file name',
      { attachments: [{ ...file, filename: 'a".txt' }] },
      422,
      'VALIDATION_ERROR',
      'attachments.0.filename',
      'invalid_string',
    ],
    [
      'an inline attachment without an id',
      { attachments: [{ ...file, disposition: 'inline' }] },
      422,
      'VALIDATION_ERROR',
      'attachments.0.contentId',
      'custom',
    ],
    [
      'eleven attachments',
      { attachments: Array.from({ length: 11 }, () => file) },
      422,
      'VALIDATION_ERROR',
      'attachments',
      'too_big',
    ],
    [
      'attachments over 10 MB',
      { attachments: [{ ...file, content: 'A'.repeat(13_981_016) }] },
      422,
      'VALIDATION_ERROR',
      'attachments',
      'custom',
    ],
    [
      'a message of 2 MB to 129 recipients',
      { to: Array.from({ length: 129 }, (_, n) => `many-${n}@example.com`), body: 'A'.repeat(2 * 1024 * 1024) },
      422,
      'VALIDATION_ERROR',
      'to',
      'too_big',
    ],
  ])('%s', async (_, fields, status, code, field, itemCode) => {
    const before = await writtenSoFar();
    const answer = await send({
      to: 'ada.new@example.com',
      ...fields,
      ...(fields.from === 'SUB' ? { from: `hello@mail.${project.domain}` } : {}),
    });
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    if (field !== undefined)
      expect(answer.body.error.errors).toContainEqual(expect.objectContaining({ field, code: itemCode }));
    expect(await writtenSoFar()).toBe(before);
  });

  test.each([
    ['cc', 'bob@example.com', 'every recipient in "to"'],
    ['bcc', ['bob@example.com'], 'every recipient in "to"'],
    ['html', '<p>Hi</p>', 'is called "body"'],
    ['scheduledAt', '2026-12-24T18:00:00Z', 'is called "scheduledFor"'],
    ['scheduled_at', 'in 1 hour', 'is called "scheduledFor"'],
    ['reply_to', 'help@example.com', 'is called "reply"'],
    ['template_id', 'welcome', 'is called "template"'],
    ['TemplateModel', { name: 'Ada' }, 'is called "data"'],
    ['attachment', [], 'is called "attachments"'],
    ['TextBody', 'Hi', 'is called "text"'],
    ['from_name', 'Acme', 'is called "fromName"'],
    ['type', 'markdown', 'is not supported'],
  ])('"%s" of other services is refused with our word for it', async (field, value, message) => {
    const before = await writtenSoFar();
    const answer = await send({ to: 'ada.new@example.com', [field]: value });
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toEqual([{ field, code: 'custom', message: expect.stringContaining(message) }]);
    expect(await writtenSoFar()).toBe(before);
  });

  test('"html" in place of "body" is told before that "body" is missing', async () => {
    const answer = await send({ to: 'ada.new@example.com', body: undefined, html: '<p>Hi</p>' });
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors.map(({ field }: { field: string }) => field)).toEqual(['html', 'template']);
  });

  test('a sender may carry its name, which counts as `from.name` does; what is stored is the bare address', async () => {
    const stored = async (fields: Record<string, unknown>) => {
      const answer = await send({ to: 'ada@example.com', ...fields });
      expect(answer.status).toBe(200);
      const [row] = await emailRows([answer.body.data.emails[0].email]);
      return [row?.from, row?.from_name];
    };
    const { sender } = project;
    expect(await stored({ from: `Acme <${sender}>` })).toEqual([sender, 'Acme']);
    expect(await stored({ from: ` "Acme, \\"Inc\\"." <${sender.toUpperCase()}> `, fromName: 'Older' })).toEqual([
      sender,
      'Acme, "Inc".',
    ]);
    expect((await stored({ from: `<${sender}>`, fromName: 'Given' }))[1]).toBe('Given');
    for (const from of [`Acme ${sender}`, `A\nBcc: b@example.com <${sender}>`, 'Acme <>', `Acme <${sender}> x`]) {
      const { status, body } = await send({ to: 'ada@example.com', from });
      expect([status, body.error.errors[0].field, body.error.errors[0].code]).toEqual([422, 'from', 'invalid_string']);
    }
  });

  test('text alone is a mail, and an empty one is none', async () => {
    const answer = await send({ to: 'ada@example.com', body: undefined, text: 'Hi {{ firstName }}' });
    expect(answer.status).toBe(200);
    const refused = await send({ to: 'ada@example.com', body: undefined });
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'template']);
    const nothing = await send({ to: 'ada@example.com', body: undefined, text: '' });
    expect([nothing.status, nothing.body.error.errors[0].field]).toEqual([422, 'text']);
    const unfilled = await send({ to: 'ada@example.com', body: undefined, text: null });
    expect([unfilled.status, unfilled.body.error.errors[0].field]).toEqual([422, 'template']);
  });

  test('a domain that is not verified has a reason for programs', async () => {
    const { body } = await send({ to: 'ada@example.com', from: 'hello@stranger.test' });
    expect(body.error).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', details: { reason: 'domain_unverified' } });
  });

  test('"replyTo" works as "reply" does, which wins; keys that nobody knows, and those without a value, are ignored', async () => {
    const replyTo = async (fields: Record<string, unknown>) => {
      const answer = await send({ to: 'ada@example.com', colour: 'blue', cc: null, ...fields });
      expect(answer.status).toBe(200);
      const [row] = await emailRows([answer.body.data.emails[0].email]);
      return row?.reply_to;
    };
    expect(await replyTo({ replyTo: 'help@example.com' })).toBe('help@example.com');
    expect(await replyTo({ replyTo: 'help@example.com', reply: 'desk@example.com' })).toBe('desk@example.com');
    expect((await send({ to: 'ada@example.com', replyTo: 'nobody' })).status).toBe(422);
  });

  test('files of a type that the provider never carries are refused by name, the others of it are not', async () => {
    const file = (filename: string) => ({ filename, content: 'aGk=', contentType: 'application/octet-stream' });
    const before = await writtenSoFar();
    const answer = await send({
      to: 'ada.new@example.com',
      attachments: [file('notes.txt'), file('Setup.EXE'), file('firmware.bin ')],
    });
    expect(answer.status).toBe(422);
    expect(answer.body.error.errors).toMatchObject([
      { field: 'attachments.1.filename', code: 'custom', message: expect.stringContaining('.exe') },
      { field: 'attachments.2.filename', code: 'custom', message: expect.stringContaining('.bin') },
    ]);
    expect(await writtenSoFar()).toBe(before);
    const taken = [file('exe'), file('report.exe.pdf'), file('archive.zip')];
    expect((await send({ to: 'ada@example.com', attachments: taken })).status).toBe(200);
  });

  test('what counts is the provider in use: a file that Postmark refuses may go by SMTP', async () => {
    await using smtp = await testApi(database, { MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:2525' });
    await using ses = await testApi(database, {
      MAIL_PROVIDER: 'ses',
      AWS_SES_REGION: 'eu-west-1',
      AWS_SES_ACCESS_KEY_ID: 'AKIATEST',
      AWS_SES_SECRET_ACCESS_KEY: 'secret',
    });
    const status = async (one: TestApi, filename: string) => {
      const attachments = [{ filename, content: 'aGk=', contentType: 'application/octet-stream' }];
      const body = { to: 'ada@example.com', from: project.sender, subject: 's', body: 'b', attachments };
      return (await one.call(project.secretKey, 'POST', '/v1/send', body)).status;
    };
    expect(await status(smtp, 'a.bin')).toBe(200);
    expect([await status(ses, 'a.bin'), await status(ses, 'a.js'), await status(api, 'a.js')]).toEqual([200, 422, 200]);
  });

  test('a template, a domain or a contact of another project is as good as none', async () => {
    const other = await aProject(database, 'Other');
    const template = (
      await api.call(other.secretKey, 'POST', '/templates', { name: 'n', subject: 's', body: 'b', from: other.sender })
    ).body;
    expect((await send({ to: 'a@example.com', template: template.id })).body.error.code).toBe('TEMPLATE_NOT_FOUND');
    expect((await send({ to: 'a@example.com', from: other.sender })).status).toBe(403);
    const theirs = (await api.call(other.secretKey, 'POST', '/contacts', { email: 'theirs@example.com' })).body;
    expect((await api.call(project.secretKey, 'GET', `/contacts/${theirs.id}`)).body.error.code).toBe(
      'CONTACT_NOT_FOUND',
    );
    expect((await api.call(project.secretKey, 'DELETE', `/contacts/${theirs.id}`)).status).toBe(404);
  });
});
