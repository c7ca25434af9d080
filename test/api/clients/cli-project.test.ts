import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { cli, cliProgram } from '../../support/cli.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aPerson, joins } from '../../support/people.ts';

let database: TestDatabase;
let sandbox: Sandbox;
let api: TestApi;
let project: TestProject;
let other: TestProject;
let home: string;

beforeAll(async () => {
  database = await testDatabase();
  sandbox = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    webhookUrl: null,
    webhookUser: '',
    webhookPassword: '',
    delayMs: 0,
  });
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', POSTMARK_API_URL: sandbox.url });
  [project, other] = [await aProject(database, 'Harbour'), await aProject(database, 'Lighthouse')];
  home = mkdtempSync(join(tmpdir(), 'fernpost-cli-'));
});
afterAll(async () => {
  await api.close();
  await sandbox.close();
  await database.close();
  rmSync(home, { recursive: true });
});

const { run, json } = cli(() => ({ XDG_CONFIG_HOME: home, FERNPOST_URL: api.url, FERNPOST_KEY: project.secretKey }));
/** Without a key in the environment. */
const bare = (options: readonly string[], input = '', env: Record<string, string> = {}) =>
  run(options, { input, env: { XDG_CONFIG_HOME: join(home, 'profiles'), FERNPOST_KEY: '', FERNPOST_URL: '', ...env } });

test('keeps a login for each profile, and uses the one that is named', async () => {
  const add = (profile: string, { secretKey }: TestProject) =>
    bare(['--profile', profile, '--url', api.url, 'login'], `${secretKey}\n`);
  await api.call(project.secretKey, 'POST', '/segments', { name: 'Of Harbour', type: 'STATIC' });
  await api.call(other.secretKey, 'POST', '/segments', { name: 'Of Lighthouse', type: 'STATIC' });
  expect(await add('harbour', project)).toMatchObject({ code: 0, err: '' });
  expect(await add('lighthouse', other)).toMatchObject({ code: 0, err: '' });
  const file = join(home, 'profiles/fernpost/config.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await bare(['profiles'])).out).toBe(`   harbour     ${api.url}\n*  lighthouse  ${api.url}\n`);
  const segments = async (...options: [string[], string?, Record<string, string>?]) =>
    (await bare(...options)).out.trim().split('  ').at(-1);
  expect(await segments(['segments', 'list'])).toBe('Of Lighthouse');
  expect(await segments(['--profile', 'harbour', 'segments', 'list'])).toBe('Of Harbour');
  expect(await segments(['segments', 'list'], '', { FERNPOST_PROFILE: 'harbour' })).toBe('Of Harbour');
  // A profile that is named comes before a key of the environment, which comes before one that is not.
  const env = { FERNPOST_URL: api.url, FERNPOST_KEY: other.secretKey };
  expect(await segments(['--profile', 'harbour', 'segments', 'list'], '', env)).toBe('Of Harbour');
  await bare(['profiles', 'use', 'harbour']);
  expect(await segments(['segments', 'list'], '', env)).toBe('Of Lighthouse');
  expect(await segments(['segments', 'list'])).toBe('Of Harbour');
  expect((await bare(['profiles', 'remove', 'lighthouse'])).code).toBe(0);
  expect(readFileSync(file, 'utf8')).not.toContain(other.secretKey);
  const gone = await bare(['--profile', 'lighthouse', 'segments', 'list']);
  expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('fernpost login --profile lighthouse')]);
});

test('sends a stored key to no service but its own', async () => {
  const env = { XDG_CONFIG_HOME: join(home, 'elsewhere') };
  await bare(['--url', api.url, 'login'], project.secretKey, env);
  const refused = await bare(['--url', sandbox.url, 'segments', 'list'], '', env);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`No key for ${sandbox.url}`)]);
});

test('reads a login from before there were profiles', async () => {
  const env = { XDG_CONFIG_HOME: join(home, 'before') };
  mkdirSync(join(home, 'before/fernpost'), { recursive: true });
  writeFileSync(join(home, 'before/fernpost/config.json'), JSON.stringify({ url: api.url, key: project.secretKey }));
  expect((await bare(['segments', 'list'], '', env)).code).toBe(0);
  expect((await bare(['profiles'], '', env)).out).toContain('default');
});

test('takes a key from a file, standard input or the environment', async () => {
  const file = join(home, 'key');
  writeFileSync(file, `${project.secretKey}\n`);
  chmodSync(file, 0o600);
  const url = ['--url', api.url];
  expect((await bare([...url, '--key-file', file, 'segments', 'list'])).code).toBe(0);
  expect((await bare([...url, '--key-file', '-', 'segments', 'list'], project.secretKey)).code).toBe(0);
  expect((await bare([...url, 'segments', 'list'], '', { FERNPOST_KEY_FILE: file })).code).toBe(0);
  expect((await bare([...url, '--key-file', join(home, 'none'), 'segments', 'list'])).err).toContain('cannot be read');
  expect((await run(['--help'])).out).not.toContain('--key <');
});

test('a member makes, rotates and deletes keys; the secret key lists them', async () => {
  const admin = await aPerson(database.db, api.config, { signsIn: true });
  await joins(database.db, project.id, admin, 'ADMIN');
  await joins(database.db, other.id, admin, 'ADMIN');
  const asAdmin = async (...options: string[]) => {
    const done = await run(['--json', 'keys', ...options, '--email', admin.email, '--project', 'Harbour'], {
      input: `${admin.password}\n`,
    });
    expect(done).toMatchObject({ code: 0, err: '' });
    return JSON.parse(done.out);
  };
  const made = await asAdmin('create', '--name', 'Shop', '--scopes', 'emails:send,emails:read');
  expect(made).toMatchObject({
    name: 'Shop',
    key: expect.stringMatching(/^rk_/),
    scopes: ['emails:send', 'emails:read'],
  });
  expect(await json(['keys', 'list'])).toMatchObject([{ id: made.id, prefix: made.key.slice(0, 11) }]);
  expect((await run(['keys', 'list'])).out).toContain('emails:send,emails:read  never used');
  const rotated = await asAdmin('rotate', made.id, '--overlap', '0');
  expect([rotated.id, rotated.key === made.key]).toEqual([made.id, false]);
  await asAdmin('delete', made.id, '--yes');
  expect(await json(['keys', 'list'])).toEqual([]);

  const wrong = await run(['keys', 'create', '--name', 'X', '--scopes', 'emails:send', '--email', admin.email], {
    input: 'not the password',
  });
  expect([wrong.code, wrong.out]).toEqual([1, '']);
  const both = await run(['keys', 'create', '--name', 'X', '--scopes', 'emails:send', '--email', admin.email], {
    input: admin.password,
  });
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('--project names one of')]);
  expect((await run(['keys', 'delete', made.id, '--email', admin.email])).code).toBe(2);
});

test('sets and ends the control group', async () => {
  expect((await run(['holdout', 'show'])).out).toBe('No control group.\n');
  const set = await run(['holdout', 'set', '5', '--until', '2100-01-01T00:00:00Z']);
  expect([set.code, set.out]).toEqual([0, '5% of contacts get no marketing email until 2100-01-01T00:00:00.000Z.\n']);
  expect((await run(['holdout', 'set', 'five'])).code).not.toBe(0);
  expect(await json(['holdout', 'show'])).toMatchObject({ percent: 5, active: true });
  expect((await run(['holdout', 'end'])).code).toBe(2);
  expect((await run(['holdout', 'end', '--yes'])).out).toBe('Ended the control group.\n');
  expect(await json(['holdout', 'show'])).toMatchObject({ percent: 0, active: false });
});

test('adds, verifies and removes domains', async () => {
  const added = await run(['domains', 'add', 'news.acme.test']);
  expect(added.out).toMatch(/^news\.acme\.test: Success\n\nrequired +DKIM/);
  expect((await run(['domains', 'verify', 'news.acme.test'])).code).toBe(0);
  expect((await json(['domains', 'list'])).map(({ domain }: { domain: string }) => domain)).toContain('news.acme.test');
  expect((await run(['domains', 'remove', 'news.acme.test'])).code).toBe(2);
  expect((await run(['domains', 'remove', 'news.acme.test', '--yes'])).code).toBe(0);
  const unknown = await run(['domains', 'verify', 'news.acme.test']);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('no domain news.acme.test')]);
});

test('keeps segments and suppression rules', async () => {
  const { id } = await json(['segments', 'create', 'Testers']);
  await api.call(project.secretKey, 'POST', '/contacts', { email: 'ada@acme.example', subscribed: true });
  expect((await run(['segments', 'add', id, 'ada@acme.example', 'nobody@acme.example'])).out).toMatch(
    /^1 added\..*nobody/,
  );
  expect(await json(['segments', 'contacts', id])).toMatchObject([{ email: 'ada@acme.example' }]);
  expect((await run(['segments', 'remove', id, 'ada@acme.example'])).out).toBe('1 removed.\n');
  const condition = join(home, 'condition.json');
  writeFileSync(
    condition,
    '{"logic":"AND","groups":[{"filters":[{"field":"email","operator":"contains","value":"acme"}]}]}',
  );
  expect(await json(['segments', 'create', 'Acme', '--condition', `@${condition}`])).toMatchObject({ type: 'DYNAMIC' });
  expect((await run(['segments', 'delete', id])).code).toBe(2);
  expect((await run(['segments', 'delete', id, '--yes'])).code).toBe(0);

  const rule = await json(['suppressions', 'add', 'blocked.example']);
  expect(rule).toMatchObject({ kind: 'DOMAIN', pattern: 'blocked.example' });
  expect((await run(['suppressions', 'list'])).out).toContain('on  DOMAIN  blocked.example');
  expect((await run(['suppressions', 'emails'])).out).toBe('No suppressed mail.\n');
  expect((await run(['suppressions', 'remove', rule.id])).code).toBe(0);
  expect((await run(['suppressions', 'list'])).out).toBe('No rules yet.\n');
});

test('keeps webhook endpoints', async () => {
  const endpoint = await json(['webhooks', 'create', 'http://127.0.0.1:9/hook', '--events', 'email.bounce,contact.*']);
  expect(endpoint).toMatchObject({ secret: expect.stringMatching(/^whsec_/), events: ['email.bounce', 'contact.*'] });
  expect((await run(['webhooks', 'list'])).out).toContain('http://127.0.0.1:9/hook  email.bounce,contact.*');
  expect((await json(['webhooks', 'rotate', endpoint.id])).secret).not.toBe(endpoint.secret);
  expect((await run(['webhooks', 'deliveries', endpoint.id])).out).toBe('No deliveries yet.\n');
  expect((await run(['webhooks', 'delete', endpoint.id, '--yes'])).code).toBe(0);
  expect((await run(['webhooks', 'list'])).out).toBe('No endpoints yet.\n');
});

test('drills no service that has a real mail provider', async () => {
  const real = await testApi(database, { POSTMARK_SERVER_TOKEN: 'a-token', POSTMARK_API_URL: 'http://127.0.0.1:9' });
  const refused = await run(['drill'], { env: { FERNPOST_URL: real.url } }).finally(() => real.close());
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('npm run drill')]);
});

test('completes commands, options, choices and profiles', async () => {
  const complete = async (...words: string[]) => {
    const { code, out, err } = await bare(['complete', '--', ...words]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return out.trim().split('\n');
  };
  expect(await complete('cam')).toEqual(['campaigns']);
  expect(await complete('campaigns', 'la')).toEqual(['launch']);
  expect(await complete('--json', 'workflows', '')).toEqual(expect.arrayContaining(['pull', 'plan', 'push', 'retry']));
  expect(await complete('campaigns', 'launch', '--f')).toEqual(['--fingerprint']);
  expect(await complete('suppressions', 'add', '--kind', 'W')).toEqual(['WILDCARD']);
  expect(await complete('--profile', '')).toEqual(['harbour']);
  expect(await complete('profiles', 'use', 'h')).toEqual(['harbour']);
  expect(await complete('--url', 'campaigns', 'campa')).toEqual(['campaigns']);
  expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await complete('')).not.toContain('complete');
});

test('bash completes with the script that it is given', async () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'fernpost'), `#!/bin/sh\nexec '${process.execPath}' '${cliProgram}' "$@"\n`, { mode: 0o755 });
  const script = `
    source <(fernpost completion bash)
    COMP_WORDS=(fernpost campaigns la); COMP_CWORD=2
    _fernpost
    echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}`, XDG_CONFIG_HOME: home },
    // Bash reads the user's start-up file where its input looks like a network connection.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect([stdout, stderr]).toEqual(['launch\n', '']);
  for (const shell of ['zsh', 'fish']) expect((await run(['completion', shell])).out).toContain('fernpost complete --');
  expect((await run(['completion', 'tcsh'])).code).toBe(2);
});
