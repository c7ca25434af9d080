import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pythonProgram, referenceExamples, typeScriptProgram } from '../support/reference-examples.ts';

// The examples of the API reference, in one program for each language.
const root = join(import.meta.dirname, '../..');

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('every operation has an example in curl, TypeScript and Python, and pages show them', () => {
  expect(referenceExamples.length).toBeGreaterThan(250);
  for (const { id, curl, ts, python } of referenceExamples) {
    expect(curl, id).toMatch(/^curl /);
    expect(ts, id).toMatch(/await (fernpost|browser|fetch)\b/);
    expect(python, id).toMatch(/(fernpost|public|httpx)\.\w+/);
    expect(ts, id).not.toContain('undefined');
  }
  const textOf = (id: string) => referenceExamples.find((one) => one.id === id);
  expect(textOf('upsertContact')?.ts).toContain('await fernpost.contacts.upsert({');
  expect(textOf('getTemplateUsage')?.python).toContain('fernpost.call("getTemplateUsage", path={"id": template_id})');
  expect(textOf('createProjectApiKey')?.ts).toContain('headers: { Cookie: sessionCookie,');
});

test('the examples in TypeScript type-check against the SDK', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'examples.ts'), typeScriptProgram(referenceExamples));
  const options = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    noEmit: true,
    paths: { '@fernpost/sdk': [join(root, 'packages/sdk/src/index.ts')] },
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: options, include: ['./*.ts'] }),
  );
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
});

test('the examples in Python compile', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'examples.py'), pythonProgram(referenceExamples));
  const { status, stderr } = spawnSync('python3', ['-m', 'py_compile', join(folder, 'examples.py')], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
