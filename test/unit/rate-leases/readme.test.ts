import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LeasedRateLimit } from '../../../src/http/rate-leases.ts';

test('the example of the README answers what it says', async () => {
  const readme = readFileSync(new URL('../../../src/http/rate-leases/README.md', import.meta.url), 'utf8');
  const [, code = '', told] =
    /```ts\nimport [^;]+;\n(.*?const state = [^\n]+ \/\/ (\{.+\})\n.*?)```/s.exec(readme) ?? [];
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const run = new AsyncFunction('LeasedRateLimit', `${code}; return { state, used: windows.get('acme').used };`);
  expect(await run(LeasedRateLimit)).toEqual({ state: new Function(`return ${told}`)(), used: 3 });
});
