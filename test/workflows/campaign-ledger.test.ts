import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expandPage, loadExpansion } from '../../src/campaigns/audience/expansion.ts';
import { claimRanges, type RangeClaim } from '../../src/campaigns/delivery/claims.ts';
import { readRecipients } from '../../src/campaigns/delivery/ledger.ts';
import { openSend } from '../../src/campaigns/state.ts';
import { newId } from '../../src/lib/ids.ts';
import { bucketMade } from '../../src/mail/engine/throttle.ts';
import { acceptMail } from '../../src/mail/ledger/queries.ts';
import { settleMail } from '../../src/mail/ledger/settle.ts';
import { type Database, Query } from '../../src/store/sql.ts';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { aCampaign, campaignRow, contacts } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aMail, aProject, type TestProject } from '../support/delivery-fixtures.ts';

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
  await openSend(db.db, campaign, people, null);
  await bucketMade(db.db, project.id);
});

async function expand(on: Database = db.db): Promise<void> {
  const send = await loadExpansion(db.db, campaign, 1);
  if (send === null) throw new Error('The send is gone');
  expect(await expandPage(on, { freeTier: null, publicDailyEmails: null }, send, null, { size: 100 })).toMatchObject({
    expanded: true,
  });
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
      transaction: (work, settings) =>
        db.db.transaction(async (sql) => {
          const result = await work(sql);
          frozen.resolve();
          await goOn.promise;
          return result;
        }, settings),
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

  test('mail to nobody is not accepted, nor counted', async () => {
    expect(await acceptMail(db.db, [aMail(project, newId(), 'nobody@birdwatch.test')])).toBe(0);
    expect(await db.db.rows('select from emails where project_id = $1', [project.id])).toEqual([]);
    expect(await db.db.rows('select from email_queue where project_id = $1', [project.id])).toEqual([]);
    expect(await db.db.rows('select from mail_count_changes where project_id = $1', [project.id])).toEqual([]);
  });

  test('a contact that is being deleted when mail to it is accepted gets none', async () => {
    const contact = await someone();
    const deleted = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const deleting = db.db.transaction(async (tx) => {
      await tx.count('delete from contacts where id = $1', [contact]);
      deleted.resolve();
      await goOn.promise;
    });
    await deleted.promise;
    const accepting = acceptMail(db.db, [aMail(project, contact, 'late@birdwatch.test')]);
    await eventually(
      async () =>
        (
          await db.db.rows(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).length > 0,
    );
    goOn.resolve();
    await deleting;
    expect(await accepting).toBe(0);
    expect(await mailOf(contact)).toEqual([]);
  });
});

test("frozen rows are counted as mail of this hour, and those to simulators not as a sender's", async () => {
  await db.db.count(`update contacts set email = 'bounce@sandbox.test' where id = $1`, [await someone()]);
  await expand();
  const counts = await db.db.row(
    `select sum(outgoing)::int as outgoing, sum(rated)::int as rated, sum(incoming)::int as incoming, count(distinct hour)::int as hours
     from (select hour, outgoing, rated, incoming from mail_counts where project_id = $1
       union all select hour, outgoing, rated, incoming from mail_count_changes where project_id = $1) counted`,
    [project.id],
  );
  expect(counts).toEqual({ outgoing: people, rated: people - 1, incoming: 0, hours: 1 });
});

test('a recipient who was given up and proves to have the message is settled, reported and counted once', async () => {
  await expand();
  const key = { projectId: project.id, campaignId: campaign, sendSeq: 1 };
  const limits = { ...key, size: 500, rate: 0, provider: 'postmark', probing: false, canary: false, version: 1 };
  const { claims } = await claimRanges(db.db, limits, ['late.1'], 'late');
  const [claim] = claims;
  if (claim === undefined) throw new Error('Nothing was claimed');
  const [first, second] = await readRecipients(db.db, key, claim);
  if (first === undefined || second === undefined) throw new Error('Nobody was claimed');
  const end = { settled: false, delayMs: 0, unconfirmed: true, attempt: false } as const;
  const open = {
    id: claim.id,
    provider: 'postmark',
    stream: 'broadcast',
    send: { ...key, holder: 'late', end },
  } as const;
  const rated = async () =>
    (
      await db.db.row<{ n: number }>('select sum(rated)::int as n from mail_count_changes where project_id = $1', [
        project.id,
      ])
    )?.n;
  const failed = {
    emailId: first.emailId,
    outcome: 'FAILED',
    reason: { code: 'submission_unknown' },
    subject: 'Herons',
  } as const;
  const sent = { outcome: 'SENT', at: new Date().toISOString(), subject: 'Herons' } as const;

  expect(await settleMail(db.db, open, [failed])).toEqual({ sent: 0, skipped: 0, failed: 1 });
  expect(await settleMail(db.db, open, [failed])).toEqual({ sent: 0, skipped: 0, failed: 0 });
  expect(await rated()).toBe(people - 1);
  const both = [
    { ...sent, emailId: first.emailId, messageId: 'm-1' },
    { ...sent, emailId: second.emailId, messageId: 'm-2' },
  ];
  expect(await settleMail(db.db, open, both)).toEqual({ sent: 2, skipped: 0, failed: 0 });
  expect(await settleMail(db.db, open, both)).toEqual({ sent: 0, skipped: 0, failed: 0 });
  expect(await rated()).toBe(people);
  const rows = await db.db.rows('select status, reason from emails where id = any ($1)', [
    [first.emailId, second.emailId],
  ]);
  expect(rows).toEqual([
    { status: 'SENT', reason: null },
    { status: 'SENT', reason: null },
  ]);
  const events = await db.db.rows('select name from events where email_id = $1 order by created_at, name', [
    first.emailId,
  ]);
  expect(events).toEqual([{ name: 'email.failed' }, { name: 'email.sent' }]);
});

test('a claim with verdicts of every kind: rows, contact, events and counters say the same, and once', async () => {
  await expand();
  const key = { projectId: project.id, campaignId: campaign, sendSeq: 1 };
  const limits = { ...key, size: 500, rate: 0, provider: 'postmark', probing: false, canary: false, version: 1 };
  const { claims } = await claimRanges(db.db, limits, ['mixed.1'], 'mixed');
  const [claim] = claims;
  if (claim === undefined) throw new Error('Nothing was claimed');
  const [first, second, gone, refused, left, stopped] = await readRecipients(db.db, key, claim);
  const end = { settled: false, delayMs: 0, unconfirmed: false, attempt: true } as const;
  const place = {
    id: claim.id,
    provider: 'postmark',
    stream: 'broadcast',
    send: { ...key, holder: 'mixed', end },
  } as const;
  const sent = { outcome: 'SENT', subject: 'The herons are back' } as const;
  const settle = () =>
    settleMail(db.db, place, [
      { ...sent, emailId: first?.emailId ?? '', messageId: 'pm-1', at: '2026-03-02T09:15:00.000Z' },
      { ...sent, emailId: second?.emailId ?? '', messageId: 'pm-2', at: '2026-03-02T09:15:01.000Z' },
      {
        outcome: 'BOUNCED',
        emailId: gone?.emailId ?? '',
        reason: { code: 'provider', words: 'Inactive recipient' },
        subject: 'The "herons"',
      },
      {
        outcome: 'FAILED',
        emailId: refused?.emailId ?? '',
        reason: { code: 'provider', words: 'Invalid address' },
        subject: null,
      },
      { outcome: 'FAILED', emailId: left?.emailId ?? '', reason: { code: 'unsubscribed' }, subject: null },
      { outcome: 'FAILED', emailId: stopped?.emailId ?? '', reason: { code: 'campaign_cancelled' }, subject: null },
    ]);
  expect(await settle()).toEqual({ sent: 2, skipped: 2, failed: 2 });
  expect(await settle()).toEqual({ sent: 0, skipped: 0, failed: 0 });
  const rows = await db.db.rows(
    `select contact_id, status, message_id, sent_at::text as sent_at, bounced_at is not null as bounced, mail_reason_text(reason) as error, stream
     from emails where campaign_id = $1 and status <> 'PENDING' order by contact_id`,
    [campaign],
  );
  const row = { message_id: null, sent_at: null, bounced: false, error: null, stream: 'broadcast' };
  expect(rows).toEqual([
    { ...row, contact_id: first?.contactId, status: 'SENT', message_id: 'pm-1', sent_at: '2026-03-02 09:15:00+00' },
    { ...row, contact_id: second?.contactId, status: 'SENT', message_id: 'pm-2', sent_at: '2026-03-02 09:15:01+00' },
    { ...row, contact_id: gone?.contactId, status: 'BOUNCED', bounced: true, error: 'Inactive recipient' },
    { ...row, contact_id: refused?.contactId, status: 'FAILED', error: 'Invalid address' },
    { ...row, contact_id: left?.contactId, status: 'FAILED', error: 'Contact is unsubscribed' },
    { ...row, contact_id: stopped?.contactId, status: 'FAILED', error: 'Campaign cancelled' },
  ]);
  const unsubscribed = await db.db.rows('select id from contacts where project_id = $1 and not subscribed', [
    project.id,
  ]);
  expect(unsubscribed).toEqual([{ id: gone?.contactId }]);
  const events = await db.db.rows<{ name: string; contact_id: string; email_id: string; data: object | null }>(
    'select name, contact_id, email_id, data from events where project_id = $1 order by name, contact_id',
    [project.id],
  );
  const of = (recipient: typeof gone, name: string, data: unknown) => ({
    name,
    contact_id: recipient?.contactId,
    email_id: recipient?.emailId,
    data,
  });
  expect(events).toEqual([
    of(gone, 'contact.unsubscribed', { reason: 'bounce' }),
    of(gone, 'email.bounce', expect.objectContaining({ subject: 'The "herons"', bounceType: 'Permanent' })),
    of(refused, 'email.failed', expect.objectContaining({ error: 'Invalid address', campaignId: campaign })),
    of(first, 'email.sent', null),
    of(second, 'email.sent', null),
  ]);
  expect(await campaignRow(db.db, campaign)).toMatchObject({ sent: 2, failed: 2 });
});

describe('a batch costs the same however many rows there are', () => {
  // What Postgres knows of a table is often old: it is told here that there is nearly nothing, which is when it reads it whole.
  test.each(['claiming', 'reading'])('%s finds its rows by indexes', async (step) => {
    await expand();
    await db.db.rows('analyze emails');
    const plans: string[] = [];
    const explained = explaining(plans);
    const key = { projectId: project.id, campaignId: campaign, sendSeq: 1 };
    const limits = { ...key, size: 500, rate: 0, provider: 'postmark', probing: false, canary: false, version: 1 };
    const claim = { id: 'plan.1', afterContact: newId(), throughContact: newId(), contacts: null } as RangeClaim;
    if (step === 'claiming') await claimRanges(explained, limits, ['plan.1'], 'plan').catch(() => undefined);
    else await readRecipients(explained, key, claim);
    const plan = plans.find((one) => one.includes(' emails e')) ?? '';
    expect(plan).toContain('Index Scan using emails_campaign on emails e');
    expect(plan).not.toContain('Seq Scan on emails');
    expect(plan).not.toContain('Seq Scan on contacts');
  });
});

// Its plan cannot be asked for: what it may be made of is said by the settings of the function.
test('settling reads no table and no campaign from end to end', async () => {
  const [settle] = await db.db.rows<{ settings: string[] }>(
    `select proconfig as settings from pg_proc where proname = 'settle_mail'`,
  );
  const ways = ['seqscan', 'bitmapscan', 'nestloop'].map((way) => `enable_${way}=off`);
  expect(settle?.settings).toEqual(expect.arrayContaining(['plan_cache_mode=force_generic_plan', ...ways]));
});

/** A database whose statements are explained in place of being run; their plans are put into `plans`. */
function explaining(plans: string[]): Database {
  const explain = async (sql: Database, statement: Query | string, values: readonly unknown[] = []) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    const rows = await sql.rows<{ 'QUERY PLAN': string }>(
      `explain (costs off) ${text}`,
      statement instanceof Query ? statement.values : values,
    );
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  };
  return {
    ...db.db,
    transaction: (work, settings) =>
      db.db.transaction(
        (sql) =>
          work({
            ...sql,
            rows: async (statement, values) => {
              await explain(sql, statement, values);
              return [];
            },
            row: async (statement, values) => {
              // What is locked first only has to say that it is there.
              if (typeof statement !== 'string' && /from campaign_sends .* for update$/.test(statement.text))
                return sql.row(statement, values);
              await explain(sql, statement, values);
              return null;
            },
            count: (statement, values) => sql.count(statement, values),
          }),
        settings,
      ),
  };
}
