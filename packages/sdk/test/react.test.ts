import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createElement } from 'react';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf } from './service.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const element = createElement('p', null, 'Hi {{ plan | default: "free" }} & more');
const sent = [{ body: { data: { emails: [], results: [] } } }];

test('a React element as the body becomes HTML, whose variables stay', async () => {
  const { fernpost, asked } = clientOf(sent);
  await fernpost.send({ to: 'ada@example.com', subject: 'Hi', body: element });
  const [first] = asked;
  const body = (first?.body as { body: string } | undefined)?.body ?? '';
  expect(body).toContain('<p>Hi {{ plan | default: "free" }} &amp; more</p>');
  expect(body).toMatch(/^<!DOCTYPE/);
  await fernpost.sendBatch({ emails: [{ to: 'ada@example.com', subject: 'Hi', body: element }] });
  expect(asked[1]?.body).toEqual({ emails: [{ to: 'ada@example.com', subject: 'Hi', body }] });
  await fernpost.templates.update('1', { body: element });
  expect(asked[2]?.body).toEqual({ body });
});

test('the renderer of the client stands in for the installed one', async () => {
  const { fernpost, asked } = clientOf(sent, { render: () => '<b>own</b>' });
  await fernpost.campaigns.update('1', { body: element });
  expect(asked[0]?.body).toEqual({ body: '<b>own</b>' });
});

test.each([
  [['react', 'react-dom', 'scheduler'], '<!DOCTYPE html><p>Hi</p>'],
  [[], 'TypeError: A React element as the body needs a package that renders it: npm install @react-email/render.'],
])('an application with the packages %j renders, or says what to install', (packages, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-react-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'node_modules'));
  for (const name of packages) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  copyFileSync(join(root, 'packages/sdk/src/react.ts'), join(folder, 'react.ts'));
  const script = `
    import { withHtml } from './react.ts';
    const element = { $$typeof: Symbol.for('react.transitional.element'), type: 'p', props: { children: 'Hi' }, key: null, _store: {} };
    console.log(await withHtml({ body: element }).then(({ body }) => body, String));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([stdout, stderr]).toEqual([expect.stringContaining(expected), '']);
});
