import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { type AppProject, anAppProject } from '../support/app-project.ts';

// The scripts in `apps`, each a capability, run as apps run: against the whole service, with the clients that it hands out. They mostly wait,
// so some run side by side.
const apps = join(import.meta.dirname, 'apps');
const scripts = readdirSync(apps).filter((name) => name !== 'app.ts');
// The command line loads it from the developer's project. As a dependency of ours it would bring 166 packages into every installation.
const mjml = 'mjml@5.4.1';
const { version, dependencies, devDependencies } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
);

let project: AppProject;

beforeAll(async () => {
  project = await anAppProject();
  cpSync(apps, project.folder, { recursive: true });
});
afterAll(() => project?.[Symbol.dispose]());

function installed(context: TestContext): Promise<void> {
  const others = ['@modelcontextprotocol/sdk', 'nodemailer', 'typescript', '@types/node'].map(
    (name) => `${name}@${dependencies[name] ?? devDependencies[name]}`,
  );
  return project.install(context, [...others, mjml]);
}

test('the scripts compile in strict mode with the types of the package', async (context) => {
  await installed(context);
  // nodemailer ships no types.
  writeFileSync(join(project.folder, 'nodemailer.d.ts'), "declare module 'nodemailer';\n");
  const compilerOptions = {
    ...{ module: 'NodeNext', target: 'ES2024', strict: true, noEmit: true, noUncheckedIndexedAccess: true },
    ...{ allowImportingTsExtensions: true, types: ['node'] },
  };
  writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const { stdout } = await project.run('npx', ['tsc', '-p', '.']).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

test.concurrent.for(scripts)('%s', async (name, context) => {
  await installed(context);
  const { stderr } = await project.run(process.execPath, [join(project.folder, name)]);
  expect(stderr).toBe('');
});

test('npx fernpost sends from a terminal', async (context) => {
  await installed(context);
  const fernpost = (...args: string[]) =>
    project.run('npx', ['fernpost', ...args], { FERNPOST_KEY: project.env.SECRET_KEY });
  expect((await fernpost('--version')).stdout).toBe(`${version}\n`);
  const to = 'terminal@example.com';
  const mail = ['--to', to, '--from', 'hello@fernpost.test', '--subject', 'Hi', '--body', '<p>Hi</p>'];
  const [sent] = JSON.parse((await fernpost('send', '--json', ...mail)).stdout) as { email: string }[];
  expect((await fernpost('emails', 'get', sent?.email ?? '')).stdout).toContain(to);
});

test('npx fernpost saves templates of MJML', async (context) => {
  await installed(context);
  const folder = join(project.folder, 'emails');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'receipt.mjml'),
    `<mjml>
  <mj-head><mj-title>Receipt {{number}}</mj-title></mj-head>
  <mj-body><mj-section><mj-column><mj-text>You paid {{ total }}.</mj-text></mj-column></mj-section></mj-body>
</mjml>`,
  );
  const push = ['fernpost', 'templates', 'push', folder, '--from', 'hello@fernpost.test', '--json'];
  const key = { FERNPOST_KEY: project.env.SECRET_KEY };
  const [saved] = JSON.parse((await project.run('npx', push, key)).stdout) as { id: string }[];
  const answer = await fetch(`${project.baseUrl}/templates/${saved?.id}`, {
    headers: { authorization: `Bearer ${project.env.SECRET_KEY}` },
  });
  const template = (await answer.json()) as { subject: string; body: string };
  expect(template.subject).toBe('Receipt {{number}}');
  expect(template.body).toContain('You paid {{ total }}.');
  expect(template.body).not.toContain('<mj-text>');
});

test('npx fernpost drill sends each email once, whatever gets lost and whatever the provider answers', async (context) => {
  await installed(context);
  const { stdout } = await project.run('npx', ['fernpost', 'drill', '--emails', '100', '--json'], {
    FERNPOST_KEY: project.env.SECRET_KEY,
  });
  const balance = JSON.parse(stdout);
  expect(balance).toMatchObject({ sent: 100, delivered: 100, missing: [], repeated: [], unfinished: 0 });
  expect(balance.lostResponses).toBeGreaterThan(0);
});
