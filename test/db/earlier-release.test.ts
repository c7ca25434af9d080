import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { applicationPrefix, databaseNames, queuePrefix } from '@fernpost/earlier-name';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { databaseFunctions, earlierOnly } from '../../migrations/functions.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import { unseal } from '../../src/lib/seal.ts';
import { withOwnQueues } from '../../src/main/setup/outside.ts';
import { migrateDatabase, returnToEarlierRelease } from '../../src/store/migrate.ts';
import { databaseProblem } from '../../src/store/readiness.ts';
import { missingFunctions } from '../../src/store/run-migrations.ts';
import { testApi } from '../support/api.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../support/database.ts';

/** How many functions and triggers use settings or channels whose names begin so. */
const using = async ({ db }: TestDatabase, names: Record<string, string>) => {
  const row = await db.row<{ count: number }>(
    `select (select count(*) from pg_proc where pronamespace = current_schema()::regnamespace and prosrc ~ $1)
       + (select count(*) from pg_trigger where not tgisinternal and pg_get_triggerdef(oid) ~ $1) as count`,
    [`'(${Object.values(names).join('|').replaceAll('.', '\\.')})`],
  );
  return Number(row?.count);
};
const current = { setting: 'fernpost.', channel: 'fernpost_' };

test('a database of the earlier release is migrated, and all that it holds is used', async () => {
  await using database = await emptyDatabase();
  const dump = gunzipSync(readFileSync(new URL('../data/earlier-release.sql.gz', import.meta.url))).toString();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(dump).finally(() => client.end());
  expect(await using(database, current)).toBe(0);
  expect((await migrateDatabase(database.url)).functions.length).toBeGreaterThan(10);
  expect([await using(database, databaseNames), await databaseProblem(database.db, false)]).toEqual([0, null]);

  const env = { JWT_SECRET: 'a secret of thirty-two bytes or more' };
  await using api = await testApi(database, env);
  expect((await withOwnQueues(readConfig(env), database.db)).TEMPORAL_TASK_QUEUE).toBe(queuePrefix);
  const row = await database.db.row<{ sealed: string }>('select secret_key_sealed as sealed from projects');
  const call = (method: string, path: string, body?: object) =>
    api.call(unseal(row?.sealed ?? '', api.config.encryptionKeys), method, path, body);
  const { body: erasures } = await call('GET', '/erasures');
  expect(erasures.data).toHaveLength(1);
  const verified = await call('GET', `/erasures/${erasures.data[0].id}/verify`);
  expect(verified).toMatchObject({ status: 200, body: { valid: true, keyOfProject: true } });
  const addresses = await call('POST', '/contacts', { email: 'ada-3@example.com', subscribed: true, data: {} });
  expect(addresses).toMatchObject({ status: 422 });

  const { body: found } = await call('GET', '/contacts?search=ada-1');
  const place = `/contacts/${found.data[0].id}`;
  const historyOf = async () => (await call('GET', `${place}/history`)).body.data as { fields?: unknown }[];
  const before = await historyOf();
  expect(before.length).toBeGreaterThan(1);
  expect((await call('DELETE', `${place}?restorable=true`)).status).toBe(204);
  expect((await call('POST', `${place}/restore`)).status).toBe(200);
  expect((await historyOf()).slice(-before.length)).toEqual(before);
});

test('the functions of the database go back to the earlier release and forward again, and the other release is not ready', async () => {
  await using database = await testDatabase();
  const renamed = await using(database, current);
  expect([renamed > 3, await using(database, databaseNames)]).toEqual([true, 0]);
  expect(await databaseProblem(database.db, false)).toBeNull();

  const triggers = async () =>
    (await database.db.rows<{ name: string }>('select tgname as name from pg_trigger')).map(({ name }) => name);
  const behindWrites = [
    'events_routed',
    'contacts_changed',
    'campaigns_told',
    'provider_holds_told',
    'automation_switched',
  ];

  // This test is connected as well.
  const force = true;
  const back = await returnToEarlierRelease(database.url, { force });
  // That release has functions behind its writes, and conditions of triggers, that send notifications and read settings.
  expect([await using(database, current), await using(database, databaseNames)]).toEqual([0, renamed + 10]);
  expect(await triggers()).toEqual(expect.arrayContaining(behindWrites));
  // Settling a claim leaves to those triggers what it does itself today, which would be done twice.
  const settling = async () =>
    (await database.db.row<{ text: string }>(`select prosrc as text from pg_proc where proname = 'settle_claim'`))
      ?.text;
  const text = await settling();
  expect(text).toMatch(/email\.sent/);
  expect(text).not.toMatch(/mail_count_changes|email\.failed/);
  expect(await databaseProblem(database.db, false)).toMatch(/functions are older .* Run npm run migrate$/);
  expect(await returnToEarlierRelease(database.url, { force })).toEqual([]);

  const { functions } = await migrateDatabase(database.url);
  expect(functions.toSorted()).toEqual(back.filter((name) => !earlierOnly().includes(name)).toSorted());
  expect((await triggers()).filter((name) => behindWrites.includes(name))).toEqual([]);
  expect(await settling()).toBeUndefined();
  expect([await using(database, current), await using(database, databaseNames)]).toEqual([renamed, 0]);
  // Those of the earlier release are forgotten, by which its processes know that they must not serve.
  const { rows } = await database.db.pool.query('select 1 from database_functions');
  expect(rows).toHaveLength(databaseFunctions().length);
  expect(await missingFunctions(database.db, databaseFunctions())).toEqual([]);
});

test('functions are not exchanged under processes of the other release', async () => {
  await using database = await testDatabase();
  const connected = async (application_name: string, work: () => Promise<void>) => {
    const client = new Client({ connectionString: database.url, application_name });
    await client.connect();
    try {
      await work();
    } finally {
      await client.end();
    }
  };
  await connected('fernpost-api', async () => {
    expect((await migrateDatabase(database.url)).functions).toEqual([]);
    await expect(returnToEarlierRelease(database.url)).rejects.toThrow(
      /^fernpost-api(, fernpost-test)? of this release still run: .*--force/,
    );
    expect(await using(database, databaseNames)).toBe(0);
    expect((await returnToEarlierRelease(database.url, { force: true })).length).toBeGreaterThan(3);
  });
  await connected(`${applicationPrefix}worker`, async () => {
    const refused = new RegExp(
      `^${applicationPrefix}worker of the earlier release still run: .* Nothing was changed\\.$`,
    );
    await expect(migrateDatabase(database.url)).rejects.toThrow(refused);
    expect(await using(database, current)).toBe(0);
    expect((await migrateDatabase(database.url, { force: true })).functions.length).toBeGreaterThan(3);
  });
});

test('an installation with executions on the earlier queues keeps them, unless a setting names others', async () => {
  await using database = await testDatabase();
  const queues = async (env: Record<string, string> = {}) =>
    (await withOwnQueues(readConfig(env), database.db)).TEMPORAL_TASK_QUEUE;
  expect(await queues()).toBe('fernpost');
  await database.db.rows('insert into temporal_stores (task_queue, workflow_id, run_id) values ($1, $2, $3)', [
    queuePrefix,
    'housekeeping/reconcile',
    '0199d2a4-0000-7000-8000-000000000001',
  ]);
  expect(await queues()).toBe(queuePrefix);
  expect(await queues({ TEMPORAL_TASK_QUEUE: 'fernpost' })).toBe('fernpost');
  await database.db.rows('drop table temporal_stores');
  expect(await queues()).toBe('fernpost');
});
