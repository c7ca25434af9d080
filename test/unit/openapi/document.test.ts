import * as v from 'valibot';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.ts';
import type { Operation } from '../../../src/http/openapi/operation.ts';
import { describedBy, field, nameSchemas } from '../../../src/lib/validation/fields.ts';
import { api, operation } from './books.ts';

function documentOf(...operations: Operation[]) {
  return openApiDocument(api, operations) as {
    tags: { name: string }[];
    paths: Record<string, Record<string, Record<string, unknown>>>;
    components: { schemas: Record<string, object>; responses: Record<string, object> };
  };
}

/** The component that a schema of answers becomes, by the name of the operation. */
function answered(schema: v.GenericSchema): object | undefined {
  const document = documentOf(operation({ success: { descriptions: { 200: '' }, headers: [], schema } }));
  return document.components.schemas.CreateBookResult;
}

test('what an operation takes and answers is named after it, and stands once', () => {
  const Title = v.object({ title: field('What to call it.', v.string()) });
  const document = documentOf(
    operation({
      body: { schema: Title, example: { title: 'Emma' } },
      success: {
        descriptions: { 200: 'The book.', 201: 'The new book.' },
        headers: ['X-Request-ID'],
        schema: Title,
      },
    }),
    operation({ method: 'GET', id: 'listBooks', query: Title, parameters: ['Page'], security: [] }),
  );
  const reference = { $ref: '#/components/schemas/CreateBookRequest' };
  expect(document.paths['/books']?.post).toMatchObject({
    tags: ['Books'],
    security: [{ key: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: reference, example: { title: 'Emma' } } } },
    responses: {
      200: { description: 'The book.', content: { 'application/json': { schema: reference } } },
      201: {
        description: 'The new book.',
        headers: { 'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' } },
      },
      422: { $ref: '#/components/responses/Error422' },
      default: { $ref: '#/components/responses/Errordefault' },
    },
  });
  expect(document.paths['/books']?.get).toMatchObject({
    security: [],
    parameters: [
      { name: 'title', in: 'query', required: true, description: 'What to call it.', schema: { type: 'string' } },
      { $ref: '#/components/parameters/Page' },
    ],
  });
  expect(Object.keys(document.components.schemas)).toEqual(['CreateBookRequest', 'Failure']);
  expect(Object.keys(document.components.responses)).toEqual(['Error422', 'Errordefault']);
  expect(document.tags.map(({ name }) => name)).toEqual(['Books']);
});

test('a body of optional fields may be left out', () => {
  const body = { schema: v.object({ title: v.optional(v.string()) }) };
  expect(documentOf(operation({ body })).paths['/books']?.post?.requestBody).toMatchObject({ required: false });
});

test('a form that no schema checks has its fields, and a path its parameters', () => {
  const document = documentOf(
    operation({
      path: '/books/:id/cover',
      pathParameters: { id: { description: 'ID of the book.', format: 'uuid' } },
      body: { mediaType: 'multipart/form-data', fields: { title: { type: 'string', description: 'The title.' } } },
    }),
  );
  expect(document.paths['/books/{id}/cover']?.post).toMatchObject({
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
    requestBody: {
      content: {
        'multipart/form-data': {
          schema: { properties: { title: { description: 'The title.' } }, required: ['title'] },
        },
      },
    },
  });
});

test('a failure stands once, by its name, and its body is named after the operation', () => {
  const lent = {
    status: 409,
    name: 'Lent',
    description: 'It is lent.',
    headers: [],
    schema: v.object({ lentTo: v.string() }),
    mediaType: 'text/html',
  } as const;
  const document = documentOf(operation({ failures: [lent] }));
  expect(document.paths['/books']?.post?.responses).toMatchObject({ 409: { $ref: '#/components/responses/Lent' } });
  expect(document.components.responses.Lent).toMatchObject({
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/CreateBookFailure' } },
      'text/html': { schema: { type: 'string' } },
    },
  });
});

test('a schema with a name is a component wherever it stands, and describes others', () => {
  const Author = v.object({ born: v.number() });
  const Parsed = describedBy(
    v.custom<string>((input) => typeof input === 'object'),
    Author,
  );
  nameSchemas({ Author });
  const document = documentOf(operation({ body: { schema: v.object({ author: Author, parsed: Parsed }) } }));
  expect(document.components.schemas.CreateBookRequest).toMatchObject({
    properties: { author: { $ref: '#/components/schemas/Author' }, parsed: { $ref: '#/components/schemas/Author' } },
  });
  expect(document.components.schemas.Author).toMatchObject({ properties: { born: { type: 'number' } } });
});

test('a field is described where it stands, also one of a named schema, and what it takes stays', () => {
  const Shelf = v.object({ row: field('Counted from the door.', v.number()) });
  nameSchemas({ Shelf });
  const schema = v.object({
    shelf: field('Where the book is.', v.nullable(Shelf)),
    home: field('Where the book belongs.', Shelf),
    year: field('Year of the edition.', v.pipe(v.string(), v.transform(Number))),
    copies: field('How many to order.', v.optional(v.number(), 1)),
  });
  const reference = { $ref: '#/components/schemas/Shelf' };
  expect(documentOf(operation({ body: { schema } })).components.schemas.CreateBookRequest).toEqual({
    type: 'object',
    properties: {
      shelf: { description: 'Where the book is.', anyOf: [reference, { type: 'null' }] },
      home: { description: 'Where the book belongs.', ...reference },
      year: { description: 'Year of the edition.', type: 'string' },
      copies: { description: 'How many to order. Default: `1`.', type: 'number' },
    },
    required: ['shelf', 'home', 'year'],
  });
  const given = { shelf: null, home: { row: 1 }, year: '1815' };
  expect(v.parse(schema, given)).toEqual({ ...given, year: 1815, copies: 1 });
});

test('one name for two schemas is refused, and so is one that differs between requests and answers', () => {
  const body = () => ({ schema: v.object({ title: v.string() }) });
  expect(() => documentOf(operation({ body: body() }), operation({ body: body() }))).toThrow(
    'Two schemas have the name CreateBookRequest',
  );
  const schema = v.object({ pages: v.pipe(v.string(), v.transform(Number), v.number()) });
  const success = { descriptions: { 200: '' }, headers: [], schema };
  expect(() => documentOf(operation({ body: { schema }, success }))).toThrow('differs between requests and answers');
});

test('a union that a word tells apart has a discriminator, and another one has none', () => {
  const Paper = v.object({ kind: v.picklist(['hardcover', 'paperback']), pages: v.number() });
  const Sound = v.object({ kind: v.literal('audio'), minutes: v.number() });
  nameSchemas({ Paper, Sound });
  const [paper, sound] = ['#/components/schemas/Paper', '#/components/schemas/Sound'];
  expect(answered(v.variant('kind', [Paper, Sound]))).toMatchObject({
    discriminator: { propertyName: 'kind', mapping: { hardcover: paper, paperback: paper, audio: sound } },
  });
  const Numbered = v.object({ kind: v.literal(1) });
  nameSchemas({ Numbered });
  expect(answered(v.variant('kind', [Paper, Numbered]))).not.toHaveProperty('discriminator');
});

const Closed = v.strictObject({ street: v.string() });
const Open = v.object({ town: v.string() });
nameSchemas({ Closed, Open });

test.each([
  ['values of different types', v.union([v.string(), v.number(), Open]), 'oneOf'],
  ['a closed object and one that must have another field', v.union([Closed, Open]), 'oneOf'],
  ['objects that one value may fit both of', v.union([Open, v.object({ street: v.string() })]), 'anyOf'],
  ['numbers of two kinds', v.union([v.number(), v.pipe(v.number(), v.integer())]), 'anyOf'],
  ['anything, and a text', v.union([v.string(), v.unknown()]), 'anyOf'],
])('a union of %s', (_, schema, key) => {
  expect(answered(v.object({ field: schema }))).toMatchObject({ properties: { field: { [key]: expect.any(Array) } } });
});

test.each([
  [
    'constants of a union are one enumeration',
    v.union([v.literal('a'), v.literal('b')]),
    { type: 'string', enum: ['a', 'b'] },
  ],
  ['a constant has a type', v.literal(true), { type: 'boolean', const: true }],
  ['an optional constant is a boolean', v.optional(v.literal(true)), { type: 'boolean' }],
  ['a default is told in words', v.optional(v.number(), 3), { type: 'number', description: 'Default: `3`.' }],
  ['what may be anything may be null', v.nullable(v.unknown()), {}],
  ['a record of anything', v.record(v.string(), v.unknown()), { type: 'object', additionalProperties: true }],
  ['a custom check is an object', v.custom(() => true), { type: 'object', additionalProperties: true }],
  [
    'nothing is required',
    v.object({ a: v.optional(v.null()) }),
    { type: 'object', properties: { a: { type: 'null' } } },
  ],
  [
    'the words of a field that may be null',
    v.nullable(v.pipe(v.string(), v.description('Its shelf.'))),
    { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Its shelf.' },
  ],
])('%s', (_, schema, expected) => {
  expect(answered(v.object({ field: schema }))).toMatchObject({ properties: { field: expect.anything() } });
  const { properties } = answered(v.object({ field: schema })) as { properties: { field: object } };
  expect(properties.field).toEqual(expected);
});
