import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as exported from '../src/index.ts';

test('the example of the README answers what it says', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, names = '', code = ''] = /```ts\nimport \{(.+)\} from [^;]+;\n(.*?)```/s.exec(readme) ?? [];
  const imported = names.split(',').map((name) => name.trim());
  const asked = [...code.matchAll(/^(\w+\(.+\));\n\/\/ (.+)$/gm)].map(([, call = '', answer = '']) => ({
    call,
    answer,
  }));
  expect(asked.length).toBe(3);
  const answers = asked.map(({ call }) => `(${call})`).join(', ');
  const run = new Function(...imported, `${code.replaceAll(/^\w+\(.+\);$/gm, '')}; return [${answers}];`);
  const functions = new Map<string, unknown>(Object.entries(exported));
  const told = run(...imported.map((name) => functions.get(name))) as unknown[];
  const expected = asked.map(({ answer }) => new Function(`return ${answer}`)() as unknown);
  expect(told).toEqual(expected);
});
