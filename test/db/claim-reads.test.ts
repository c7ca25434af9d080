import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ContactRow, writeContacts } from '../../src/contacts/write.ts';
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

test('a write of contacts reads those that it names and no other, also when it was planned while there were hardly any', async () => {
  const project = await aProject(store.db);
  await store.db.transaction(async (tx) => {
    const write = (rows: readonly ContactRow[]) =>
      writeContacts(tx, project.id, rows, { cause: '{"type": "api"}', subscribedWhenNew: true });
    const read = async () => {
      const found = await tx.row<{ rows: number }>(
        `select (seq_tup_read + idx_tup_fetch)::integer as rows from pg_stat_xact_user_tables where relname = 'contacts'`,
      );
      return found?.rows ?? Number.NaN;
    };
    const some = (n: number, set: object) =>
      Array.from({ length: 25 }, (_, place) => ({ email: `w${n}.${place}@example.com`, set: { ...set } }));
    const before = await read();
    for (let n = 0; n < 60; n += 1) await write(some(n, {}));
    for (let n = 0; n < 60; n += 1) await write(some(n, { city: 'Husum' }));
    // Of 3,000 rows that were given each is looked for, locked, compared and written: some five looks, and none at its neighbors.
    expect((await read()) - before).toBeLessThan(8 * 3_000);
  });
});
