import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { cli as earlier } from '@fernpost/earlier-name';
import { verifyWebhook } from '@fernpost/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../src/lib/ids.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { anAutomation } from '../../support/automation-fixtures.ts';
import { cli, cliProgram } from '../../support/cli.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';

const emails = fileURLToPath(new URL('../../../packages/cli/test/emails', import.meta.url));

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let home: string;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  home = mkdtempSync(join(tmpdir(), 'fernpost-cli-'));
});
afterAll(async () => {
  await api.close();
  await database.close();
  rmSync(home, { recursive: true });
});

const { start, run, json } = cli(() => ({
  XDG_CONFIG_HOME: home,
  FERNPOST_URL: api.url,
  FERNPOST_KEY: project.secretKey,
}));
const sending = (to: string) => [
  'send',
  '--to',
  to,
  '--from',
  project.sender,
  '--subject',
  'Hi',
  '--body',
  '<p>Hi</p>',
];

test('keeps the key in a file that only the user can read, and uses it', async () => {
  const asked = { FERNPOST_KEY: '', FERNPOST_URL: '' };
  const login = await run(['--url', api.url, 'login'], { env: asked, input: `${project.secretKey}\n` });
  expect(login).toMatchObject({ code: 0, err: '' });
  expect(login.out).not.toContain(project.secretKey);
  expect(statSync(join(home, 'fernpost', 'config.json')).mode & 0o777).toBe(0o600);
  expect((await run(sending('login@kunde.example'), { env: asked })).code).toBe(0);
});

test('a login, an environment and a file of the earlier name are used', async () => {
  const mail = join(home, 'earlier-mail');
  mkdirSync(mail);
  writeFileSync(join(mail, 'hello.html'), '<p>Hello</p>');
  const settings = { from: project.sender, templates: { hello: { subject: 'Of the earlier file' } } };
  writeFileSync(join(mail, earlier.templatesFile), JSON.stringify(settings));
  const none = { FERNPOST_KEY: '', FERNPOST_URL: '' };
  const place = join(home, 'earlier');
  mkdirSync(join(place, earlier.folder), { recursive: true });
  writeFileSync(join(place, earlier.folder, 'config.json'), JSON.stringify({ url: api.url, key: project.secretKey }));
  const kept = await run(['templates', 'push', mail, '--json'], { env: { ...none, XDG_CONFIG_HOME: place } });
  expect([kept.code, kept.err]).toEqual([0, '']);
  const { body } = await api.call(project.secretKey, 'GET', '/templates?search=hello');
  expect(JSON.stringify(body)).toContain('Of the earlier file');
  const named = { ...none, [earlier.url]: api.url, [earlier.key]: project.secretKey, XDG_CONFIG_HOME: '/nowhere' };
  expect((await run(sending('earlier@kunde.example'), { env: named })).code).toBe(0);
});

test('refuses a key that the service does not know, and keeps nothing of it', async () => {
  const env = { XDG_CONFIG_HOME: join(home, 'other') };
  const refused = await run(['--key', `sk_${'0'.repeat(64)}`, 'login'], { env });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('not known')]);
  expect(() => statSync(join(home, 'other'))).toThrow('ENOENT');
});

test('sends a mail once for one idempotency key, and looks it up', async () => {
  const [sent] = await json([...sending('ada@kunde.example'), '--idempotency-key', 'cli-1']);
  expect(await json([...sending('ada@kunde.example'), '--idempotency-key', 'cli-1'])).toEqual([sent]);
  const other = await run([...sending('grace@kunde.example'), '--idempotency-key', 'cli-1']);
  expect([other.code, other.err]).toEqual([1, expect.stringContaining('was used before')]);
  expect(await json(['emails', 'get', sent.email])).toMatchObject({ to: 'ada@kunde.example', status: 'PENDING' });
  expect((await run(['emails', 'get', sent.email])).out).toMatch(/Status +PENDING\nTo +ada@kunde\.example/);
  const tail = await run(['emails', 'tail', '--to', 'ada@kunde.example', '--since', '60', '--once', '--json']);
  expect(
    tail.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  ).toEqual([sent.email]);
});

test('explains why a contact gets no mail', async () => {
  const to = 'explained@example.com';
  await run(['send', '--from', project.sender, '--to', to, '--subject', 'Tides', '--body', 'High at six']);
  const { code, out } = await run(['explain', to]);
  expect([code, out.split('\n')[0]]).toEqual([0, expect.stringMatching(/^will: The email is pending/)]);
  const none = '0192f6a0-0000-7000-8000-000000000000';
  expect((await run(['explain', to, '--campaign', none])).code).toBe(1);
  expect((await run(['explain', to, none])).err).toContain('campaign');
  expect((await run(['explain', to, none, '--email', none])).code).toBe(2);
  expect((await run(['explain', to, '--campaign', 'a', '--email', 'b'])).code).toBe(2);
});

test('says what is wrong in words and by its exit code', async () => {
  const refused = await run(sending('nobody'));
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/ {2}to\.0: .*\n {2}Compare the request body .*\n {2}Request: [0-9a-f-]{36}/),
  ]);
  const asJson = await run(['--json', ...sending('nobody')]);
  expect(JSON.parse(asJson.err)).toMatchObject({ error: { status: 422, fields: [{ field: 'to.0' }] } });
  expect((await run(['send'])).code).toBe(2);
  expect((await run(['emails', 'get', 'x'], { env: { FERNPOST_KEY: '', XDG_CONFIG_HOME: '/nowhere' } })).code).toBe(2);
  const gone = await run(['emails', 'get', 'x'], { env: { FERNPOST_URL: 'http://127.0.0.1:9' } });
  expect([gone.code, gone.err]).toEqual([3, expect.stringContaining('did not answer')]);
});

test('pulls, plans and pushes a workflow, and refuses to overwrite an edit of somebody else', async () => {
  const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
  const { body: made } = await call('POST', '/workflows', { name: 'Onboarding', eventName: 'signup' });
  const path = join(home, 'workflow.json');
  await json(['workflows', 'pull', made.id, '--out', path]);
  expect((await run(['workflows', 'plan', path])).out).toBe('No changes.\n');
  const file = JSON.parse(readFileSync(path, 'utf8'));
  const [trigger] = file.steps;
  file.steps.push({
    id: 'wait',
    type: 'DELAY',
    name: 'Wait',
    position: { x: 0, y: 99 },
    config: { amount: 1, unit: 'days' },
  });
  file.transitions.push({ fromStepId: trigger.id, toStepId: 'wait' });
  writeFileSync(path, JSON.stringify(file));
  const plan = await run(['workflows', 'plan', path]);
  expect(plan.out).toMatch(/^\+ DELAY Wait\n\+ [0-9a-f-]{36} → [0-9a-z-]+\n$/);
  expect((await call('GET', `/workflows/${made.id}`)).body.steps).toHaveLength(1);
  const pushed = await json(['workflows', 'push', path]);
  expect(pushed.workflow.steps).toHaveLength(2);
  expect(JSON.parse(readFileSync(path, 'utf8')).steps[1].id).toMatch(/^[0-9a-f-]{36}$/);
  const published = async () => {
    const { body: workflow } = await call('GET', `/workflows/${made.id}`);
    const { body: versions } = await call('GET', `/workflows/${made.id}/versions`);
    return [workflow.revision, versions.total];
  };
  const before = await published();
  expect(await run(['workflows', 'push', path])).toMatchObject({
    code: 0,
    out: 'No changes: nothing was published.\n',
  });
  expect(await published()).toEqual(before);

  await call('PATCH', `/workflows/${made.id}`, { name: 'Renamed' });
  const refused = await run(['workflows', 'push', path]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--force')]);
  const edited = JSON.parse(readFileSync(path, 'utf8'));
  edited.steps[1].name = 'Wait a day';
  writeFileSync(path, JSON.stringify(edited));
  expect((await run(['workflows', 'push', path])).code).toBe(1);
  expect((await run(['workflows', 'push', '--force', path])).out).toContain('~ DELAY Wait a day');
});

test('pushes a file without an id: the workflow is created once, even where its graph is refused at first', async () => {
  const call = (method: string, path: string) => api.call(project.secretKey, method, path);
  const path = join(home, 'new.json');
  const position = { x: 0, y: 0 };
  const wait = { id: 'wait', type: 'DELAY', name: 'Wait', position, config: { amount: 1, unit: 'days' } };
  const written = {
    name: 'Made by a file',
    triggerType: 'EVENT',
    eventName: 'signup',
    allowReentry: true,
    steps: [{ id: 'start', type: 'TRIGGER', name: 'Trigger', position, config: {} }, wait],
    transitions: [{ fromStepId: 'start', toStepId: 'nowhere' }],
  };
  writeFileSync(path, JSON.stringify(written));
  expect(await run(['workflows', 'plan', path])).toMatchObject({ code: 2, err: expect.stringContaining('has no id') });
  expect(await run(['workflows', 'push', path])).toMatchObject({
    code: 1,
    err: expect.stringContaining('is no step of this graph'),
  });
  const started = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(
    path,
    JSON.stringify({ ...started, transitions: [{ fromStepId: started.steps[0].id, toStepId: 'wait' }] }),
  );
  expect((await run(['workflows', 'push', path])).out).toContain('+ DELAY Wait');
  const { body: list } = await call('GET', '/workflows?search=Made');
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual([started.id]);
  expect((await call('GET', `/workflows/${started.id}`)).body).toMatchObject({
    ...{
      name: 'Made by a file',
      enabled: false,
      allowReentry: true,
      triggerConfig: { eventName: 'signup' },
      issues: [],
    },
    transitions: [{ fromStepId: started.steps[0].id }],
  });
});

test('pulls and pushes exits and the goal of a workflow, and shows how many have reached it', async () => {
  const { body: made } = await api.call(project.secretKey, 'POST', '/workflows', { name: 'Aims', eventName: 'signup' });
  const path = join(home, 'goal.json');
  await json(['workflows', 'pull', made.id, '--out', path]);
  const file = JSON.parse(readFileSync(path, 'utf8'));
  const ends = {
    exits: [{ id: 'left', on: { event: 'account.closed' }, reason: 'closed the account' }],
    // biome-ignore lint/suspicious/noThenProperty: the field of the API.
    goal: { on: { event: 'order.paid' }, withinDays: 14, then: 'count' },
  };
  writeFileSync(path, JSON.stringify({ ...file, ...ends }));
  expect((await run(['workflows', 'plan', path])).out).toMatch(/^~ TRIGGER .*\(config\)\n$/);
  expect((await json(['workflows', 'push', path])).workflow).toMatchObject(ends);
  const { exits: _, goal: __, ...earlier } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(earlier));
  expect((await run(['workflows', 'plan', path])).out).toBe('No changes.\n');
  await api.call(project.secretKey, 'PATCH', `/workflows/${made.id}`, { enabled: true });
  for (const name of ['one', 'two']) {
    const contactId = await aContact(database.db, project.id, `aims-${name}@kunde.example`);
    await api.call(project.secretKey, 'POST', `/workflows/${made.id}/executions`, { contactId });
  }
  await database.db.count(
    `update automation_goals set met_at = entered_at + interval '36 hours', check_at = null
     where run_id = (select id from automation_runs where automation_id = $1 order by id desc limit 1)`,
    [made.id],
  );
  const shown = '1 of 2 reached the goal: 50.0 % (9.5–90.5 %), median 1.5 days. 1 still have time, 0 met it on entry.';
  expect((await run(['workflows', 'goal', made.id, '--by', 'version'])).out).toBe(`${shown}\nVersion 1: ${shown}\n`);
  expect((await json(['workflows', 'goal', made.id])).groups).toEqual([]);
  expect((await run(['workflows', 'goal', made.id, '--by', 'day'])).code).toBe(2);
});

test('enrolls contacts whose event passes tests of its data, and shows the goals of both versions of a rollout', async () => {
  const make = await api.call(project.secretKey, 'POST', '/workflows', { name: 'Past', eventName: 'began' });
  const { id } = make.body;
  // biome-ignore lint/suspicious/noThenProperty: the field of the API.
  const goal = { on: { event: 'order.paid' }, withinDays: 14, then: 'count' };
  await api.call(project.secretKey, 'PATCH', `/workflows/${id}`, { enabled: true, goal });
  for (const total of [1, 7, 9]) {
    const event = { email: `past-${total}@kunde.example`, event: 'past.order', data: { total } };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event)).body).toMatchObject({ success: true });
  }
  const path = join(home, 'where.json');
  writeFileSync(path, JSON.stringify([{ path: 'total', operator: 'greaterThan', value: 5 }]));
  const past = ['workflows', 'enroll', id, '--event', 'past.order', '--since', '2026-01-01T00:00:00Z'];
  expect((await run([...past, '--dry-run'])).out).toBe('3 of 3 would enter.\n');
  expect((await run([...past, '--where', path, '--dry-run'])).out).toBe('2 of 2 would enter.\n');
  expect(await json([...past, '--where', path])).toMatchObject({ jobId: expect.stringMatching(/^bulk-enroll-/) });
  expect((await run(['workflows', 'enroll', id, '--segment', newId(), '--where', path])).code).toBe(2);

  const { body: whole } = await api.call(project.secretKey, 'GET', `/workflows/${id}`);
  const end = { id: 'end', type: 'EXIT', name: 'End', position: { x: 0, y: 0 }, config: { reason: 'over' } };
  const [trigger] = whole.steps;
  const graph = { steps: [trigger, end], transitions: [{ fromStepId: trigger.id, toStepId: 'end' }] };
  await api.call(project.secretKey, 'PUT', `/workflows/${id}/graph`, { ...graph, rollout: { percent: 50 } });
  const shown = (await run(['workflows', 'rollout', id])).out;
  expect(shown.match(/ {2}0 of 0 reached the goal\. 0 still have time, 0 met it on entry\./g)).toHaveLength(2);
});

test('lets failed executions of a workflow go on: those that are named, or all', async () => {
  const automation = await anAutomation(database.db, project.id, { steps: { out: ['EXIT'] } });
  const path = `/workflows/${automation.id}/executions`;
  const runs: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const contactId = await aContact(database.db, project.id, `retried-${name}@kunde.example`);
    runs.push((await api.call(project.secretKey, 'POST', path, { contactId })).body.id);
  }
  const fail = () =>
    database.db.count(
      `update automation_runs set status = 'FAILED', completed_at = now(), exit_reason = 'No template' where automation_id = $1`,
      [automation.id],
    );
  const states = async () =>
    (
      await database.db.rows<{ status: string }>(
        'select status from automation_runs where automation_id = $1 order by id',
        [automation.id],
      )
    ).map(({ status }) => status);
  await fail();
  const [first = '', second = ''] = runs;
  const dry = await json(['workflows', 'retry', automation.id, '--error', 'no TEMPLATE', '--dry-run']);
  expect(dry).toMatchObject({
    retried: 3,
    skipped: 0,
    steps: [{ stepName: 'trigger', executions: 3, lastError: 'No template' }],
  });
  const none = await run([
    'workflows',
    'retry',
    automation.id,
    '--step',
    newId(),
    '--from',
    automation.steps.out ?? '',
  ]);
  expect([none.code, none.out]).toEqual([0, '0 retried at the step that failed, 0 skipped.\n']);
  expect(await json(['workflows', 'retry', automation.id, second])).toEqual({ retried: 1, skipped: 0 });
  expect(await states()).toEqual(['FAILED', 'RUNNING', 'FAILED']);
  // What runs is not retried.
  expect(await json(['workflows', 'retry', automation.id, first, second])).toEqual({ retried: 1, skipped: 1 });
  const rest = await run(['workflows', 'retry', automation.id]);
  expect([rest.code, rest.out]).toEqual([0, '1 retried at the step that failed, 0 skipped.\n']);
  expect(await states()).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
  expect(await json(['workflows', 'retry', automation.id])).toEqual({ retried: 0, skipped: 0 });
  await api.call(project.secretKey, 'PATCH', `/workflows/${automation.id}`, { enabled: false });
  const disabled = await run(['workflows', 'retry', automation.id]);
  expect([disabled.code, disabled.err]).toEqual([1, expect.stringContaining('enable it before you retry')]);
  expect((await run(['workflows', 'retry', newId()])).err).toContain('workflow');
});

test('renders templates of React Email and HTML, keeps their variables, and saves what changed', async () => {
  const dry = await json(['templates', 'push', emails, '--dry-run', '--from', project.sender]);
  expect(dry.map(({ name, change }: { name: string; change: string }) => [name, change])).toEqual([
    ['notice', 'created'],
    ['welcome', 'created'],
  ]);
  const created = await json(['templates', 'push', emails, '--from', project.sender]);
  const bodies: Record<string, { body: string; subject: string; type: string }> = {};
  for (const { name, id } of created)
    bodies[name] = (await api.call(project.secretKey, 'GET', `/templates/${id}`)).body;
  expect(bodies.welcome).toMatchObject({ subject: 'Welcome, {{firstName}}', type: 'MARKETING' });
  expect(bodies.welcome?.body).toContain('{{firstName}}');
  expect(bodies.welcome?.body).toContain('{{ plan | default: "free" }}');
  expect(bodies.welcome?.body).toContain('href="{{confirmUrl}}"');
  expect(bodies.notice?.body).toContain('{% if urgent %}');
  const again = await json(['templates', 'push', emails, '--from', project.sender]);
  expect(again.map(({ change }: { change: string }) => change)).toEqual(['unchanged', 'unchanged']);
});

test('saves no template when one of them is broken, or its tool is missing', async () => {
  const folder = join(home, 'broken');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.html'), '<title>A</title>');
  writeFileSync(join(folder, 'b.mjml'), '<mjml><mj-body></mj-body></mjml>');
  const missing = await run(['templates', 'push', folder, '--from', project.sender]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('npm install mjml')]);
  rmSync(join(folder, 'b.mjml'));
  writeFileSync(join(folder, 'c.jsx'), 'export default () => { throw new Error("no props") };');
  const thrown = await run(['templates', 'push', folder, '--from', project.sender]);
  expect([thrown.code, thrown.err]).toEqual([expect.any(Number), expect.stringMatching(/c\.jsx.*/)]);
  rmSync(join(folder, 'c.jsx'));
  const { body } = await api.call(project.secretKey, 'GET', '/templates?search=a');
  expect(body.data.filter(({ name }: { name: string }) => name === 'a')).toEqual([]);
});

test('names the file of a template that the service refuses', async () => {
  const folder = join(home, 'refused');
  mkdirSync(folder);
  writeFileSync(join(folder, 'unclosed.html'), '<title>A</title>{% if plan %}never closed');
  const refused = await run(['templates', 'push', folder, '--from', project.sender]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^\/.*refused\/unclosed\.html: .*/)]);
  const asJson = await run(['--json', 'templates', 'push', folder, '--from', project.sender]);
  expect(JSON.parse(asJson.err).error).toMatchObject({ status: 400, file: join(folder, 'unclosed.html') });
});

test('ends in silence when its reader has gone', async () => {
  await run(sending('reader@kunde.example'));
  const child = start(['emails', 'tail', '--since', '60', '--json']);
  const errors = child.stderr ? text(child.stderr) : '';
  const ended = once(child, 'close');
  await once(child.stdout ?? child, 'data');
  child.stdout?.destroy();
  // Tail prints what changes; the next line finds that nobody reads.
  await run(sending('next-reader@kunde.example'));
  const [code] = await ended;
  expect([code, await errors]).toEqual([0, '']);
});

test('launches a campaign only when it is told to, and watches it', async () => {
  await api.call(project.secretKey, 'POST', '/contacts', { email: 'ada@kunde.example', subscribed: true });
  const { body } = await api.call(project.secretKey, 'POST', '/campaigns', {
    name: 'News',
    subject: 'News',
    body: '<p>News</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const { id } = body.data;
  expect(await run(['campaigns', 'launch', id])).toMatchObject({ code: 2, out: '' });
  const refused = await run(['campaigns', 'watch', id]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('it is DRAFT')]);
  const at = new Date(Date.now() + 86_400_000).toISOString();
  expect(await json(['campaigns', 'launch', id, '--yes', '--at', at])).toMatchObject({ status: 'SCHEDULED' });
});

test('forwards new events, signed as webhooks are', async () => {
  const calls: { headers: Record<string, string>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    calls.push({ headers: request.headers as Record<string, string>, body: await text(request) });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const track = (event: string) =>
    api.call(project.publicKey, 'POST', '/v1/track', { email: 'ada@kunde.example', event, data: { n: 1 } });
  await track('before');
  const { port } = server.address() as AddressInfo;
  const child = start(['--json', 'webhooks', 'listen', '--forward', `127.0.0.1:${port}`, '--events', 'order.*']);
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  const { secret } = JSON.parse((await lines.next()).value ?? '');
  await track('other');
  await track('order.paid');
  expect(JSON.parse((await lines.next()).value ?? '')).toMatchObject({ type: 'order.paid', answer: 200 });
  expect(calls).toHaveLength(1);
  const [call] = calls;
  expect(verifyWebhook(call?.body ?? '', call?.headers ?? {}, secret)).toMatchObject({
    type: 'order.paid',
    data: { event: { data: { n: 1 } }, contact: { email: 'ada@kunde.example' } },
  });
});

test('speaks MCP on standard input and output', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const env = { XDG_CONFIG_HOME: home, FERNPOST_URL: api.url, FERNPOST_KEY: project.secretKey };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [cliProgram, 'mcp'], env }));
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('find_contact');
  const found = await client.callTool({ name: 'find_contact', arguments: { search: 'nobody' } });
  expect(found.structuredContent).toMatchObject({ contacts: [] });
});
