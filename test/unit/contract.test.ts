import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { maxSteps } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { sessionSeconds } from '../../src/accounts/sessions.ts';
import { mostEventBytes } from '../../src/contacts/events/queries.ts';
import { mostContactBytes } from '../../src/contacts/limits.ts';
import { bodyLimits } from '../../src/http/body.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { activityTypes } from '../../src/insight/activity/types.ts';
import { maxFilters, maxLevels } from '../../src/lib/conditions/condition.ts';
import { settings } from '../../src/lib/config/settings.ts';
import { scopes } from '../../src/lib/enums.ts';
import { mostInBatch, mostRecipients } from '../../src/mail/transactional/schema.ts';
import { routes } from '../../src/main/api/routes.ts';
import { BodySource } from '../../src/templates/schema.ts';
import { workflowQueues } from '../../temporal/commands.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');
const page = (name: string) => read(`docs/contract/${name}.md`);

/** Pages about what is built. */
const built = ['operations', 'core', 'campaigns-and-workflows', 'platform', 'reach', 'certainty'];
const document = openApiDocument(routes, 'https://fernpost.test') as { paths: Record<string, object> };

/** What matches in the files of the repository, as `file:match`. */
function grep(pattern: string): string[] {
  const { stdout } = spawn(['grep', '--untracked', '-oIiE', pattern]);
  return stdout.split('\n').filter(Boolean);
}

function spawn(args: string[]): { stdout: string } {
  try {
    return { stdout: execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }) };
  } catch (error) {
    // 1 means that nothing matches.
    if ((error as { status?: number }).status === 1) return { stdout: '' };
    throw error;
  }
}

test('every link to the contract resolves to an anchor', () => {
  const links = grep(String.raw`docs/contract/[a-z-]+\.md(#[a-z0-9-]+)?`);
  const anchors = new Map(
    globSync('docs/contract/*.md', { cwd: root }).map((path) => [
      path,
      new Set([...read(path).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id)),
    ]),
  );
  const broken = links.filter((link) => {
    const [, path = '', anchor] = /(docs\/contract\/[a-z-]+\.md)(?:#([a-z0-9-]+))?$/i.exec(link) ?? [];
    return anchors.get(path) === undefined || (anchor !== undefined && !anchors.get(path)?.has(anchor));
  });
  expect(links.length).toBeGreaterThan(150);
  expect(broken).toEqual([]);
});

test('anchors are unique on a page, and each numbered section has its own', () => {
  for (const path of globSync('docs/contract/*.md', { cwd: root })) {
    const ids = [...read(path).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
    expect(new Set(ids).size, path).toBe(ids.length);
    for (const [, anchor, number = ''] of read(path).matchAll(/^(.*)\n#{2,3} (\d+(?:\.\d+)?)\.? /gm))
      expect(anchor, `${path}: ${number}`).toBe(`<a id="${number.replace('.', '-')}"></a>`);
  }
});

test('nothing in the repository cites the contract by the number of a page', () => {
  expect(grep(['contract', 'page'].join(' '))).toEqual([]);
});

test('every endpoint of the contract is in the OpenAPI document', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
    })),
  );
  // Served beside the API, and Postmark's own.
  const others = /^\/(health|ready|metrics|openapi\.json|docs)$/;
  const named = built.flatMap((name) => {
    const text = page(name)
      .replace(/^## 10\. Delivery\n[\s\S]*?(?=^## 11\. )/m, '')
      .replaceAll('**', '');
    const methods = '(?:GET|POST|PUT|PATCH|DELETE)';
    const path = String.raw`\/[\w/{}@.*-]*[\w}*]`;
    const found = text.matchAll(new RegExp(`\\b(${methods}(?:(?:, | and )${methods})*) (${path}(?:, ${path})*)`, 'g'));
    return [...found].flatMap(([, verbs = '', paths = '']) =>
      verbs.split(/, | and /).flatMap((method) => paths.split(', ').map((one) => ({ name, method, path: one }))),
    );
  });
  expect(named.length).toBeGreaterThan(250);
  const missing = named.filter(({ method, path }) => {
    if (others.test(path)) return false;
    const samples = path.endsWith('*')
      ? ['subscribe', 'unsubscribe', 'delete'].map((end) => path.replace('*', end))
      : [path];
    return !samples.every((sample) => operations.some((one) => one.method === method && one.path.test(sample)));
  });
  expect(missing).toEqual([]);
});

describe('words of the interface', () => {
  const code = [
    ...globSync('{src,packages,tools}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**', '**/test/**'] }),
  ]
    .map(read)
    .join('\n');
  const enums = [...JSON.stringify(document).matchAll(/"enum":(\[[^\]]*\])/g)].map(
    ([, list = '[]']) => new Set<unknown>(JSON.parse(list)),
  );
  // Reserved by the contract and never raised.
  const reserved = ['UPGRADE_REQUIRED', 'INVALID_EMAIL', 'MISSING_REQUIRED_FIELD'];
  // The bytes at the beginning of a picture.
  const others = new Set([...reserved, 'RIFF', 'WEBP']);

  test('codes, statuses and settings of the contract are those of the code', () => {
    const quoted = new Set([...code.matchAll(/'([A-Z][A-Z0-9_]{2,})'/g)].map(([, word]) => word));
    const known = (word: string) =>
      quoted.has(word) || Object.hasOwn(settings, word) || enums.some((values) => values.has(word));
    const words = built.flatMap((name) =>
      [...page(name).matchAll(/`([A-Z][A-Z0-9_]{2,})`/g)].map(([, word = '']) => word),
    );
    expect(new Set(words).size).toBeGreaterThan(150);
    expect([...new Set(words)].filter((word) => !others.has(word) && !known(word))).toEqual([]);
  });

  test('the values of a field in a table are values of one enum of the OpenAPI document', () => {
    const lists = built.flatMap((name) =>
      page(name)
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .flatMap((line) => line.split(/(?<!\\)\|/))
        .filter((cell) => /^\s*(`[A-Z_]+`[\s,\\|·]*){3,}$/.test(cell))
        .map((cell) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, word = '']) => word))
        .filter(([first = '']) => !Object.hasOwn(settings, first)),
    );
    expect(lists.length).toBeGreaterThan(12);
    expect(lists.filter((list) => !enums.some((values) => list.every((word) => values.has(word))))).toEqual([]);
  });

  test('error codes have the statuses of the contract', () => {
    const raised = new Set(
      [...code.matchAll(/AppError\(\s*(\d{3}),\s*'([A-Z_]+)'/g)].map(([, status, word]) => `${status} ${word}`),
    );
    for (const [, word] of code.matchAll(/: '([A-Z]+_NOT_FOUND)'/g)) raised.add(`404 ${word}`);
    const core = [...page('core').matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map(([, word, of]) => `${of} ${word}`);
    const platform = [...page('platform').matchAll(/^\| (\d{3}) \| `([A-Z_]+)` \|/gm)].map(
      ([, of, word]) => `${of} ${word}`,
    );
    expect(core.length).toBeGreaterThan(20);
    expect(platform.length).toBeGreaterThan(10);
    const missing = [...core, ...platform].filter((pair) => !raised.has(pair));
    expect(missing).toEqual(['402 UPGRADE_REQUIRED']);
  });

  test('activity types, scopes and workflow types are complete', () => {
    const types = page('platform').match(/^`event\.triggered`.*$/m)?.[0] ?? '';
    const listed = [...types.matchAll(/`([\w.]+)`/g)].map(([, type]) => type);
    expect(listed).toEqual(activityTypes.slice(0, listed.length));
    expect(listed).toHaveLength(13);
    const allowed = page('reach').match(/^Scopes: (.*?)\. A key/m)?.[1] ?? '';
    expect([...allowed.matchAll(/`([\w:]+)`/g)].map(([, scope]) => scope)).toEqual(scopes);
    const units = [
      ...page('campaigns-and-workflows').matchAll(/^\| [^|]* \| `(\w+)` \| [^|]* \| `fernpost-(\w+)` \|/gm),
    ];
    expect(units).toHaveLength(6);
    for (const [, type = '', queue] of units) expect(Object.entries(workflowQueues)).toContainEqual([type, queue]);
  });
});

test('limits of the contract are those of the code', () => {
  const kilobytes = (bytes: number) => `${bytes / 1024} kB`;
  const megabytes = (bytes: number) => `${bytes / 1024 / 1024} MB`;
  const count = (number: number) => number.toLocaleString('en-US');
  const longestBody = 2_000_000;
  expect(v.is(BodySource, 'x'.repeat(longestBody))).toBe(true);
  expect(v.is(BodySource, 'x'.repeat(longestBody + 1))).toBe(false);
  const sentences: [name: string, sentence: string][] = [
    ['core', `more than ${maxLevels} levels or ${maxFilters} filters`],
    ['core', `JSON over ${megabytes(bodyLimits.document.bytes)} | 413`],
    ['core', `over limits (${count(longestBody)} characters, 1 s, 10 MB)`],
    ['campaigns-and-workflows', `${count(longestBody)} characters, 1 s per rendering`],
    ['campaigns-and-workflows', `≤ ${maxSteps} steps`],
    ['platform', `JSON limit of \`/v1/send\` is\n${megabytes(bodyLimits.message.bytes)}`],
    ['platform', `${sessionSeconds / 86_400} days (${sessionSeconds / 3600} h)`],
    ['operations', `Routes without a key ${kilobytes(bodyLimits.form.bytes)}`],
    ['operations', `\`/v1/track\` and \`/events/track\` ${kilobytes(bodyLimits.event.bytes)}`],
    ['operations', `Data of one event ${kilobytes(mostEventBytes)}`],
    ['operations', `Data of one contact ${kilobytes(mostContactBytes)}`],
    ['operations', `\`to\` of \`/v1/send\` ${count(mostRecipients)} recipients`],
    ['reach', `at most ${mostInBatch} items`],
  ];
  for (const [name, sentence] of sentences) expect(page(name), name).toContain(sentence);
});

test('defaults of the contract are those of the settings', () => {
  const rows = built.flatMap((name) => [...page(name).matchAll(/^\| ((?:`[A-Z0-9_]+`(?:, )?)+) \| ([^|]*) \|/gm)]);
  const compared = rows.flatMap(([, names = '', defaults = '']) => {
    const values = defaults.split(', ').map((value) => value.trim().replaceAll('`', ''));
    return [...names.matchAll(/`([A-Z0-9_]+)`/g)]
      .map(([, name = ''], index) => ({ name, value: values[index] ?? '' }))
      .filter(({ name, value }) => Object.hasOwn(settings, name) && /^[\w@:/.-]+$/.test(value) && value !== 'required');
  });
  expect(compared.length).toBeGreaterThan(30);
  const shown = (name: string) => settings[name as keyof typeof settings].shownDefault;
  expect(compared.filter(({ name, value }) => shown(name) !== value)).toEqual([]);
});
