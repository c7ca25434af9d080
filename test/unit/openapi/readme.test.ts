import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import { operationId } from '../../../src/http/openapi/operation.ts';
import { field, nameSchemas } from '../../../src/lib/validation/fields.ts';

test('the example of the README describes a book', () => {
  const readme = readFileSync(new URL('../../../src/http/openapi/README.md', import.meta.url), 'utf8');
  const [, code = ''] = /```ts\n(?:import [^;]+;\n)+(.*?)```/s.exec(readme) ?? [];
  const run = new Function('openApiDocument', 'operationId', 'field', 'nameSchemas', 'v', `${code}; return document;`);
  expect(run(openApiDocument, operationId, field, nameSchemas, v)).toMatchObject({
    paths: { '/books/{id}': { get: { operationId: 'getBook' } } },
    components: { schemas: { Book: { properties: { title: { description: 'Title on the cover.' } } } } },
  });
});
