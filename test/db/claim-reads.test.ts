import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimQueued } from '../../src/mail/queue/claims.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, queueMany } from '../support/delivery-fixtures.ts';

let store: TestDatabase;
beforeAll(async () => {
  store = await testDatabase();
});
afterAll(() => store.close());

test('a claim reads the mail that it takes and no other, also when it was planned while there was hardly any', async () => {
  const project = await aProject(store.db);
  await store.db.transaction(async (tx) => {
    const claim = (n: number) => claimQueued(tx, project.id, `run/1/${n}`, { messages: 2, rate: 0, provider: 'fake' });
    // Postgres settles on a plan for any values after five executions.
    for (let n = 0; n < 10; n += 1) {
      await queueMany(tx, project, 2);
      await claim(n);
    }
    const scanned = () =>
      tx.rows(
        `select relname, seq_scan from pg_stat_xact_user_tables where relname in ('emails', 'contacts') order by 1`,
      );
    await queueMany(tx, project, 500);
    const before = await scanned();
    expect(await claim(10)).toHaveLength(2);
    expect(await scanned()).toEqual(before);
  });
});
