import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts } from '@fernpost/local-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { inPage, sharedBrowser } from '../support/browser.ts';
import { fetched } from '../support/fetched.ts';
import { aPlace, type Place, type Run, startIn } from '../support/npm-start.ts';
import { pythonProgram, referenceExamples, typeScriptProgram } from '../support/reference-examples.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The snippets of a page in a language, in their order. */
function snippetsOf(page: string, language: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, snippet = '']) =>
    name === language ? [snippet] : [],
  );
}

// Those beside the folder are for operators, who run other things than a client.
const guides = [
  ...readFileSync(join(root, 'docs/guides/README.md'), 'utf8').matchAll(/^- \[.*?\]\(([\w-]+)\.md\)/gm),
].map(([, name = '']) => name);

// Of the reference what needs nothing but a key: everything that is read without an ID, and some writes.
const writes = [
  'upsertContact',
  'lookupContacts',
  'searchContacts',
  'previewSegment',
  'trackEvent',
  'verifyAddress',
  'callMcp',
];
const examples = referenceExamples.filter(
  ({ id, variables, request }) =>
    (request.operation.method === 'GET' || writes.includes(id)) &&
    variables.length === 0 &&
    /Key$/.test(request.credential ?? ''),
);

interface Mail {
  to: { email: string }[];
  subject: string;
  html: string;
}

let place: Place;
let service: Run;
let folder: string;
let webhookPort: number;
let python: Promise<string> | undefined;

/** The programs of a Python environment, which the first test that asks makes. */
function pythonPrograms(): Promise<string> {
  const own = join(folder, 'python');
  python ??= run('python3', ['-m', 'venv', own]).then(() => join(own, 'bin'));
  return python;
}

beforeAll(async () => {
  place = await aPlace();
  [webhookPort = 0] = await freePorts(1);
  folder = mkdtempSync(join(tmpdir(), 'fernpost-guides-'));
  service = startIn(place);
  await service.untilReady();
  await eventually(async () => (await fetch(`${place.baseUrl}/downloads/`)).ok);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  place?.[Symbol.dispose]();
  if (folder) rmSync(folder, { recursive: true });
});

/** The command of the quick start that installs a client from the service. */
function installCommand(program: string): string[] {
  const lines = snippetsOf('docs/guides/quick-start.md', 'console').flatMap((snippet) => snippet.split('\n'));
  const line = lines.find((one) => one.startsWith(`${program} install `)) ?? '';
  return served(line).split(' ').slice(1);
}

/** What the inbox has, by subject. */
async function inbox(): Promise<Mail[]> {
  const { messages } = (await (await fetch(`${place.sandboxUrl}/api/messages`)).json()) as {
    messages: { id: string }[];
  };
  const mails = await Promise.all(
    messages.map(async ({ id }) => (await fetch(`${place.sandboxUrl}/api/messages/${id}`)).json() as Promise<Mail>),
  );
  return mails.sort((one, other) => one.subject.localeCompare(other.subject));
}

function here(text: string): string {
  return text
    .replaceAll('./.data/', `${place.dataDir}/`)
    .replaceAll('http://localhost:3000', place.baseUrl)
    .replaceAll('http://localhost:8025', place.sandboxUrl)
    .replaceAll('127.0.0.1:2525', `127.0.0.1:${place.env.SMTP_IN_PORT}`)
    .replaceAll('localhost:4000', `localhost:${webhookPort}`)
    .replaceAll(/\b4000\b/g, String(webhookPort));
}

/** Runs a script of bash, in which a status that is no success fails. */
async function bash(script: string): Promise<string> {
  const strict = 'curl() { command curl -sS --fail-with-body "$@"; }';
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${strict}\n${here(script)}`], { cwd: folder });
  return stdout;
}

test('the snippets of the README, pasted in order, end in a received campaign', async () => {
  const [install = '', ...snippets] = snippetsOf('README.md', 'sh');
  expect(install).toBe('npm ci && npm start\n');
  expect(await bash(snippets.join('\n'))).toContain('"totalRecipients":1');
  await eventually(async () => (await inbox()).length === 2);
  const to = [{ email: 'ada@example.com' }];
  expect(await inbox()).toMatchObject([
    { to, subject: 'Hello Ada', html: expect.stringContaining('Welcome, Ada!') },
    { to, subject: 'News for ada@example.com', html: expect.stringContaining('You are on the pro plan.') },
  ]);
});

// What the quick start sets for all guides.
function environment(): NodeJS.ProcessEnv {
  const file = readFileSync(join(place.dataDir, 'first-project.json'), 'utf8');
  const { secretKey, publicKey } = JSON.parse(file) as { secretKey: string; publicKey: string };
  return { ...process.env, FERNPOST_URL: place.baseUrl, SECRET_KEY: secretKey, PUBLIC_KEY: publicKey };
}

test('the snippet of the empty inbox runs, and its mail appears on the open page', async () => {
  await fetch(`${place.sandboxUrl}/api/messages`, { method: 'DELETE' });
  const browser = await sharedBrowser();
  await inPage(browser, {}, async (page) => {
    await page.goto(place.sandboxUrl);
    await page.getByText('Live', { exact: true }).waitFor();
    const snippet = (await page.locator('#snippet').textContent()) ?? '';
    expect(snippet).toContain('/v1/send');
    await run('bash', ['-euo', 'pipefail', '-c', snippet.replace('curl', 'curl -sS --fail-with-body')], {
      env: environment(),
    });
    const row = page.getByRole('navigation', { name: 'Messages' }).getByRole('link', { name: 'Hello' });
    await row.waitFor();
    await row.click();
    await page.frameLocator('iframe').getByText('Welcome!').waitFor();
  });
});

test('every guide has each of its snippets in curl, TypeScript and Python', () => {
  for (const guide of guides) {
    const counts = ['sh', 'ts', 'python'].map((language) => snippetsOf(`docs/guides/${guide}.md`, language).length);
    expect(new Set(counts).size, `${guide} has ${counts} snippets in curl, TypeScript and Python`).toBe(1);
  }
});

test('a good part of the API reference is run', () => {
  expect(examples.length).toBeGreaterThan(35);
});

test('the snippets in curl run', async () => {
  const [setUp = ''] = snippetsOf('docs/guides/quick-start.md', 'sh');
  const scripts = guides.map((guide) => {
    const snippets = snippetsOf(`docs/guides/${guide}.md`, 'sh');
    return `(\n${setUp}\n${snippets.join('\n')}\n) || { echo "${guide} failed" >&2; exit 1; }`;
  });
  const commands = examples.map(({ id, curl }) => `{ ${curl} > /dev/null; } || { echo "${id} failed" >&2; exit 1; }`);
  await bash([...scripts, setUp, ...commands].join('\n'));
});

/** Where the service is, and its version, as its own pages say them. */
const served = (text: string) =>
  here(text.replaceAll('https://mail.example.com', place.baseUrl).replaceAll('<version>', version));

test('the commands with the command line run it from the service', async () => {
  const emails = join(folder, 'emails');
  mkdirSync(emails);
  writeFileSync(join(emails, 'welcome.html'), '<title>Welcome</title><p>Hello {{firstName}}</p>');
  writeFileSync(join(emails, 'fernpost.json'), JSON.stringify({ from: 'hello@fernpost.test' }));
  const { SECRET_KEY = '' } = environment();
  const env = {
    ...environment(),
    FERNPOST_KEY: SECRET_KEY,
    npm_config_cache: join(folder, 'npm'),
    npm_config_yes: 'true',
  };
  const commands = guides.flatMap((guide) => [
    ...readFileSync(join(root, `docs/guides/${guide}.md`), 'utf8').matchAll(/`(npx https:[^`]+)`/g),
  ]);
  expect(commands.length).toBeGreaterThan(1);
  for (const [, command = ''] of commands) {
    const { stdout } = await run('bash', ['-c', served(command)], { cwd: folder, env });
    expect(stdout, command).toMatch(/welcome/);
  }
});

test('the snippets for a terminal install the clients, and the command line signs in and sends', async (context) => {
  const own = join(folder, 'terminal');
  mkdirSync(own);
  cpSync(join(root, 'examples/journeys'), join(own, 'journeys'), { recursive: true });
  const snippets = guides.flatMap((guide) => snippetsOf(`docs/guides/${guide}.md`, 'console'));
  const [start, ...others] = snippets;
  expect(start).toBe('npm ci && npm start\n');
  const commands = others.flatMap((snippet) => served(snippet).trim().split('\n'));
  expect(commands).toEqual(
    expect.arrayContaining([expect.stringMatching(/^fernpost login /), expect.stringMatching(/^fernpost send /)]),
  );
  const { SECRET_KEY = '', PATH = '', FERNPOST_KEY: _, FERNPOST_URL: __, ...others_ } = environment();
  const env = {
    ...others_,
    HOME: own,
    XDG_CONFIG_HOME: join(own, 'config'),
    PATH: `${await pythonPrograms()}:${own}/global/bin:${PATH}`,
    npm_config_prefix: join(own, 'global'),
    npm_config_cache: join(folder, 'npm'),
  };
  // What asks for something gets the key.
  const script = commands.map((command) => `printf %s '${SECRET_KEY}' | ${command}`).join('\n');
  await fetched(context, 'bash', ['-euo', 'pipefail', '-c', script], { cwd: own, env });
  await eventually(async () => (await inbox()).some(({ subject }) => subject === 'Hi'));
});

test('the settings of an assistant that starts a program start it', async () => {
  const text =
    snippetsOf('docs/guides/language-models.md', 'json').find((snippet) => snippet.includes('"command"')) ?? '';
  const { command, args, env } = JSON.parse(served(text).replace('rk_…', environment().SECRET_KEY ?? ''));
  const npm = { npm_config_cache: join(folder, 'npm') };
  const child = execFile(command, args, { cwd: folder, env: { ...process.env, ...npm, ...env } });
  child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
  let output = '';
  for await (const chunk of child.stdout ?? []) output += chunk;
  expect(JSON.parse(output).result.tools.map(({ name }: { name: string }) => name)).toContain('list_stuck');
});

test('the snippets in TypeScript compile and run', async (context) => {
  const own = join(folder, 'typescript');
  mkdirSync(own);
  writeFileSync(join(own, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', [...installCommand('npm'), '--no-audit', '--no-fund'], { cwd: own });
  await fetched(context, 'npm', ['install', '--no-audit', '--no-fund', `nodemailer@${dependencies.nodemailer}`], {
    cwd: own,
  });
  const [setUp = ''] = snippetsOf('docs/guides/quick-start.md', 'ts');
  writeFileSync(join(own, 'fernpost.ts'), here(setUp));
  for (const guide of guides) {
    const snippets = snippetsOf(`docs/guides/${guide}.md`, 'ts').filter((snippet) => snippet !== setUp);
    const client = snippets.join('').includes('fernpost.') ? "import { fernpost } from './fernpost.ts';\n" : '';
    writeFileSync(join(own, `${guide}.ts`), here(`${client}${snippets.join('\n')}\nexport {};\n`));
  }
  writeFileSync(join(own, 'reference.ts'), typeScriptProgram(examples));
  writeFileSync(
    join(own, 'all.ts'),
    `${guides.map((guide) => `await import('./${guide}.ts');\n`).join('')}
for (const example of Object.values(await import('./reference.ts'))) await example();
`,
  );
  symlinkSync(join(root, 'tsconfig.json'), join(own, 'base.json'));
  writeFileSync(
    join(own, 'tsconfig.json'),
    JSON.stringify({
      extends: './base.json',
      compilerOptions: { noUnusedLocals: false, typeRoots: [join(root, 'node_modules/@types')] },
      include: ['./*.ts'],
    }),
  );
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', own]).catch(({ stdout }) => expect(stdout).toBe(''));
  await run(process.execPath, [join(own, 'all.ts')], { env: environment() });
});

test('the snippet with the client for Node of Plunk runs', async (context) => {
  const own = join(folder, 'plunk');
  mkdirSync(own);
  writeFileSync(join(own, 'package.json'), JSON.stringify({ private: true }));
  await fetched(context, 'npm', ['install', '--no-audit', '--no-fund', '@plunk/node@3.0.3'], { cwd: own });
  const [snippet = '', ...others] = snippetsOf('docs/guides/from-plunk.md', 'js');
  expect(others).toEqual([]);
  const refused = `await plunk.emails.send({ to: 'grace@example.com', subject: 'x', body: 'x', from: 'hello@fernpost.test', type: 'markdown' }).then(
    () => { throw new Error('Markdown was taken'); },
    (error) => console.log(error.message),
  );`;
  const program = `(async () => {\n${snippet}\n${refused}\n})().catch((error) => { console.error(error); process.exit(1); });`;
  writeFileSync(join(own, 'app.cjs'), program);
  const { stdout } = await run(process.execPath, ['app.cjs'], { cwd: own, env: environment() });
  expect(stdout).toBe('Unknown API Error\n');
  await eventually(async () => (await inbox()).some(({ subject }) => subject === 'By the old client'));
});

test('the snippets in Python run', async (context) => {
  const program = join(await pythonPrograms(), 'python');
  await fetched(context, program, ['-m', 'pip', ...installCommand('pip'), '--quiet'], { cwd: folder });
  const [setUp = ''] = snippetsOf('docs/guides/quick-start.md', 'python');
  const scripts = guides.map((guide) => {
    const snippets = snippetsOf(`docs/guides/${guide}.md`, 'python').filter((snippet) => snippet !== setUp);
    return { guide: `${guide}.py`, text: here(`${setUp}\n${snippets.join('\n')}`) };
  });
  const calls = examples.map(({ id }) => `${id}()\n`);
  scripts.push({ guide: 'reference.py', text: `${pythonProgram(examples)}${calls.join('')}` });
  writeFileSync(join(folder, 'scripts.json'), JSON.stringify(scripts));
  const runner = [
    'import json, sys',
    'for script in json.load(open(sys.argv[1])):',
    "    exec(compile(script['text'], script['guide'], 'exec'), {'__name__': '__main__'})",
  ];
  await run(program, ['-c', runner.join('\n'), join(folder, 'scripts.json')], { env: environment() });
});
