import type { Database } from '../../src/store/sql.ts';

/** A table as the catalog has it; definitions by name, as Postgres prints them. */
interface TableShape {
  name: string;
  unlogged: boolean;
  /** Storage parameters, such as `fillfactor=70`. */
  options: string[];
  columns: Map<string, string>;
  constraints: Map<string, string>;
  indexes: Map<string, string>;
  triggers: Map<string, string>;
}

/** Types, tables, functions and triggers of a database, each sorted by name, in the same words on every Postgres from 15 on. */
export interface Shape {
  extensions: string[];
  /** Composite types, with their attributes. */
  types: Map<string, string>;
  tables: TableShape[];
  functions: Map<string, string>;
}

// What the migrator keeps for itself, and what Postgres 18 brings along.
const tables = `select c.oid, c.relname as name, c.relpersistence = 'u' as unlogged, coalesce(c.reloptions, '{}') as options
  from pg_class c
  where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname <> 'mikro_orm_migrations'
  order by c.relname collate "C"`;

const types = `select c.relname as name, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum) as definition
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relkind = 'c' and c.relnamespace = 'public'::regnamespace group by c.relname order by c.relname collate "C"`;

// Generated columns come last: a migration makes one anew where Postgres cannot change its expression, which moves it.
const columns = `select a.attrelid as oid, a.attname as name, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> t.typcollation then (select 'collate "' || collname || '"' from pg_collation l where l.oid = a.attcollation) end,
    case when a.attstorage <> t.typstorage then 'storage ' || case a.attstorage when 'e' then 'external' when 'm' then 'main' when 'p' then 'plain' else 'extended' end end,
    case when a.attgenerated = 's' then 'generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
      when d.adbin is not null then 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
    case when a.attidentity <> '' then 'generated as identity' end,
    case when a.attnotnull then 'not null' end) as definition
  from pg_attribute a join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped order by a.attrelid, a.attgenerated = 's', a.attnum`;

// From Postgres 18 on, "not null" of a column is a constraint too.
const constraints = `select conrelid as oid, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
  where contype in ('p', 'u', 'f', 'c', 'x') order by position(contype in 'pufcx'), conname collate "C"`;

const indexes = `select x.indrelid as oid, c.relname as name, pg_get_indexdef(x.indexrelid) as definition
  from pg_index x join pg_class c on c.oid = x.indexrelid
  where not exists (select from pg_constraint k where k.conindid = x.indexrelid and k.contype in ('p', 'u', 'x'))
  order by c.relname collate "C"`;

const triggers = `select tgrelid as oid, tgname as name, pg_get_triggerdef(oid) as definition from pg_trigger
  where not tgisinternal order by tgname collate "C"`;

const functions = `select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.proname <> 'uuidv7'
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  order by p.proname collate "C"`;

/** Reads the shape of a database from its catalog. */
export async function shapeOf(sql: Database): Promise<Shape> {
  const part = async (query: string) => {
    const rows = await sql.rows<{ oid: number; name: string; definition: string }>(query);
    const all = new Map<number, Map<string, string>>();
    for (const { oid, name, definition } of rows) {
      const own = all.get(oid) ?? new Map<string, string>();
      all.set(oid, own.set(name, plain(definition)));
    }
    return (oid: number) => all.get(oid) ?? new Map<string, string>();
  };
  const heads = await sql.rows<{ oid: number; name: string; unlogged: boolean; options: string[] }>(tables);
  const [columnsOf, constraintsOf, indexesOf, triggersOf] = [
    await part(columns),
    await part(constraints),
    await part(indexes),
    await part(triggers),
  ];
  const routines = await sql.rows<{ name: string; definition: string }>(functions);
  const composites = await sql.rows<{ name: string; definition: string }>(types);
  const added = await sql.rows<{ name: string }>(
    "select extname as name from pg_extension where extname <> 'plpgsql' order by 1",
  );
  return {
    extensions: added.map(({ name }) => name),
    types: new Map(composites.map(({ name, definition }) => [name, definition])),
    tables: heads.map(({ oid, ...head }) => ({
      ...head,
      columns: columnsOf(oid),
      constraints: constraintsOf(oid),
      indexes: indexesOf(oid),
      triggers: triggersOf(oid),
    })),
    functions: new Map(routines.map(({ name, definition }) => [name, definition.replace(/\bpublic\./g, '').trim()])),
  };
}

/** Everything but functions and triggers, one entry for each thing with a name: `column users.email` and what it is. */
export function describedThings(shape: Shape): Map<string, string> {
  const things = new Map<string, string>();
  for (const table of shape.tables) {
    things.set(`table ${table.name}`, '');
    for (const kind of ['column', 'constraint', 'index'] as const) {
      const own = { column: table.columns, constraint: table.constraints, index: table.indexes }[kind];
      for (const [name, definition] of own) things.set(`${kind} ${table.name}.${name}`, definition);
    }
  }
  return things;
}

const header = `-- The schema of the database, as all migrations and functions together make it, in the order of names.
-- Written by "npm run schema". Change it by a migration, or by the file of a function in migrations/functions.
-- Only the comments above tables are written by hand, and kept.`;

/** The shape as SQL to read, with a comment above each table that has one. */
export function schemaText({ extensions, types, tables, functions }: Shape, comments: Map<string, string>): string {
  return `${[
    header,
    extensions.map((name) => `create extension ${name};`).join('\n'),
    ...[...types].map(([name, definition]) => `create type ${name} as (${definition});`),
    ...tables.map((table) => `${comments.get(table.name) ?? ''}${tableText(table)}`),
    ...[...functions.values()].map((definition) => `${definition};`),
  ].join('\n\n')}\n`;
}

/** The comments above the tables in a text of `schemaText`, by table. */
export function tableComments(text: string): Map<string, string> {
  const found = text.matchAll(/^((?:-- .*\n)+)create (?:unlogged )?table (\w+) \(/gm);
  return new Map([...found].map(([, comment = '', table = '']) => [table, comment]));
}

function tableText({ name, unlogged, options, columns, constraints, indexes, triggers }: TableShape): string {
  const parts = [
    ...[...columns].map(([column, definition]) => `  ${quoted(column)} ${definition}`),
    ...[...constraints].map(([constraint, definition]) => `  constraint ${constraint} ${definition}`),
  ];
  const settings = options.length > 0 ? ` with (${options.join(', ')})` : '';
  return [
    `create ${unlogged ? 'unlogged ' : ''}table ${name} (\n${parts.join(',\n')}\n)${settings};`,
    ...[...indexes.values(), ...triggers.values()].map((definition) => `${definition};`),
  ].join('\n');
}

// Reserved words of SQL among the names of columns.
const reserved = new Set(['from', 'position', 'row']);

function quoted(column: string): string {
  return reserved.has(column) ? `"${column}"` : column;
}

// Postgres writes keywords in capitals, and whatever stands in quotes is no keyword.
function plain(definition: string): string {
  const parts = definition
    .replace(/\bpublic\./g, '')
    .replace(/\s+/g, ' ')
    .split(/('(?:[^']|'')*'|"[^"]*")/);
  return parts
    .map((part) => (/^['"]/.test(part) ? part : part.replace(/\b[A-Z]+\b/g, (word) => word.toLowerCase())))
    .join('');
}
