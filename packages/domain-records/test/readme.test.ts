import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as exported from '../src/index.ts';
import { dnsOf } from './zones.ts';

test('the example of the README answers what it says', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, names = '', code = ''] = /```ts\nimport \{(.+)\} from [^;]+;\n(.*?)```/s.exec(readme) ?? [];
  const imported = names.split(',').map((name) => name.trim());
  expect(Object.keys(exported)).toEqual(expect.arrayContaining(imported));
  const dnsLookup = () =>
    dnsOf({ '_dmarc.acme.example': { TXT: ['v=DMARC1; p=none; rua=mailto:dmarc@acme.example'] } });
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const run = new AsyncFunction(...imported, `${code}; return { finding, policy, value: advice[0].value };`);
  const { finding, policy, value } = await run(
    ...imported.map((name) => ({ ...exported, dnsLookup })[name as keyof typeof exported]),
  );
  expect(code).toContain(`// { outcome: '${finding.outcome}', text: '${finding.text}' }`);
  expect(code).toContain(`// policy: '${policy}'; advice[0].value: '${value}'`);
});
