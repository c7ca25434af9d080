import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { freePorts } from '../src/ports.ts';
import { findPostgres } from '../src/postgres/postgres-binaries.ts';
import { chooseServerUser } from '../src/postgres/postgres-place.ts';
import { type PostgresOptions, postgresUrl, startPostgres } from '../src/postgres/postgres-server.ts';
import type { RunningProcess } from '../src/process/launch.ts';
import { openLog } from '../src/process/log-file.ts';
import { fakeTerminal, temporaryFolder } from './fakes.ts';

async function optionsIn(folder: string): Promise<PostgresOptions & { terminal: ReturnType<typeof fakeTerminal> }> {
  chmodSync(folder, 0o755);
  const place = join(folder, 'postgres');
  const user = await chooseServerUser(place, () => {});
  const [port = 0] = await freePorts(1);
  return {
    binaries: await findPostgres(user),
    user,
    place,
    port,
    password: 'a-password-for-one-test',
    durable: true,
    log: openLog(join(folder, 'postgres.log')),
    terminal: fakeTerminal(),
    signal: new AbortController().signal,
    removeWhenOrphaned: folder,
  };
}

async function query(options: PostgresOptions, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: postgresUrl(options) });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test('our own Postgres keeps promises about power failures and knows the letters of every language', async () => {
  using folder = temporaryFolder();
  const options = await optionsIn(folder.path);
  const server = await startPostgres(options);
  try {
    const [row] = await query(
      options,
      `select 'ÅSA ŁUKASZ Ωμέγα' ilike 'åsa łukasz ωμέγα' as matches, current_setting('fsync') as fsync,
        current_setting('full_page_writes') as pages, current_setting('server_encoding') as encoding,
        (select count(*)::int from pg_available_extensions where name in ('pg_trgm', 'btree_gin')) as extensions`,
    );
    expect(row).toEqual({ matches: true, fsync: 'on', pages: 'on', encoding: 'UTF8', extensions: 2 });
    await query(options, 'create table people (email text unique)');
    await query(options, `insert into people values ('ada@example.com')`);
    await expect(query(options, `insert into people values ('ada@example.com')`)).rejects.toThrow('people_email_key');
    expect(readFileSync(options.log.path, 'utf8')).toContain('people_email_key');
    expect(readFileSync(options.log.path, 'utf8')).not.toContain('ada@example.com');
    const wrong = { ...options, password: 'another' };
    await expect(query(wrong, 'select 1')).rejects.toThrow('password authentication failed');
  } finally {
    expect(await server.stop(10_000)).toBe(true);
  }
});

test('a Postgres that was killed, and one that was left running, are both taken over with all their data', async () => {
  using folder = temporaryFolder();
  const options = await optionsIn(folder.path);
  const servers: RunningProcess[] = [await startPostgres(options)];
  try {
    await query(options, `create table kept as select 'before the crash' as what`);
    process.kill(servers[0]?.pid ?? 0, 'SIGKILL');
    await servers[0]?.exited;
    servers.push(await startPostgres(options));
    expect(await query(options, 'select what from kept')).toEqual([{ what: 'before the crash' }]);

    servers.push(await startPostgres(options));
    expect(options.terminal.text()).toContain('Stopping the Postgres that an earlier run left behind');
    expect(servers[1]?.hasExited()).toBe(true);
    expect(await query(options, 'select what from kept')).toEqual([{ what: 'before the crash' }]);
  } finally {
    await Promise.all(servers.map((server) => server.stop(10_000)));
  }
});

test('secrets that belong to other data are told as such', async () => {
  using folder = temporaryFolder();
  const options = await optionsIn(folder.path);
  await (await startPostgres(options)).stop(10_000);
  await expect(startPostgres({ ...options, password: 'another' })).rejects.toThrow('DATA_DIR/secrets.json');
});
