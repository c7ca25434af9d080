import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createContext, Script } from 'node:vm';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { type AppProject, anAppProject } from '../support/app-project.ts';
import { fetched } from '../support/fetched.ts';
import { pythonProgram, referenceExamples } from '../support/reference-examples.ts';

// The clients that a running service hands out, installed from it into an empty project, and used in each runtime that they are for.
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
const node20 = 'node@20.20.2';
const checker = 'mypy==1.19.1';

let project: AppProject;
let webhook: { secret: string; body: string; headers: Record<string, string> };

beforeAll(async () => {
  project = await anAppProject();
  cpSync(join(import.meta.dirname, 'downloads'), project.folder, { recursive: true });
  webhook = await aWebhook();
});
afterAll(() => project?.[Symbol.dispose]());

/** A call of a webhook endpoint, as the service makes it. */
async function aWebhook(): Promise<typeof webhook> {
  const arrived = Promise.withResolvers<Omit<typeof webhook, 'secret'>>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.writeHead(204).end();
    // Mail of other projects may still be on its way.
    if (JSON.parse(body).type === 'email.bounce')
      arrived.resolve({ body, headers: request.headers as Record<string, string> });
  }).listen(project.webhookPort, '127.0.0.1');
  await once(server, 'listening');
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${project.env.SECRET_KEY}`, 'Content-Type': 'application/json' };
    const response = await fetch(project.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.json() as Promise<{ id: string; secret: string }>;
  };
  const url = `http://127.0.0.1:${project.webhookPort}/`;
  const { id, secret } = await post('/webhook-endpoints', { url, events: ['email.*'] });
  await post(`/webhook-endpoints/${id}/test`, { type: 'email.bounce' });
  const call = await arrived.promise;
  server.close();
  return { ...call, secret };
}

const installed = (context: TestContext) => project.install(context, [node20]);

/** What a client is asked to do, for one recipient. */
function inputFor(to: string): object {
  const input = { url: project.baseUrl, key: project.env.SECRET_KEY, webhook, to };
  writeFileSync(join(project.folder, 'input.json'), JSON.stringify(input));
  return input;
}

const outcome = {
  listed: [{ isSent: true, subject: 'Hello' }],
  type: 'email.bounce',
  isForgeryRefused: true,
  refusal: { isRefusal: true, status: 422, code: 'VALIDATION_ERROR', fields: ['to'] },
};

const runtimes = [
  ['Node 20', () => join(project.folder, 'node_modules/node/bin/node')],
  ['Node 24', () => process.execPath],
] as const;

test.for(runtimes)('the SDK works in %s, imported and required', async ([name, node], context) => {
  await installed(context);
  expect((await project.run(node(), ['--version'])).stdout).toContain(name.replace('Node ', 'v'));
  for (const app of ['app.mjs', 'app.cjs']) {
    inputFor(`${app}-${name.replace(' ', '')}@example.com`);
    expect(JSON.parse((await project.run(node(), [app])).stdout), app).toEqual(outcome);
  }
});

test('the SDK works in an edge runtime, bundled', async (context) => {
  await installed(context);
  const bundle = await rolldown({ input: join(project.folder, 'edge.mjs'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', name: 'edge' });
  await bundle.close();
  expect(
    output.map(({ fileName, imports = [] }: { fileName: string; imports?: string[] }) => [fileName, imports]),
  ).toEqual([['edge.js', []]]);
  // What WinterTC lists for every runtime, of which the SDK uses these; no `process`, no `require`.
  const world = { AbortSignal, FormData, Headers, Response, TextEncoder, URL, clearTimeout, crypto, fetch, setTimeout };
  const context_ = createContext({ ...world, input: inputFor('edge@example.com') });
  const done = await new Script(`${output[0].code}; edge.run(input)`).runInContext(context_);
  expect(JSON.parse(JSON.stringify(done))).toEqual(outcome);
});

test.for(runtimes)('the command line works in %s', async ([, node], context) => {
  await installed(context);
  const program = join(project.folder, 'node_modules/@fernpost/cli/lib/main.js');
  const fernpost = (...args: string[]) =>
    project.run(node(), [program, ...args], { FERNPOST_KEY: project.env.SECRET_KEY, FERNPOST_URL: project.baseUrl });
  expect((await fernpost('--version')).stdout).toBe(`${version}\n`);
  const mail = ['--from', 'hello@fernpost.test', '--subject', 'Hello', '--body', '<p>Hello</p>'];
  const [sent] = JSON.parse((await fernpost('send', '--json', '--to', 'cli@example.com', ...mail)).stdout);
  expect((await fernpost('emails', 'get', sent.email)).stdout).toContain('cli@example.com');
  const failed = await fernpost('send', '--to', 'nobody', ...mail).catch((error) => error);
  expect([failed.code, failed.stderr]).toEqual([
    1,
    expect.stringMatching(/\n {2}to\.0: (.|\n)*\n {2}Request: [\w-]{36}\n/),
  ]);
});

test('npx runs the command line from its address, and asks no registry', async () => {
  const npx = (...args: string[]) =>
    project.run('npx', [
      ...['--yes', '--cache', join(project.folder, 'npm'), '--registry', 'http://127.0.0.1:9'],
      `${project.baseUrl}/downloads/cli.tgz`,
      ...args,
    ]);
  expect((await npx('--version')).stdout).toBe(`${version}\n`);
});

test('the lock file has the integrity that the page shows', async (context) => {
  await installed(context);
  const { packages } = JSON.parse(readFileSync(join(project.folder, 'package-lock.json'), 'utf8'));
  const page = await (await fetch(`${project.baseUrl}/downloads/`)).text();
  for (const name of ['sdk', 'cli']) expect(page).toContain(packages[`node_modules/@fernpost/${name}`].integrity);
});

test('the wheel works in Python, with both clients, and its types pass a type checker', async (context) => {
  const wheel = `${project.baseUrl}/downloads/fernpost-${version}-py3-none-any.whl`;
  const digest = createHash('sha256')
    .update(new Uint8Array(await (await fetch(wheel)).arrayBuffer()))
    .digest('hex');
  const page = await (await fetch(`${project.baseUrl}/downloads/`)).text();
  const [, link = ''] = /href="(\/downloads\/fernpost-[^"]+)"/.exec(page) ?? [];
  expect(project.baseUrl + link).toBe(`${wheel}#sha256=${digest}`);
  await project.run('python3', ['-m', 'venv', 'python']);
  const python = join(project.folder, 'python/bin/python');
  // It has one dependency, which comes from the registry.
  await fetched(context, python, ['-m', 'pip', 'install', '--quiet', project.baseUrl + link], { cwd: project.folder });
  for (const kind of ['sync', 'async']) {
    inputFor(`python-${kind}@example.com`);
    expect(JSON.parse((await project.run(python, ['app.py', 'input.json', kind])).stdout), kind).toEqual(outcome);
  }
  await project.run(python, ['behavior.py']);
  await fetched(context, python, ['-m', 'pip', 'install', '--quiet', checker], { cwd: project.folder });
  const checked = await project
    .run(python, ['-m', 'mypy', '--strict', '-p', 'fernpost', '--cache-dir', 'mypy'])
    .catch((error) => error);
  expect(checked.stdout).toMatch(/^Success: no issues found/);
  writeFileSync(join(project.folder, 'reference.py'), pythonProgram(referenceExamples));
  const app = await project
    .run(python, ['-m', 'mypy', '--strict', 'app.py', 'reference.py', '--cache-dir', 'mypy'])
    .catch((error) => error);
  expect(app.stdout).toMatch(/^Success: no issues found/);
});
