import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Docs, type OpenApiDocument } from '../../src/http/docs/docs.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { version } from '../../src/lib/text.ts';
import { routes } from '../../src/main/api/routes.ts';
import { order } from '../support/architecture/rooms.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const pages = [
  ...globSync('*.md', { cwd: root }),
  ...globSync('docs/**/*.md', { cwd: root }),
  ...globSync('src/*/README.md', { cwd: root }),
  'dashboard/README.md',
].sort();

const site = new Docs({
  guides: join(root, 'docs/guides/'),
  document: () => openApiDocument(routes, 'https://fernpost.test') as unknown as OpenApiDocument,
  served: { baseUrl: 'https://fernpost.test', version },
});

/** Whether a running service has a page of documentation at this address, with this anchor. */
function servesPage(address: string, anchor: string | undefined): boolean {
  const page = address === '/downloads/' ? site.downloads([]).text : site.find(address)?.text;
  return page !== undefined && (anchor === undefined || page.includes(`id="${anchor}"`));
}

/** The anchors of a page: its own, and those that GitHub makes of its headings. */
function anchorsOf(page: string): string[] {
  const prose = page.replaceAll(/^```[\s\S]*?^```/gm, '');
  const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...prose.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}

/** Whether a file that a page names is there, seen from the project or from the page; one that is generated may be absent. */
function exists(page: string, file: string): boolean {
  return (
    [file, join(dirname(page), file)].some((path) => existsSync(join(root, path))) || file.endsWith('/schema.d.ts')
  );
}

describe('the documentation', () => {
  test('is where this test looks for it', () => {
    expect(pages).toEqual(
      expect.arrayContaining([
        'README.md',
        'CONTRIBUTING.md',
        'docs/api.md',
        'docs/decisions/README.md',
        'src/contacts/README.md',
      ]),
    );
  });

  test.each(pages)('%s links to pages and headings that exist', (path) => {
    const broken = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = '', anchor] = link.split('#');
      if (/^\/(docs|downloads)/.test(file)) return servesPage(file, anchor) ? [] : [link];
      const target = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(root, target))) return [link];
      return anchor === undefined || anchorsOf(read(target)).includes(anchor) ? [] : [link];
    });
    expect(broken).toEqual([]);
  });

  test.each(pages)('%s names files that exist', (path) => {
    const named = [
      ...read(path).matchAll(
        /`((?:src|test|workflows|activities|temporal|migrations|dashboard|deploy|bench|docs)\/[\w./-]+)`(?! \*\(new\))/g,
      ),
    ];
    expect(named.map(([, file = '']) => file).filter((file) => !exists(path, file))).toEqual([]);
  });

  test('every decision is in the list, under its number', () => {
    const listed = [...read('docs/decisions/README.md').matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(([, file]) => file);
    expect(listed).toEqual(globSync('[0-9]*.md', { cwd: join(root, 'docs/decisions') }).sort());
  });
});

test('no document installs a package of ours from a registry, where its name is not ours', () => {
  const documents = [
    ...pages,
    ...globSync('{packages,examples}/*/{README.md,package.json}', { cwd: root }),
    'packages/sdk/python/README.md',
  ];
  const installs = /(npm (install|i|add)|npx|pip3? install|pnpm \w+|yarn \w+)\b[^`\n]*/g;
  const found = documents
    .filter((path) => path !== 'CHANGELOG.md')
    .flatMap((path) => [...read(path).matchAll(installs)].map(([command]) => `${path}: ${command}`))
    .filter((command) => /[ "'](@fernpost\/|fernpost([ "'@=]|$))/.test(command));
  expect(documents.length).toBeGreaterThan(60);
  expect(found).toEqual([]);
  const example = JSON.parse(read('examples/hono/package.json')) as { dependencies: Record<string, string> };
  expect(example.dependencies['@fernpost/sdk']).toMatch(/\/downloads\/sdk\.tgz$/);
});

test('/docs/llms.txt and the Markdown of guides link to pages that are served', () => {
  const list = site.find('/docs/llms.txt')?.text ?? '';
  const listed = [...list.matchAll(/\]\(https:\/\/fernpost\.test([^)]+)\)/g)].map(([, address = '']) => address);
  expect(listed.length).toBeGreaterThan(40);
  expect(list.match(/\]\((?!https:)[^)]*\)/g)).toBeNull();
  for (const address of listed) expect(site.find(address)?.type, address).toBe('md');
  const broken = listed.flatMap((address) =>
    [...(site.find(address)?.text ?? '').matchAll(/\]\(([\w-]+\.md)[^)]*\)/g)].flatMap(([, file = '']) =>
      site.find(`/docs/${file}`) === null ? [`${address}: ${file}`] : [],
    ),
  );
  expect(broken).toEqual([]);
});

test('the pages below /docs link to pages and headings that are served', () => {
  const pages = [...(site.find('/docs')?.text ?? '').matchAll(/<li><a href="(\/docs\/[\w-]+)"/g)].map(
    ([, page = '']) => page,
  );
  expect(pages).toEqual(
    expect.arrayContaining([
      '/docs/operations',
      '/docs/recover',
      '/docs/settings',
      '/docs/sdk',
      '/docs/cli',
      '/docs/receiving',
    ]),
  );
  const broken = pages.flatMap((page) =>
    [...(site.find(page)?.text ?? '').matchAll(/<a [^>]*href="([^"]*)"/g)].flatMap(([, href = '']) => {
      const [file = '', anchor] = href.split('#');
      const isOther = /^https?:|^\/(openapi\.json|icon\.svg)$/.test(file);
      return isOther || servesPage(file === '' ? page : file, anchor) ? [] : [`${page}: ${href}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('the pages below /docs and what their search reads are small enough, as they are sent', () => {
  const pages = [...(site.find('/docs')?.text ?? '').matchAll(/<a href="(\/docs\/[\w/-]+)"/g)].map(
    ([, page = '']) => page,
  );
  expect(pages).toContain('/docs/reference/campaigns');
  const heavy = pages.filter((page) => gzipSync(site.find(page)?.text ?? '').length > 40_000);
  expect(heavy).toEqual([]);
  expect(gzipSync(site.search().text).length).toBeLessThan(200_000);
});

describe('CONTRIBUTING.md', () => {
  const changes = read('CONTRIBUTING.md')
    .split(/^## /m)
    .filter((chapter) => chapter.startsWith('Twelve changes'))
    .flatMap((chapter) => chapter.split(/^### /m).slice(1));

  test('has twelve changes', () => {
    expect(changes.map((change) => change.split('.')[0])).toEqual(
      Array.from({ length: 12 }, (_, index) => `${index + 1}`),
    );
  });

  test.each(changes.map((change) => [change.split('\n')[0], change] as const))(
    '%s: five files at most',
    (_, change) => {
      const files = [...change.matchAll(/^\| `([^`]+)`/gm)];
      expect(files.length).toBeGreaterThan(0);
      expect(files.length).toBeLessThanOrEqual(5);
    },
  );
});

test('docs/architecture.md and the READMEs of the areas name every subject', () => {
  const unnamed = order.filter((subject) => {
    const [area = '', name = ''] = subject.split('/');
    if (name === '') return false;
    const line = read('docs/architecture.md').match(new RegExp(`^ {3}${area} .*`, 'm'))?.[0] ?? '';
    return !line.split(/[\s·]+/).includes(name) || !read(`src/${area}/README.md`).includes(`| \`${name}/\` `);
  });
  expect(unnamed).toEqual([]);
});

describe('how an event starts an automation, in docs/architecture.md:', () => {
  const [, section = ''] = read('docs/architecture.md').split('\n## How an event starts an automation\n');
  const [, ...rows] = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (.*) \| (.*) \| (.*) \|$/gm)];
  const files = rows.flatMap(([, first = '', from = '', to = '']) => {
    const path = first.match(/\]\(\.\.\/(.*)\)$/)?.[1];
    return path === undefined
      ? []
      : [{ path, names: [...`${from} ${to}`.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? '') }];
  });

  test('eleven files at most to the activity, and one break', () => {
    expect(files.findIndex(({ path }) => path === 'activities/automation.ts') + 1).toBeLessThanOrEqual(11);
    expect(files.at(-2)?.path).toBe('activities/automation.ts');
    expect(rows.length - files.length).toBe(1);
  });

  test.each(files)('$path has what the way through it names', ({ path, names }) => {
    const text = read(path);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });
});

test('docs/architecture.md names every package', () => {
  const lines = read('docs/architecture.md').match(/^packages\/ .*(\n +.*)*/m)?.[0] ?? '';
  const named = new Set(lines.split(/[^a-z-]+/));
  const names = globSync('*', { cwd: join(root, 'packages') });
  expect(names.filter((name) => !named.has(name))).toEqual([]);
});

test('the glossary names tables that the migrations create', () => {
  const schema = globSync('migrations/*.ts', { cwd: root }).map(read).join('\n');
  const named = [...read('docs/glossary.md').matchAll(/\|[^|\n]*\|\n/g)]
    .flatMap(([cell]) => [...cell.matchAll(/tables? ((?:`[a-z_]+`(?:, )?)+)/g)])
    .flatMap(([, tables = '']) => [...tables.matchAll(/`([a-z_]+)`/g)].map(([, table]) => table));
  expect(named.length).toBeGreaterThan(30);
  expect(
    named.filter((table) => !new RegExp(`create (unlogged )?table (if not exists )?${table} `).test(schema)),
  ).toEqual([]);
});
