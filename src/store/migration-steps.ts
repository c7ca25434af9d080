import type { ClientBase } from 'pg';

/** A table so large that a statement over all of its rows takes time. */
export interface LargeTable {
  rows: number;
  bytes: number;
}

/** Large tables by name. */
export type LargeTables = ReadonlyMap<string, LargeTable>;

/** A part of a migration that commits by itself. `through` says how many statements are done once it has. */
export type MigrationStep = { through: number } & (
  | { kind: 'transaction'; statements: string[]; slow: SlowWork | null }
  | { kind: 'index'; index: IndexStatement; replaces: boolean; slow: SlowWork }
);

/** A slow step, with an estimate. */
export interface SlowWork {
  what: string;
  /** In words, such as `about 4 s`. */
  takes: string;
}

/** A `create index`, taken apart. */
export interface IndexStatement {
  name: string;
  table: string;
  unique: boolean;
  /** From `on` to the end. */
  on: string;
}

// Rows a second on one core of a small machine (docs/performance-archive.md, "Migrations").
const rowsPerSecond = { index: 250_000, validate: 1_000_000, change: 60_000 };
const indexPattern =
  /^\s*create (unique )?index (?:concurrently )?(?:if not exists )?"?(\w+)"? (on (?:only )?"?(\w+)"?[\s\S]*)$/i;
const checkPattern = /^(\s*alter table "?(\w+)"? [\s\S]*\badd constraint "?(\w+)"? check \([\s\S]*\))\s*$/i;
const changePattern = /^\s*(update|delete from|insert into|with)\b/i;

/**
 * The statements of a migration as they are run: a check that is added is validated by a statement of its own, which holds no lock that
 * reads or writes would wait for.
 */
export function statementsOf(queries: readonly string[]): string[] {
  return queries.flatMap((query) => {
    const [, text, table, constraint] = checkPattern.exec(query) ?? [];
    if (text === undefined || / not valid\s*$/i.test(text)) return [query];
    return [`${text} not valid`, `alter table ${table} validate constraint ${constraint}`];
  });
}

/**
 * Divides what is left of a migration into steps. Where it touches no large table, it is one transaction. Otherwise an index of a large
 * table is built concurrently, and what reads or writes all rows of one begins a transaction of its own, so that no lock on a table is held
 * meanwhile. An index that takes the name of one that is dropped first replaces it when it is built. `done` statements are done already.
 */
export function migrationSteps(statements: readonly string[], done: number, large: LargeTables): MigrationStep[] {
  const steps: MigrationStep[] = [];
  let open: string[] = [];
  let slow: SlowWork | null = null;
  const close = (through: number) => {
    if (open.length > 0) steps.push({ kind: 'transaction', statements: open, slow, through });
    [open, slow] = [[], null];
  };
  const concurrent = (text: string) => {
    const index = indexStatement(text);
    return index !== null && (done > 0 || large.has(index.table)) ? index : null;
  };
  for (const [place, text] of statements.entries()) {
    if (place < done) continue;
    const index = concurrent(text);
    if (index !== null) {
      close(place);
      const replaces = statements.slice(0, place).some((earlier) => droppedIndex(earlier) === index.name);
      steps.push({
        kind: 'index',
        index,
        replaces,
        slow: estimate('index', `index ${index.name}`, index.table, large),
        through: place + 1,
      });
      continue;
    }
    const dropped = droppedIndex(text);
    if (dropped !== null && statements.slice(place).some((later) => concurrent(later)?.name === dropped)) continue;
    const work = slowWork(text, large);
    if (work !== null) {
      close(place);
      slow = work;
    }
    open.push(text);
  }
  close(statements.length);
  const last = steps.at(-1);
  if (last !== undefined) last.through = statements.length;
  return steps;
}

function indexStatement(text: string): IndexStatement | null {
  const [, unique, name, on, table] = indexPattern.exec(text) ?? [];
  return name && on && table ? { name, table, unique: unique !== undefined, on } : null;
}

function droppedIndex(text: string): string | null {
  return /^\s*drop index (?:if exists )?"?(\w+)"?\s*$/i.exec(text)?.[1] ?? null;
}

function slowWork(text: string, large: LargeTables): SlowWork | null {
  const [, validated, constraint] = /^alter table (\w+) validate constraint (\w+)$/.exec(text) ?? [];
  if (validated !== undefined && large.has(validated))
    return estimate('validate', `check ${constraint}`, validated, large);
  if (!changePattern.test(text)) return null;
  const named = tablesOf(text);
  const names = [...large.keys()].filter((table) => named.has(table));
  const table = names.toSorted((one, other) => (large.get(other)?.rows ?? 0) - (large.get(one)?.rows ?? 0))[0];
  return table === undefined ? null : estimate('change', text.trim().split(/\s+/).slice(0, 3).join(' '), table, large);
}

const listPattern =
  /\b(?:update|into|from|join|using)\s+(?:only\s+)?("?\w+"?(?:(?:\s+(?:as\s+)?\w+)?\s*,\s*"?\w+"?)*)/gi;

// Columns and texts may be called as a table: endpoints have `events`, and `contacts:erase` is a scope.
function tablesOf(text: string): ReadonlySet<string | undefined> {
  const lists = text.replace(/--.*$|'[^']*'/gm, ' ').matchAll(listPattern);
  return new Set([...lists].flatMap(([, list = '']) => list.split(',').map((item) => /\w+/.exec(item)?.[0])));
}

// How many rows a statement changes is not known before.
function estimate(kind: keyof typeof rowsPerSecond, what: string, table: string, large: LargeTables): SlowWork {
  const rows = large.get(table)?.rows ?? 0;
  const time = duration(rows / rowsPerSecond[kind]);
  return {
    what: `${what}, ${rows.toLocaleString('en')} rows of ${table}`,
    takes: `${kind === 'change' ? 'up to' : 'about'} ${time}`,
  };
}

/** Seconds in words. */
export function duration(seconds: number): string {
  return seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}

/** Tables of at least so many bytes, by the estimates of Postgres; one that is divided has all of its parts. */
export async function largeTables(client: ClientBase, leastBytes: number): Promise<LargeTables> {
  const { rows } = await client.query<LargeTable & { name: string }>(
    `select coalesce(whole.relname, c.relname) as name, sum(pg_relation_size(c.oid))::float8 as bytes,
       sum(case when c.reltuples > 0 and c.relpages > 0 then c.reltuples / c.relpages * (pg_relation_size(c.oid) / 8192)
         else pg_relation_size(c.oid) / 200 end)::bigint::float8 as rows
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class whole on whole.oid = i.inhparent
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
     group by 1 having sum(pg_relation_size(c.oid)) >= $1`,
    [leastBytes],
  );
  return new Map(rows.map(({ name, ...table }) => [name, table]));
}
