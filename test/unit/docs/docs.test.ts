import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Docs, type OpenApiDocument } from '../../../src/http/docs/docs.ts';

let folder: string;
let docs: Docs;

const document: OpenApiDocument = {
  info: { title: 'Test', description: 'About the API.' },
  servers: [{ url: 'https://api.example' }],
  tags: [
    { name: 'Things', description: 'Things of a project.' },
    { name: 'Unused', description: 'Has no operation.' },
  ],
  paths: {
    '/v1/things/{thingId}': {
      patch: {
        operationId: 'updateThing',
        summary: 'Change a thing',
        tags: ['Things'],
        security: [{ secretKey: [] }],
        parameters: [{ name: 'thingId', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Tree' }, example: { name: "Ada's <b>" } },
          },
        },
        responses: {
          200: { description: 'Done.', content: { 'application/json': { schema: { type: 'string' } } } },
          404: { $ref: '#/components/responses/Error404' },
        },
      },
    },
    '/things/{thingId}': { patch: { operationId: 'twin', summary: 'Twin', tags: ['Things'], responses: {} } },
  },
  components: {
    schemas: {
      Tree: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', maxLength: 1_000, description: 'Its `name`, a denomination.' },
          kind: { enum: ['a', 'b'], type: 'string' },
          childThings: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
        },
      },
    },
    parameters: {},
    headers: {},
    responses: { Error404: { description: 'There is none.' } },
  },
};

const pageOf = (address: string) => docs.find(address)?.text ?? '';

beforeAll(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'fernpost-docs-')), 'guides');
  mkdirSync(folder);
  writeFileSync(join(folder, '../running.md'), '# Running\n\nAfter the [first](guides/first.md#use-it).\n');
  writeFileSync(
    join(folder, 'README.md'),
    '# Docs\n\nAbout all of it.\nSee [First](first.md).\n\n## Start\n\n- [First](first.md): begin here\n- [Running](../running.md)\n',
  );
  const snippets = ['sh', 'ts', 'python'].map((language) => `\`\`\`${language}\necho "<&>"\n\`\`\``).join('\n\n');
  writeFileSync(
    join(folder, 'first.md'),
    `# First\n\n## Use \`it\`\n\n${snippets}\n\nAt https://mail.example.com: <version>.\n\nA **command** fails with \`THING_LOCKED\`.\n\n[Back](README.md)\n`,
  );
  writeFileSync(join(folder, 'draft.md'), '# Not listed\n');
  docs = new Docs({
    guides: folder,
    document: () => document,
    served: { baseUrl: 'https://mail.acme.test', version: '1.2.3' },
  });
});
afterAll(() => rmSync(join(folder, '..'), { recursive: true }));

test('shows guides that the README lists, linked as pages', () => {
  expect(pageOf('/docs')).toContain('<a href="/docs/first">First</a>');
  const first = pageOf('/docs/first');
  expect(first).toContain('<title>First · Fernpost docs</title>');
  expect(first).toContain('<h2 id="use-it">');
  expect(first).toContain('<a href="/docs">Back</a>');
  expect(first).toContain('<a href="/docs/first" aria-current="page">');
  for (const none of ['/docs/draft', '/docs/../package', '/docs/README/x', '/docs/reference/unused', '/docs/assets/x'])
    expect(docs.find(none), none).toBeNull();
});

test('shows guides beside the folder among the others', () => {
  expect(pageOf('/docs')).toContain('<a href="/docs/running">Running</a>');
  expect(pageOf('/docs/running')).toContain('After the <a href="/docs/first#use-it">first</a>.');
  expect(pageOf('/docs/running.md')).toContain('[first](first.md#use-it)');
  expect(pageOf('/docs/llms.txt')).toContain('[Running](https://mail.acme.test/docs/running.md)');
});

test('says where the service is, and its version', () => {
  expect(pageOf('/docs/first')).toContain(
    'At https://mail.acme.test: 1.2.3.'.replace('At ', 'At <a href="https://mail.acme.test">').replace(': ', '</a>: '),
  );
});

test('joins the languages of a snippet, and escapes what it shows', () => {
  const first = pageOf('/docs/first');
  expect(first.match(/<div class="snippets">/g)).toHaveLength(1);
  expect([...first.matchAll(/data-label="(\w+)"/g)].map(([, label]) => label)).toEqual([
    'curl',
    'TypeScript',
    'Python',
  ]);
  expect(first).not.toContain('<&>');
});

test('shows an operation once, with its fields and a command to paste', () => {
  const page = pageOf('/docs/reference/things');
  expect(page).not.toContain('Twin');
  expect(page).toContain('<code>name</code> <span class="type">string</span> <span class="required">required</span>');
  expect(page).toContain('<p>Its <code>name</code>, a denomination.</p><p class="facts">At most 1,000 characters.</p>');
  expect(page).toContain('One of <code>a</code>, <code>b</code>.');
  // A tree refers to itself: it is named, not written out for ever.
  expect(page.match(/<code>childThings<\/code>/g)).toHaveLength(1);
  expect(page).toContain('list of Tree');
  const command = page.match(/<code>(curl[\s\S]*?)<\/code><\/pre>/)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';
  expect(command).toContain('curl -X PATCH &quot;$FERNPOST_URL/v1/things/$THING_ID&quot;');
  expect(command).toContain('Authorization: Bearer $SECRET_KEY');
  expect(command).toContain('Ada&#x27;\\&#x27;&#x27;s &lt;b&gt;');
  expect(pageOf('/docs/reference')).toContain('<li><code>404</code> There is none.</li>');
});

/** What the search finds, by an index that is built as the pages build theirs. */
function searched(query: string) {
  const { options, entries } = JSON.parse(docs.search().text);
  const search = new MiniSearch(options);
  search.addAll(entries);
  return search.search(query);
}

test.each([
  ['First', 'First', '/docs/first'],
  ['a paragraph by a word with a typo', 'Use it', '/docs/first#use-it', 'comand'],
  ['a code, whole or begun', 'Use it', '/docs/first#use-it', 'THING_LOC'],
  ['an operation by its summary', 'Change a thing', '/docs/reference/things#updateThing', 'change thing'],
  ['an operation by its path', 'Change a thing', '/docs/reference/things#updateThing', 'PATCH /v1/things'],
  ['a field', 'childThings', '/docs/reference/things#updateThing', 'childThings'],
  ['a field by its words', 'childThings', '/docs/reference/things#updateThing', 'things child'],
  ['a field by what it means', 'name', '/docs/reference/things#updateThing', 'denomination'],
  ['an error', 'Error 404', '/docs/reference#errors', '404'],
])('search finds %s', (_, title, address, query = title) => {
  expect(searched(query)[0]).toMatchObject({ title, address });
});

test('search finds nothing that is not there, and its module is served', () => {
  expect(searched('zebra')).toEqual([]);
  expect(docs.find('/docs/assets/minisearch.js')).toMatchObject({
    type: 'js',
    text: expect.stringMatching(/export \{ MiniSearch as default \}/),
  });
});

test('has each page in Markdown, and lists them in llms.txt', () => {
  const { type, text } = docs.find('/docs/first.md') ?? {};
  expect(type).toBe('md');
  expect(text).toContain('# First\n\n## Use `it`');
  expect(text).toContain('At https://mail.acme.test: 1.2.3.');
  expect(pageOf('/docs/first')).toContain('<link rel="alternate" type="text/markdown" href="/docs/first.md">');
  expect(pageOf('/docs/README.md')).toContain('[First](first.md)');
  expect(pageOf('/docs')).toContain('href="/docs/README.md"');
  const reference = pageOf('/docs/reference/things.md');
  expect(reference).toContain(
    '# Things API\n\nThings of a project.\n\n## Change a thing\n\n`PATCH /v1/things/{thingId}`',
  );
  expect(reference).toContain('- `thingId` (string, required)');
  expect(reference).toContain('- `name` (string, required): Its `name`, a denomination. At most 1,000 characters.');
  expect(reference).toContain('- `kind` (string): One of `a`, `b`.');
  expect(reference).toContain('**404** There is none.');
  expect(pageOf('/docs/reference.md')).toContain('- `PATCH /v1/things/{thingId}`: Change a thing');
  for (const none of ['/docs/draft.md', '/docs/reference/unused.md', '/docs/.md', '/docs/assets/docs.css.md'])
    expect(docs.find(none), none).toBeNull();
  expect(docs.find('/docs/llms.txt')).toMatchObject({
    type: 'txt',
    text: `# Docs

> About all of it. See [First](https://mail.acme.test/docs/first.md).

## Start

- [First](https://mail.acme.test/docs/first.md): begin here
- [Running](https://mail.acme.test/docs/running.md)

## API reference

- [Overview](https://mail.acme.test/docs/reference.md): every operation in a line, and the errors
- [Things](https://mail.acme.test/docs/reference/things.md): Things of a project.
`,
  });
});
