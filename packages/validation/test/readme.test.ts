import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import * as exported from '../src/index.ts';

test('the example of the README answers what it says', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /```ts\n(?:import [^;]+;\n)+(.*?)```/s.exec(readme) ?? [];
  const [problems, sentences] = [...code.matchAll(/;\n((?:\/\/ .*\n)+)/g)].map(
    ([, comment = '']) => new Function(`return ${comment.replaceAll(/^\/\/ /gm, '').trim()}`)() as unknown,
  );
  const asked = code.replace('problems.map(sentenceOf);', 'return { problems, sentences: problems.map(sentenceOf) };');
  const run = new Function('v', ...Object.keys(exported), asked);
  expect(problems).toHaveLength(2);
  expect(run(v, ...Object.values(exported))).toEqual({ problems, sentences });
});
