import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi.ts';
import { routes } from '../../../src/main/api/routes.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { fetched } from '../../support/fetched.ts';

// What others make of /openapi.json: linters find nothing in it, and clients generated from it compile and send a mail. The tools are
// fetched when the test runs: 450 packages that nothing else needs.
const root = fileURLToPath(new URL('../../../', import.meta.url));

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let folder: string;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  // In the dashboard's folder, so that the client finds openapi-fetch.
  mkdirSync(join(root, 'dashboard/.cache'), { recursive: true });
  folder = mkdtempSync(join(root, 'dashboard/.cache/openapi-'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(openApiDocument(routes, 'https://api.fernpost.test')));
});
afterAll(async () => {
  await api?.close();
  await database?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** Runs a program in the folder; its output is the failure when it fails. */
async function run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 };
  return promisify(execFile)(program, args, options).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
    },
  );
}

// npx runs in the project's folder.
const document = () => join(folder, 'openapi.json');
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
async function npx(context: TestContext, tool: string, ...args: string[]): Promise<string> {
  await fetched(context, 'npx', ['--yes', '--package', tool, '--', 'node', '--eval', ''], { cwd: folder });
  return run('npx', ['--yes', tool, ...args], quiet);
}

test('Spectral finds nothing', async (context) => {
  writeFileSync(join(folder, 'spectral.yaml'), 'extends: ["spectral:oas"]\n');
  const found = await npx(
    context,
    '@stoplight/spectral-cli@6.16.3',
    ...[
      'lint',
      document(),
      '--ruleset',
      join(folder, 'spectral.yaml'),
      '--format',
      'json',
      '--quiet',
      '--fail-severity',
      'hint',
    ],
  );
  expect(JSON.parse(found)).toEqual([]);
});

test('Redocly finds nothing', async (context) => {
  const rules = [
    // `/domains/project/{projectId}` beside `/domains/{id}/verify`: routers take the literal first, and ids are UUIDs.
    'no-ambiguous-paths: off',
    // `/health` and its like refuse nobody.
    'operation-4xx-response: off',
  ];
  writeFileSync(
    join(folder, 'redocly.yaml'),
    `extends: [recommended]\nrules:\n${rules.map((rule) => `  ${rule}\n`).join('')}`,
  );
  const found = await npx(
    context,
    '@redocly/cli@2.77.0',
    'lint',
    document(),
    '--format',
    'json',
    '--config',
    join(folder, 'redocly.yaml'),
  );
  expect((JSON.parse(found) as { problems: unknown[] }).problems).toEqual([]);
});

const settings = () => ({ FERNPOST_URL: api.url, SECRET_KEY: project.secretKey, SENDER: project.sender });

async function subjectsTo(address: string): Promise<string[]> {
  const { body } = await api.call(project.secretKey, 'GET', `/v1/emails?to=${address}`);
  return (body.data as { subject: string }[]).map(({ subject }) => subject);
}

test('openapi-typescript and openapi-fetch make a client that sends', async (context) => {
  await npx(context, 'openapi-typescript@7.13.0', document(), '--output', join(folder, 'schema.d.ts'));
  writeFileSync(
    join(folder, 'client.ts'),
    `import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

const { FERNPOST_URL, SECRET_KEY, SENDER } = process.env as Record<string, string>;
const client = createClient<paths>({ baseUrl: FERNPOST_URL!, headers: { Authorization: \`Bearer \${SECRET_KEY}\` } });
const { data, error } = await client.POST('/v1/send', {
  params: { header: { 'Idempotency-Key': 'generated' } },
  body: { to: 'fetch@example.com', from: SENDER!, subject: 'From a generated client', body: '<p>Hello</p>' },
});
if (error) throw new Error(JSON.stringify(error));
const [email] = data.data.emails;
const found = await client.GET('/v1/emails/{id}', { params: { path: { id: email!.email } } });
const status: 'PENDING' | 'SENT' | string | undefined = found.data?.status;
const contacts = await client.GET('/contacts', { params: { query: { limit: 5, subscribed: true } } });
if (status === undefined || contacts.data === undefined) throw new Error('nothing was found');
`,
  );
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { skipLibCheck: false },
      include: ['./*.ts'],
    }),
  );
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
  await run(process.execPath, [join(folder, 'client.ts')], settings());
  expect(await subjectsTo('fetch@example.com')).toEqual(['From a generated client']);
});

test('openapi-python-client makes a client that sends', async (context) => {
  const packages = join(folder, 'packages');
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', packages];
  await fetched(context, 'python3', [...install, 'openapi-python-client==0.29.1'], { cwd: folder });
  const env = { PYTHONPATH: packages, PATH: `${join(packages, 'bin')}:${process.env.PATH}` };
  const generate = ['-m', 'openapi_python_client', 'generate', '--path', 'openapi.json'];
  await run('python3', [...generate, '--output-path', 'python', '--meta', 'none'], env);
  await run('python3', ['-m', 'compileall', '-q', 'python']);
  writeFileSync(
    join(folder, 'send.py'),
    `import os
from python import AuthenticatedClient
from python.api.emails import send_email
from python.models import SendEmailRequest

client = AuthenticatedClient(base_url=os.environ["FERNPOST_URL"], token=os.environ["SECRET_KEY"])
body = SendEmailRequest(
    to="python@example.com", from_=os.environ["SENDER"], subject="From a generated client", body="<p>Hello</p>"
)
answer = send_email.sync(client=client, body=body)
assert answer.data.emails[0].email, answer
`,
  );
  await run('python3', ['send.py'], { ...env, ...settings() });
  expect(await subjectsTo('python@example.com')).toEqual(['From a generated client']);
});
