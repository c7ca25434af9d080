import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimRanges } from '../../src/campaigns/delivery/claims.ts';
import { type ContactRow, writeContacts } from '../../src/contacts/write.ts';
import { bucketMade } from '../../src/mail/engine/throttle.ts';
import { anyDue, claimQueued } from '../../src/mail/queue/claims.ts';
import { byIndexes, type Database } from '../../src/store/sql.ts';
import { aCampaign, contacts, started } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, queueMany } from '../support/delivery-fixtures.ts';
import { inFull } from '../support/long.ts';

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

test('claims read what is due, however many contacts wait for the end of quiet hours', async () => {
  const project = await aProject(store.db);
  const crowd = inFull(100_000, 5_000);
  await contacts(store.db, project.id, crowd);
  const campaign = await aCampaign(store.db, project);
  await started(store.db, project.id, campaign, crowd);
  await bucketMade(store.db, project.id);
  const tomorrow = `now() + interval '1 day'`;
  const source = ['CAMPAIGN', 'WORKFLOW'] as const;
  for (const kind of source)
    await store.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, held_until)
       select uuidv7(), $1, id, email, $2, $3, 'MARKETING', $4, $5, ${tomorrow} from contacts where project_id = $1`,
      [project.id, project.sender, kind, kind === 'CAMPAIGN' ? campaign : null, kind === 'CAMPAIGN' ? 1 : null],
    );
  await store.db.count(
    `insert into campaign_held_contacts select campaign_id, send_seq, contact_id, ${tomorrow} from emails where campaign_id = $1`,
    [campaign],
  );
  await store.db.count(
    `insert into email_queue (email_id, project_id, due_at, created_at)
     select id, project_id, ${tomorrow}, ${tomorrow} from emails where project_id = $1 and source_type = 'WORKFLOW'`,
    [project.id],
  );
  await store.db.count('update campaign_sends set expanded = true, claimed_through = $2 where campaign_id = $1', [
    campaign,
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ]);
  await store.db.count(
    `update campaign_held_contacts set due_at = now() where campaign_id = $1 and contact_id in (
       select id from contacts where project_id = $2 limit 3)`,
    [campaign, project.id],
  );
  await queueMany(store.db, project, 3);
  // A difference: what the connection did just before may still be among the figures of its transaction.
  const reads = async (tx: Database, table: string, work: () => Promise<void>) => {
    const soFar = async () => {
      const row = await tx.row<{ scans: number; rows: number }>(
        `select seq_scan::int as scans, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
         from pg_stat_xact_user_tables where relname = $1`,
        [table],
      );
      return row ?? { scans: Number.NaN, rows: Number.NaN };
    };
    const before = await soFar();
    await work();
    const after = await soFar();
    return { scans: after.scans - before.scans, rows: after.rows - before.rows };
  };
  const few = { scans: 0, rows: expect.toSatisfy((rows: number) => rows < 50) };
  const limits = { projectId: project.id, campaignId: campaign, sendSeq: 1, size: 500, rate: 0 };
  const claim = { ...limits, provider: 'fake', probing: false, canary: false, version: 1 };
  await store.db.transaction(async (tx) => {
    const read = await reads(tx, 'campaign_held_contacts', async () => {
      const { claims } = await claimRanges(tx, claim, ['held/1', 'held/2'], 'held');
      expect(claims.map((one) => one.contacts?.length)).toEqual([3]);
    });
    expect(read).toEqual(few);
  }, byIndexes);
  await store.db.transaction(async (tx) => {
    const read = await reads(tx, 'email_queue', async () => {
      expect(await claimQueued(tx, project.id, 'due/1', { messages: 500, rate: 0, provider: 'fake' })).toHaveLength(3);
      expect(await anyDue(tx, project.id)).toBe(false);
    });
    expect(read).toEqual(few);
  });
  const plan = await store.db.rows<{ 'QUERY PLAN': string }>(
    `explain select email_id from email_queue where project_id = $1 and claim_id is null and due_at <= clock_timestamp()
     order by due_at, email_id limit 500`,
    [project.id],
  );
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Index (Only )?Scan using email_queue_due/);
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
