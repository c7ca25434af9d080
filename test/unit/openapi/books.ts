import * as v from 'valibot';
import type { ApiDescription, Failure as Failed, Operation, Status } from '../../../src/http/openapi/operation.ts';
import { nameSchemas } from '../../../src/lib/validation/fields.ts';

const Failure = v.object({ error: v.string() });
nameSchemas({ Failure });

/** A description of an API. */
export const api: ApiDescription = {
  info: { title: 'Books', version: '1' },
  server: 'https://api.example.com',
  tags: [
    { name: 'Books', description: 'What can be read.' },
    { name: 'Films', description: 'What can be seen.' },
  ],
  headers: { 'X-Request-ID': { schema: { type: 'string' } } },
  parameters: { Page: { name: 'page', in: 'query', schema: { type: 'integer' } } },
  securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
};

/** A failure that operations share. */
function failed(status: Status): Failed {
  return { status, name: `Error${status}`, description: 'It failed.', headers: ['X-Request-ID'], schema: Failure };
}

/** `POST /books` with whatever differs. */
export function operation(differs: Partial<Operation> = {}): Operation {
  return {
    id: 'createBook',
    method: 'POST',
    path: '/books',
    summary: 'Add a book',
    description: 'Once.',
    tag: 'Books',
    security: ['key'],
    pathParameters: {},
    parameters: [],
    success: { descriptions: { 201: 'The book.' }, headers: ['X-Request-ID'] },
    failures: [failed(422), failed('default')],
    ...differs,
  };
}
