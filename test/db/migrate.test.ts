import { randomBytes } from 'node:crypto';
import { Migration } from '@mikro-orm/migrations';
import { Client } from 'pg';
import { expect, inject, test } from 'vitest';
import { migrations } from '../../migrations/index.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { migrationNames, schemaProblem } from '../../src/store/readiness.ts';
import { testDatabase } from '../support/database.ts';

class Broken extends Migration {
  override up(): void {
    this.addSql('create table half_made (id int)');
    this.addSql('alter table half_made alter column id set expression of the future');
  }
}

class Forbidden extends Migration {
  override up(): void {
    this.addSql(
      "do $$ begin raise exception using errcode = '42501', message = 'permission denied for schema public'; end $$",
    );
  }
}

test('a migration that fails is one line with its name, the version and what to do, and changes nothing', async () => {
  await using database = await testDatabase();
  const { version } = (await database.db.row<{ version: string }>(
    "select split_part(current_setting('server_version'), ' ', 1) as version",
  )) ?? { version: '' };
  const failing = (migration: typeof Broken) => [
    ...migrations,
    { name: 'Migration29990101000000_next', class: migration },
  ];
  await expect(migrateDatabase(database.url, { list: failing(Broken) })).rejects.toThrow(
    new RegExp(
      `^Migration29990101000000_next failed on Postgres ${version.replaceAll('.', '\\.')}: syntax error at or near .*\\(42601\\)\\. Nothing was changed\\. .*newer.*$`,
    ),
  );
  await expect(migrateDatabase(database.url, { list: failing(Forbidden) })).rejects.toThrow(
    /^Migration29990101000000_next failed .*permission denied for schema public \(42501\)\. Nothing was changed\. Let the role .* run npm run migrate again\.$/,
  );
  expect(await database.db.row("select to_regclass('half_made') as found")).toEqual({ found: null });
  expect(await migrateDatabase(database.url)).toEqual({ applied: [], functions: [], unknown: [] });
});

test('a schema of a later release is named and left alone', async () => {
  await using database = await testDatabase();
  await database.db.rows("insert into mikro_orm_migrations (name) values ('Migration29990101000000_next')");
  expect(await migrateDatabase(database.url)).toEqual({
    applied: [],
    functions: [],
    unknown: ['Migration29990101000000_next'],
  });
});

test('a database that is not there is never created', async () => {
  const missing = Object.assign(new URL(inject('databaseUrl')), { pathname: '/fernpost_not_there' }).href;
  await expect(migrateDatabase(missing)).rejects.toMatchObject({ code: '3D000' });
});

test('every migration runs on this Postgres in steps as well, and people at their first step are counted as ever', async () => {
  const admin = inject('databaseUrl');
  const name = `steps_${randomBytes(4).toString('hex')}`;
  await using _ = await query(admin, `create database ${name}`, `drop database ${name} with (force)`);
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).href;
  const cut = migrations.findIndex((migration) => migration.name.endsWith('_automation_passages'));
  await migrateDatabase(url, { list: migrations.slice(0, cut) });
  const rest = await migrateDatabase(url);
  expect(rest.applied).toEqual(migrations.slice(cut).map((migration) => migration.name));
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ made: string; index: string }>(
      `select pg_get_expr(d.adbin, d.adrelid) as made, pg_get_indexdef('automation_step_runs_reached'::regclass) as index
       from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
       where d.adrelid = 'automation_step_runs'::regclass and a.attname = 'branch'`,
    );
    expect(rows[0]?.made).toContain("'COMPLETED'");
    expect(rows[0]?.index).toContain('(step_id, started_at, branch, status)');
  } finally {
    await client.end();
  }
});

test('keys that could erase contacts before erasing had a scope of its own get that scope, and others do not', async () => {
  const admin = inject('databaseUrl');
  const name = `scopes_${randomBytes(4).toString('hex')}`;
  await using _ = await query(admin, `create database ${name}`, `drop database ${name} with (force)`);
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).href;
  const at = migrations.findIndex((migration) => migration.name.endsWith('_key_limits'));
  await migrateDatabase(url, { list: migrations.slice(0, at) });
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const scopes = async () =>
      (await client.query<{ scopes: string[] }>('select scopes from api_keys order by name')).rows.map(
        (row) => row.scopes,
      );
    await client.query(
      `with project as (insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed)
         values (uuidv7(), 'P', 'p', 's', 'p', 's') returning id)
       insert into api_keys (id, project_id, name, prefix, hash, scopes)
       select uuidv7(), id, of.name, 'rk_1', sha256(of.name::bytea), of.scopes from project, (values
         ('1', array['contacts:write', 'emails:send']), ('2', array['contacts:read']), ('3', array['contacts:erase', 'contacts:write'])) of (name, scopes)`,
    );
    await migrateDatabase(url, { list: migrations.slice(0, at + 1) });
    expect(await scopes()).toEqual([
      ['contacts:write', 'emails:send', 'contacts:erase'],
      ['contacts:read'],
      ['contacts:erase', 'contacts:write'],
    ]);
  } finally {
    await client.end();
  }
});

test('changes of contacts that a key with limits has made get its limits, and others do not', async () => {
  const admin = inject('databaseUrl');
  const name = `limited_${randomBytes(4).toString('hex')}`;
  await using _ = await query(admin, `create database ${name}`, `drop database ${name} with (force)`);
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).href;
  const at = migrations.findIndex((migration) => migration.name.endsWith('_limited_changes'));
  await migrateDatabase(url, { list: migrations.slice(0, at) });
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`
      with project as (insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed)
        values (uuidv7(), 'P', 'p', 's', 'p', 's') returning id),
      key as (insert into api_keys (id, project_id, name, prefix, hash, scopes, recipients)
        select uuidv7(), id, of.name, 'rk_1', sha256(of.name::bytea), '{}', of.recipients from project, (values
          ('limited', '{"domains": [], "addresses": []}'::jsonb), ('free', null)) of (name, recipients) returning *),
      job as (insert into jobs (id, project_id, kind, spec, cause, limited_by)
        select 'bulk-' || id, project_id, 'bulk', '{}', '{"type": "bulk"}', id from key where name = 'limited' returning id, project_id),
      cause as (
        select project_id, name as writer, jsonb_build_object('type', 'contact', 'by', jsonb_build_object('id', id))::text as text from key
        union all select project_id, 'job', id from job),
      waiting as (insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause)
        select project_id, jsonb_build_object('writer', writer), true, 1, uuidv7(), now(), text from cause)
      insert into contact_history (project_id, after, subscribed_after, contact_id, at, cause)
        select project_id, jsonb_build_object('writer', writer), true, uuidv7(), now(), text::jsonb from cause where writer <> 'job'`);
    await migrateDatabase(url, { list: migrations.slice(0, at + 1) });
    const { rows } = await client.query(`
      select data ->> 'writer' as writer, k.name as "limitedBy" from contact_changes c left join api_keys k on k.id = c.limited_by
      union all select after ->> 'writer', k.name from contact_history h left join api_keys k on k.id = h.limited_by order by 1`);
    expect(rows).toEqual([
      { writer: 'free', limitedBy: null },
      { writer: 'free', limitedBy: null },
      { writer: 'job', limitedBy: 'limited' },
      { writer: 'limited', limitedBy: 'limited' },
      { writer: 'limited', limitedBy: 'limited' },
    ]);
  } finally {
    await client.end();
  }
});

test('waits of earlier versions are watched: by their graph, and by whoever waits for an event that no graph has any more', async () => {
  const admin = inject('databaseUrl');
  const name = `waits_${randomBytes(4).toString('hex')}`;
  await using _ = await query(admin, `create database ${name}`, `drop database ${name} with (force)`);
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).href;
  const at = migrations.findIndex((migration) => migration.name.endsWith('_watched_waits'));
  await migrateDatabase(url, { list: migrations.slice(0, at) });
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const goal = { on: { leavesSegment: '0192f3a0-0000-7000-8000-000000000001' }, withinDays: 3 };
    const steps = [
      { type: 'TRIGGER', config: { eventName: 'signup', goal, exits: [{ on: { event: 'order.paid' } }] } },
      { type: 'WAIT_FOR_EVENT', config: { eventName: 'order.paid' } },
      { type: 'WAIT_FOR_EVENT', config: { eventName: 'cart.opened' } },
      { type: 'WAIT_FOR_EVENT', config: { eventName: 'x'.repeat(3_000) } },
      { type: 'WAIT_FOR_EVENT', config: {} },
    ];
    await client.query(
      `with project as (insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed)
        values (uuidv7(), 'P', 'p', 's', 'p', 's') returning id),
      automation as (insert into automations (id, project_id, name) select uuidv7(), id, 'A' from project returning *),
      version as (insert into automation_versions (id, automation_id, version, graph, hash)
        select uuidv7(), id, 1, $1, 'h' from automation returning *),
      watched as (insert into automation_watches (version_id, event_name, project_id, automation_id, ends)
        select v.id, w.name, a.project_id, a.id, w.ends from version v, automation a,
          (values ('order.paid', true), ('segment:0192f3a0-0000-7000-8000-000000000001', false)) w (name, ends)),
      run as (insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status)
        select uuidv7(), a.project_id, a.id, v.id, uuidv7(), 1, 'WAITING' from automation a, version v returning *)
      insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, event_name)
        select uuidv7(), id, project_id, contact_id, uuidv7(), of.seq, 'WAIT_FOR_EVENT', 'Wait', of.status, of.name
        from run, (values (0, 'COMPLETED', 'past'), (1, 'WAITING', 'plan.changed')) of (seq, status, name)`,
      [JSON.stringify({ steps, transitions: [] })],
    );
    await migrateDatabase(url);
    const { rows } = await client.query(
      `select event_name as name, counts, ends, waits from automation_watches order by event_name`,
    );
    expect(rows).toEqual([
      { name: 'cart.opened', counts: false, ends: false, waits: true },
      { name: 'order.paid', counts: false, ends: true, waits: true },
      { name: 'plan.changed', counts: false, ends: false, waits: true },
      { name: `segment:${goal.on.leavesSegment}`, counts: true, ends: false, waits: false },
    ]);
  } finally {
    await client.end();
  }
});

test('a schema is compared by the names of its migrations', () => {
  expect(migrationNames()).toEqual(migrations.map(({ name }) => name));
  const known = ['a', 'b', 'c'];
  expect(schemaProblem(known, known, false)).toBeNull();
  expect(schemaProblem([], known, false)).toContain('a and 2 more are not applied');
  expect(schemaProblem(['a', 'c'], known, true)).toContain('b is not applied');
  expect(schemaProblem([...known, 'd'], known, false)).toContain('d is unknown');
  expect(schemaProblem([...known, 'd'], known, true)).toBeNull();
});

async function query(url: string, first: string, last: string): Promise<AsyncDisposable> {
  const run = async (sql: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(first);
  return { [Symbol.asyncDispose]: () => run(last) };
}
