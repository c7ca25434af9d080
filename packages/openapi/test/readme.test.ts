import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { openApiDocument, operationId } from '../src/index.ts';
import { field, nameSchemas } from '../src/names.ts';

test('the example of the README describes a book', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /```ts\n(?:import [^;]+;\n)+(.*?)```/s.exec(readme) ?? [];
  const run = new Function('openApiDocument', 'operationId', 'field', 'nameSchemas', 'v', `${code}; return document;`);
  expect(run(openApiDocument, operationId, field, nameSchemas, v)).toMatchObject({
    paths: { '/books/{id}': { get: { operationId: 'getBook' } } },
    components: { schemas: { Book: { properties: { title: { description: 'Title on the cover.' } } } } },
  });
});
