import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { SandboxInbox } from '@fernpost/sdk/testing';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { type AppProject, anAppProject } from '../support/app-project.ts';
import { fetched } from '../support/fetched.ts';

// The apps in `examples`, started and used as their pages say.
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
const examples = join(import.meta.dirname, '../../examples');

let project: AppProject;
let inbox: SandboxInbox;

beforeAll(async () => {
  project = await anAppProject();
  inbox = new SandboxInbox(project.sandboxUrl);
  for (const name of ['hono', 'python-worker', 'cms-smtp'])
    cpSync(join(examples, name), join(project.folder, name), { recursive: true });
});
afterAll(() => project?.[Symbol.dispose]());

/** What the examples need, in the versions that they name. */
function installed(context: TestContext): Promise<void> {
  const needed = ['hono', 'cms-smtp'].flatMap((name) => {
    const { dependencies } = JSON.parse(readFileSync(join(examples, name, 'package.json'), 'utf8'));
    return Object.entries<string>(dependencies).map(([other, version]) => `${other}@${version}`);
  });
  return project.install(
    context,
    needed.filter((name) => !name.startsWith('@fernpost/')),
  );
}

const keys = () => ({ FERNPOST_KEY: project.env.SECRET_KEY, SMTP_PASSWORD: project.env.SECRET_KEY });

/** Starts an app and answers where it listens, as it says. */
async function start(file: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [file], {
    cwd: project.folder,
    env: { ...project.env, ...keys(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^listening on (\d+)$/.exec(line)?.[1];
    if (port !== undefined) return `http://localhost:${port}`;
  }
  throw new Error(`${file} ended before it listened`);
}

async function call(url: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const options = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, body === undefined ? {} : options);
  return { status: response.status, body: await response.json() };
}

test('has a page for each example', () => {
  const folders = readdirSync(examples).filter((name) => name !== 'README.md');
  const page = readFileSync(join(examples, 'README.md'), 'utf8');
  expect(folders.map((name) => page.includes(`(${name}/README.md)`))).toEqual(folders.map(() => true));
});

test('the web app sends one receipt for an order, looks it up, and learns of a bounce', async (context) => {
  await installed(context);
  const { stdout: secret } = await project.run(
    process.execPath,
    ['hono/create-endpoint.ts', `http://localhost:${project.webhookPort}/webhooks/fernpost`],
    keys(),
  );
  const url = await start('hono/server.ts', { WEBHOOK_SECRET: secret.trim(), PORT: String(project.webhookPort) });
  const order = { id: 'A-17', email: 'order@example.com', total: '42 EUR' };
  const first = await call(`${url}/orders`, order);
  expect([first.status, await call(`${url}/orders`, order)]).toEqual([201, first]);
  expect((await inbox.waitFor({ to: order.email, subject: 'A-17' }, 60)).html).toContain('42 EUR');
  await expect.poll(async () => (await call(`${url}/orders/A-17/receipt`)).body.status).toBe('DELIVERED');
  expect((await call(`${url}/orders`, { ...order, id: 'A-18', email: 'nobody' })).status).toBe(422);

  await call(`${url}/orders`, { ...order, id: 'A-19', email: 'hardbounce@example.com' });
  await expect.poll(async () => (await call(`${url}/unreachable`)).body).toEqual(['hardbounce@example.com']);
  const forged = await fetch(`${url}/webhooks/fernpost`, { method: 'POST', body: '{}' });
  expect(forged.status).toBe(400);
});

test('the worker in Python sends each job once, however often it is started', async (context) => {
  await promisify(execFile)('python3', ['--version']).catch(() => context.skip('there is no Python'));
  await project.run('python3', ['-m', 'venv', 'python']);
  const python = join(project.folder, 'python/bin/python');
  const wheel = `${project.baseUrl}/downloads/fernpost-${version}-py3-none-any.whl`;
  await fetched(context, python, ['-m', 'pip', 'install', '--quiet', wheel], { cwd: project.folder });
  const work = () => project.run(python, ['python-worker/worker.py', 'python-worker/jobs.jsonl'], keys());
  const { stdout } = await work();
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect((await work()).stdout).toBe(stdout);
  for (const to of ['ada@example.com', 'grace@example.com']) await inbox.waitFor({ to, subject: 'Your report' }, 60);

  const refused = join(project.folder, 'refused.jsonl');
  writeFileSync(refused, '{"id": "19", "email": "nobody", "subject": "Hi", "body": "Hi"}\n');
  const failed = await project.run(python, ['python-worker/worker.py', refused], keys()).catch((error) => error);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(/^19 refused: /)]);
});

test('the CMS sends by SMTP, and says what the server refuses', async (context) => {
  await installed(context);
  const url = await start('cms-smtp/cms.js', { PORT: '0' });
  const published = await call(url, { title: 'Tides', text: 'High at six.' });
  expect(published).toMatchObject({ status: 201, body: { queued: expect.stringMatching(/^250 2\.0\.0 Queued /) } });
  for (const to of ['ada@example.com', 'grace@example.com'])
    expect((await inbox.waitFor({ to, subject: 'Published: Tides' }, 60)).text).toContain('High at six.');

  const stranger = await start('cms-smtp/cms.js', { PORT: '0', SENDER: 'cms@stranger.example' });
  const refused = await call(stranger, { title: 'No', text: 'No' });
  expect(refused).toMatchObject({ status: 502, body: { error: expect.stringContaining('not verified') } });
});
