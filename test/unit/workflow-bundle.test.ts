import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { workflowBundle } from '../../src/main/worker/workflow-bundle.ts';

const project = join(import.meta.dirname, '../..');
const run = promisify(execFile);
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fernpost-bundle-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  // As old as the files of a deployment; what was written during a build is not kept.
  utimesSync(file, new Date('2026-01-01'), new Date('2026-01-01'));
}

function aProject(): void {
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
  write('package.json', '{ "type": "module" }');
  write('workflows/index.ts', `export { greet } from './greet.ts';`);
  write('workflows/greet.ts', `import { word } from '../src/lib/word.ts';\nexport const greet = async () => word;`);
  write('src/lib/word.ts', `export { word } from './deeper.ts';`);
  write('src/lib/deeper.ts', `export const word = 'first-word';`);
}

const keptFile = () => join(root, 'dist/workflow-bundle.json');
const kept = () => JSON.parse(readFileSync(keptFile(), 'utf8')) as { code: string; inputs: Record<string, string> };

test('a bundle is kept with every file that went into it, and made anew when one of them changes', async () => {
  aProject();
  expect((await workflowBundle(root)).code).toContain('first-word');
  const { inputs } = kept();
  expect(Object.keys(inputs)).toEqual(
    expect.arrayContaining(['workflows/index.ts', 'workflows/greet.ts', 'src/lib/word.ts', 'src/lib/deeper.ts']),
  );
  for (const name of [
    '@temporalio/workflow/lib/workflow.js',
    '@temporalio/worker/package.json',
    'webpack/package.json',
  ])
    expect(
      Object.keys(inputs).filter((path) => path.endsWith(name)),
      name,
    ).toHaveLength(1);

  writeFileSync(keptFile(), JSON.stringify({ inputs, code: 'the one that was kept' }));
  expect((await workflowBundle(root)).code).toBe('the one that was kept');

  write('src/lib/deeper.ts', `export const word = 'second-word';`);
  const { code } = await workflowBundle(root);
  expect(code).toContain('second-word');
  expect(code).not.toContain('first-word');
  expect(kept().code).toBe(code);
});

test('a bundle whose sources changed while it was made, or that is damaged, is not taken', async () => {
  aProject();
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(root, 'src/lib/word.ts'), later, later);
  await workflowBundle(root);
  expect(readdirSync(root)).not.toContain('dist');

  utimesSync(join(root, 'src/lib/word.ts'), 1, 1);
  await workflowBundle(root);
  writeFileSync(keptFile(), readFileSync(keptFile(), 'utf8').slice(0, 1000));
  expect((await workflowBundle(root)).code).toContain('first-word');
});

test('a worker that finds its bundle loads no bundler', async () => {
  await workflowBundle();
  const program = `
    import Module from 'node:module';
    import { workflowBundle } from './src/main/worker/workflow-bundle.ts';
    import './src/main/worker/temporal-workers.ts';
    const { code } = await workflowBundle();
    const bundlers = Object.keys(Module._cache).filter((path) => /node_modules.(webpack.lib.Compiler|@swc.core)/.test(path));
    console.log(JSON.stringify({ size: code.length, bundlers }));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: project });
  const { size, bundlers } = JSON.parse(stdout) as { size: number; bundlers: string[] };
  expect(size).toBeGreaterThan(500_000);
  expect(bundlers).toEqual([]);
});

test('the bundle of this project holds every file of workflows/', async () => {
  await workflowBundle();
  const { inputs } = JSON.parse(readFileSync(join(project, 'dist/workflow-bundle.json'), 'utf8')) as ReturnType<
    typeof kept
  >;
  const files = readdirSync(join(project, 'workflows')).map((name) => `workflows/${name}`);
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining([...files, 'temporal/commands.ts']));
});
