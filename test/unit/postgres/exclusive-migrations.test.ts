import { expect, test } from 'vitest';
import { migrations } from '../../../migrations/index.ts';

// A deploy migrates beside processes of the release before. What their statements cannot live with is to be declared (`isExclusive` in
// migrations/index.ts), so that `npm run migrate` refuses until they are stopped. What a change of rows means to them no text says.
const since = 'Migration20261128060000_tenant_indexes';

/** Migrations that are not exclusive all the same, and why processes of the release before live with them. */
const lived: Record<string, string> = {
  Migration20261129013500_project_retention:
    'only the hourly sweep of retention calls these functions: it fails on a worker of the release before, and the next hour makes up for it',
  Migration20261129162000_event_parts:
    'only functions of the hourly sweep call remove_events, and they are replaced with it: a sweep in between fails, and the next hour makes up for it',
};

/** The statements of each migration, in their order. */
const texts = await Promise.all(
  migrations.map(async ({ class: Class, ...listed }) => {
    const migration = new Class(...([] as unknown as ConstructorParameters<typeof Class>));
    await migration.up();
    return { ...listed, statements: migration.getQueries().map((query) => plain(String(query))) };
  }),
);

function plain(text: string): string {
  return text
    .replace(/--.*$/gm, '')
    .replace(/"(\w+)"/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Divides a text at the commas that are in no brackets and no quotes. */
function divided(text: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/'[^']*'|[\s\S]/g)) {
    depth += token === '(' ? 1 : token === ')' ? -1 : 0;
    if (token === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim());
}

/** What in a migration fails statements of the release before; `before` are the statements of all earlier migrations. */
function breaks(statements: readonly string[], before: readonly string[]): string[] {
  const made = new Set(statements.flatMap((text) => /^create table (?:if not exists )?(\w+)/i.exec(text)?.[1] ?? []));
  return statements.filter((text) => {
    if (/^(drop (table|function|procedure|aggregate|type|domain|view)|alter (type|domain|function|view))\b/i.test(text))
      return true;
    const [, on] = /^create unique index .*? on (?:only )?(\w+)/i.exec(text) ?? [];
    if (on !== undefined) return !made.has(on);
    const [, index] = /^drop index (?:concurrently )?(?:if exists )?(\w+)/i.exec(text) ?? [];
    if (index !== undefined)
      return before.some((one) => new RegExp(`^create unique index .*\\b${index}\\b`, 'i').test(one));
    const [, table = '', actions = ''] = /^alter table (?:if exists )?(?:only )?(\w+) (.*)$/i.exec(text) ?? [];
    return actions !== '' && !made.has(table) && divided(actions).some((action) => tightens(table, action, before));
  });
}

function tightens(table: string, action: string, before: readonly string[]): boolean {
  if (/^rename\b/i.test(action)) return true;
  if (/^alter (column )?\w+ (set not null|(set data )?type|drop default|drop identity)\b/i.test(action)) return true;
  if (/^add (check|exclude|foreign key|primary key|unique)\b/i.test(action)) return true;
  // A row that the release before inserts does not have the column.
  const [, column] = /^add (?:column )?(?:if not exists )?(?!constraint\b)\w+ (.*)$/i.exec(action) ?? [];
  if (column !== undefined) return /\bnot null\b/i.test(column) && !/\b(default|generated)\b/i.test(column);
  const [, dropped] = /^drop constraint (?:if exists )?(\w+)/i.exec(action) ?? [];
  // `on conflict` names what is unique.
  if (dropped !== undefined)
    return before.some((one) => new RegExp(`\\bconstraint ${dropped} (unique|primary key)`, 'i').test(one));
  if (/^drop\b/i.test(action)) return true;
  const [, name, kind] = /^add constraint (\w+) (.*)$/i.exec(action) ?? [];
  if (name === undefined || kind === undefined) return false;
  const now = valuesOf(kind);
  const was = before.flatMap((one) => allowedBefore(one, table, name)).at(-1);
  return now === null || was === undefined || was.values.some((value) => !now.values.includes(value));
}

/** The values that a check allows a column to have; null for any other. */
function valuesOf(text: string): { column: string; values: string[] } | null {
  const [, column, list] = /check \((\w+) in \(([^()]*)\)\)/i.exec(text) ?? [];
  return column && list ? { column, values: divided(list) } : null;
}

// A check that is written behind its column is named by Postgres.
function allowedBefore(statement: string, table: string, name: string): { values: string[] }[] {
  const named = new RegExp(`constraint ${name} (check \\(\\w+ in \\([^()]*\\)\\))`, 'i').exec(statement)?.[1];
  if (named !== undefined) return [valuesOf(named) ?? { values: [] }];
  if (!new RegExp(`^create table (if not exists )?${table} `, 'i').test(statement)) return [];
  const checks = [...statement.matchAll(/check \(\w+ in \([^()]*\)\)/gi)].flatMap(([check]) => valuesOf(check) ?? []);
  return checks.filter(({ column }) => name === `${table}_${column}_check`);
}

const earlier = [
  `create table jobs (id text not null, kind text not null check (kind in ('import', 'bulk')), constraint jobs_pkey primary key (id))`,
  'create unique index jobs_one on jobs (kind)',
  'create index jobs_kind on jobs (kind)',
];

test.each([
  'alter table jobs drop column kind',
  'alter table jobs add column note text, drop column kind',
  'alter table jobs drop kind',
  'alter table jobs rename column kind to type',
  'alter table jobs rename to tasks',
  'alter table jobs alter column kind set not null',
  'alter table jobs alter kind type integer using 1',
  'alter table jobs alter column kind drop default',
  'alter table jobs add column note text not null',
  'alter table jobs add constraint jobs_note check (length(id) < 10)',
  `alter table jobs add constraint jobs_kind_check check (kind in ('import', 'simulation'))`,
  'alter table jobs add constraint jobs_once unique (kind)',
  'alter table jobs add foreign key (kind) references kinds (id)',
  'alter table jobs drop constraint jobs_pkey',
  'create unique index jobs_twice on jobs (kind)',
  'drop index jobs_one',
  'drop table jobs',
  'drop function if exists write_contacts(uuid, jsonb)',
  'alter type settled_mail add attribute note text',
])('%s is what the release before cannot live with', (statement) => {
  expect(breaks([plain(statement)], earlier)).toEqual([statement]);
});

test.each([
  ['alter table jobs add column note text, add column times integer not null default 0'],
  [`alter table jobs add constraint jobs_kind_check check (kind in ('import', 'bulk', 'simulation'))`],
  ['alter table jobs drop constraint jobs_kind_check'],
  ['alter table jobs set (autovacuum_vacuum_scale_factor = 0.02)'],
  ['drop index jobs_kind'],
  ['create index jobs_kinds on jobs (kind, id)'],
  [
    'create table notes (id uuid not null)',
    'create unique index notes_id on notes (id)',
    'alter table notes add text text not null',
  ],
])('%s is not', (...statements) => {
  expect(breaks(statements.map(plain), earlier)).toEqual([]);
});

test('a migration that processes of the release before cannot live with is declared as exclusive', () => {
  const first = texts.findIndex(({ name }) => name === since);
  const found = texts.slice(first).flatMap(({ name, isExclusive = false, statements }, place) => {
    const before = texts.slice(0, first + place).flatMap((one) => one.statements);
    return isExclusive ? [] : breaks(statements, before).map((statement) => ({ name, statement }));
  });
  expect(found.filter(({ name }) => lived[name] === undefined)).toEqual([]);
  // An exception that nothing needs would hide what comes next.
  expect(Object.keys(lived).filter((needed) => !found.some(({ name }) => name === needed))).toEqual([]);
});
