import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Claim, claimRanges } from '../../src/campaigns/claims.ts';
import { expandPage, loadExpansion } from '../../src/campaigns/expansion.ts';
import { readRecipients, settleClaim } from '../../src/campaigns/ledger.ts';
import { startSend } from '../../src/campaigns/state.ts';
import type { Database, Sql, Statement } from '../../src/db/sql.ts';
import { bucketMade } from '../../src/delivery/throttle.ts';
import { newId } from '../../src/lib/ids.ts';
import { aCampaign, contacts } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject, type TestProject } from '../support/delivery-fixtures.ts';
import { eventually } from '../support/start-fakes.ts';

let db: TestDatabase;
let project: TestProject;
let campaign: string;
const people = 20;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  project = await aProject(db.db);
  await contacts(db.db, project.id, people);
  campaign = await aCampaign(db.db, project);
  await startSend(db.db, campaign, people);
  await bucketMade(db.db, project.id);
});

async function expand(on: Database = db.db): Promise<void> {
  const send = await loadExpansion(db.db, campaign, 1);
  if (send === null) throw new Error('The send is gone');
  expect(await expandPage(on, { freeTier: null }, send, null, { size: 100 })).toMatchObject({ expanded: true });
}

const mailOf = (contact: string) => db.db.rows('select id from emails where contact_id = $1', [contact]);
const someone = async () => {
  const row = await db.db.row<{ id: string }>('select id from contacts where project_id = $1 order by id limit 1', [
    project.id,
  ]);
  return row?.id ?? '';
};

describe('no mail is in the ledger without its recipient', () => {
  test('whoever deletes a contact while its row is being frozen waits, and takes the row along', async () => {
    const contact = await someone();
    const frozen = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow: Database = {
      ...db.db,
      transaction: (work, planning) =>
        db.db.transaction(async (sql) => {
          const result = await work(sql);
          frozen.resolve();
          await goOn.promise;
          return result;
        }, planning),
    };
    const freezing = expand(slow);
    await frozen.promise;
    const deleting = db.db.count('delete from contacts where id = $1', [contact]);
    await eventually(
      async () =>
        (
          await db.db.rows(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).length > 0,
    );
    goOn.resolve();
    await freezing;
    expect(await deleting).toBe(1);
    expect(await mailOf(contact)).toEqual([]);
    const left = await db.db.rows('select id from emails where campaign_id = $1', [campaign]);
    expect(left).toHaveLength(people - 1);
  });

  test('a contact takes its mail of every kind and its events along', async () => {
    await expand();
    const contact = await someone();
    await db.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class)
       select uuidv7(), project_id, id, email, $2, 'TRANSACTIONAL', 'TRANSACTIONAL' from contacts where id = $1`,
      [contact, project.sender],
    );
    await db.db.count(`insert into events (id, project_id, contact_id, name) values (uuidv7(), $1, $2, 'nest.found')`, [
      project.id,
      contact,
    ]);
    expect(await mailOf(contact)).toHaveLength(2);
    await db.db.count('delete from contacts where id = $1', [contact]);
    expect(await mailOf(contact)).toEqual([]);
    expect(await db.db.rows('select id from events where contact_id = $1', [contact])).toEqual([]);
  });

  test('mail to nobody is refused', async () => {
    const write = db.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class)
       values (uuidv7(), $1, $2, 'nobody@birdwatch.test', $3, 'TRANSACTIONAL', 'TRANSACTIONAL')`,
      [project.id, newId(), project.sender],
    );
    await expect(write).rejects.toMatchObject({ code: '23503' });
  });
});

describe('a batch costs the same however many rows there are', () => {
  // What Postgres knows of a table is often old: it is told here that there is nearly nothing, which is when it reads it whole.
  test.each(['claiming', 'reading', 'settling'])('%s finds its rows by indexes', async (step) => {
    await expand();
    await db.db.rows('analyze emails');
    const plans: string[] = [];
    const explained = explaining(plans);
    const key = { projectId: project.id, campaignId: campaign, sendSeq: 1 };
    const limits = { ...key, size: 500, rate: 0, provider: 'postmark', probing: false };
    const claim = { id: 'plan.1', afterContact: newId(), throughContact: newId() } as Claim;
    const place = { ...key, claim, holder: 'plan', provider: 'postmark', stream: null };
    if (step === 'claiming') await claimRanges(explained, limits, ['plan.1'], 'plan').catch(() => undefined);
    else if (step === 'reading') await readRecipients(explained, key, claim);
    else await settleClaim(explained, place, [], { settled: true });
    const plan = plans.find((one) => one.includes(' emails e')) ?? '';
    expect(plan).toContain(`Index Scan using ${step === 'settling' ? 'emails_pkey' : 'emails_campaign'} on emails e`);
    expect(plan).not.toContain('Seq Scan on emails');
    expect(plan).not.toContain('Seq Scan on contacts');
  });
});

/** A database whose statements are explained in place of being run; their plans are put into `plans`. */
function explaining(plans: string[]): Database {
  const explain = async (sql: Sql, statement: Statement | string, values: readonly unknown[] = []) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    const rows = await sql.rows<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  };
  return {
    ...db.db,
    transaction: (work, planning) =>
      db.db.transaction(
        (sql) =>
          work({
            rows: async (statement, values) => {
              await explain(sql, statement, values);
              return [];
            },
            row: async (statement, values) => {
              // What is locked first only has to say that it is there.
              if (typeof statement !== 'string' && statement.name === 'campaigns.lock_send')
                return sql.row(statement, values);
              await explain(sql, statement, values);
              return null;
            },
            count: (statement, values) => sql.count(statement, values),
          }),
        planning,
      ),
  };
}
