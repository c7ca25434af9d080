import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { advance } from '../../src/automations/runtime/advance.ts';
import { followQuietHours } from '../../src/campaigns/delivery/held.ts';
import { moveQueued } from '../../src/mail/emails/queries.ts';
import { spreadMs } from '../../src/mail/emails/schedule.ts';
import { bucketMade } from '../../src/mail/engine/throttle.ts';
import { claimQueued } from '../../src/mail/queue/claims.ts';
import { deliverPending } from '../../src/mail/queue/deliver.ts';
import { entities } from '../../src/main/setup/database-settings.ts';
import type { QuietHours } from '../../src/projects/schema.ts';
import { openStore } from '../../src/store/orm.ts';
import type { Database } from '../../src/store/sql.ts';
import { advanceDeps, anAutomation, anEvent, aTemplate, letIn } from '../support/automation-fixtures.ts';
import { aCampaign, contacts, started } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, deliveryDeps, queueMany, type TestProject } from '../support/delivery-fixtures.ts';
import { inFull, isFull } from '../support/long.ts';
import { FakeMailer } from '../support/mailer.ts';
import { around } from '../support/quiet-hours.ts';

let database: TestDatabase;
let project: TestProject;
let mailer: FakeMailer;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  project = await aProject(database.db);
  mailer = new FakeMailer({ name: 'quiet' });
});

const hourMs = 3_600_000;
const crowd = inFull(100_000, 3_000);
const set = (hours: QuietHours | null, zone: string | null = null) =>
  database.db.count('update projects set quiet_hours = $2, time_zone = $3 where id = $1', [
    project.id,
    hours && JSON.stringify(hours),
    zone,
  ]);

async function sendTo(
  emails: Record<string, string | null>,
  type: 'MARKETING' | 'TRANSACTIONAL' = 'MARKETING',
  exits: object[] = [],
) {
  const template = await aTemplate(database.db, project, { type });
  const automation = await anAutomation(database.db, project.id, {
    exits,
    steps: { mail: ['SEND_EMAIL', { templateId: template }], rest: ['DELAY', { amount: 3, unit: 'days' }] },
  } as never);
  const deps = advanceDeps(database.db);
  let goOn: () => Promise<unknown> = async () => undefined;
  for (const [email, timezone] of Object.entries(emails)) {
    const contact = await aContact(database.db, project.id, email);
    if (timezone !== null)
      await database.db.count(`update contacts set data = jsonb_build_object('timezone', $2::text) where id = $1`, [
        contact,
        timezone,
      ]);
    for (const run of await letIn(database.db, automation, [contact], null)) {
      const { seq } = await advance(deps, run.id, 0);
      goOn = () => advance(deps, run.id, seq);
    }
  }
  return goOn;
}
const dueNow = () => database.db.count('update email_queue set due_at = now() where project_id = $1', [project.id]);
const mails = () =>
  database.db.rows<{
    to: string;
    status: string;
    due: number | null;
    held: number | null;
    output: number | null;
    by: string | null;
  }>(
    `select e.to_address as "to", e.status, (1000 * extract(epoch from q.due_at))::float8 as due, (1000 * extract(epoch from e.held_until))::float8 as held,
       (1000 * extract(epoch from (x.output ->> 'heldUntil')::timestamptz))::float8 as output, x.output ->> 'heldBy' as by
     from emails e left join email_queue q on q.email_id = e.id left join automation_step_runs x on x.id = e.workflow_step_execution_id
     where e.project_id = $1 order by e.to_address`,
    [project.id],
  );
async function deliver(of = project): Promise<string[]> {
  const run = { projectId: of.id, prefix: `${of.id}${Math.random()}/`, attempt: 1, stop: new AbortController().signal };
  await deliverPending(deliveryDeps(database.db, mailer), run, { claims: 2, lingerMs: 0, longestMs: 600_000 });
  return mailer.sent.map(({ to }) => to.address).sort();
}

describe('email of workflows in quiet hours', () => {
  test('waits until after their end in the zone of the contact, and is then sent once; others leave at once', async () => {
    const { hours, end } = around();
    await set(hours, 'Pacific/Kiritimati');
    await sendTo({ 'utc@example.com': 'UTC', 'tokyo@example.com': 'Asia/Tokyo', 'project@example.com': null });
    const held = (await mails()).find(({ to }) => to === 'utc@example.com');
    expect(held).toMatchObject({ status: 'PENDING', by: 'quietHours' });
    expect([held?.held, held?.output]).toEqual([held?.due, held?.due]);
    expect(held?.due).toBeGreaterThanOrEqual(end);
    expect(held?.due).toBeLessThan(end + spreadMs);
    expect(await deliver()).toEqual(['project@example.com', 'tokyo@example.com']);
    await dueNow();
    await set(null);
    expect(await deliver()).toEqual(['project@example.com', 'tokyo@example.com', 'utc@example.com']);
    expect(await deliver()).toHaveLength(3);
  });

  test('waits too where it was queued before them and an outage kept it, unless a person releases it', async () => {
    const { hours, end } = around();
    await sendTo({ 'utc@example.com': 'UTC', 'tokyo@example.com': 'Asia/Tokyo' });
    await set(hours);
    expect(await deliver()).toEqual(['tokyo@example.com']);
    const [, held] = await mails();
    expect(held).toMatchObject({ to: 'utc@example.com', status: 'PENDING' });
    expect(held?.due).toBeGreaterThanOrEqual(end);
    expect(held?.due).toBeLessThan(end + spreadMs);
    expect([held?.held, held?.by]).toEqual([held?.due, null]);
    expect(
      await database.db.row('select attempts, claim_id from email_queue where project_id = $1', [project.id]),
    ).toEqual({
      attempts: 0,
      claim_id: null,
    });
    const mail = await database.db.row<{ id: string }>('select email_id as id from email_queue where project_id = $1', [
      project.id,
    ]);
    expect(await moveQueued(database.db, project.id, mail?.id ?? '', null)).toBe(true);
    expect(await deliver()).toEqual(['tokyo@example.com', 'utc@example.com']);
  });

  test('leaves at once when it is transactional, and when there are none', async () => {
    await set(around().hours);
    await sendTo({ 'receipt@example.com': 'UTC' }, 'TRANSACTIONAL');
    await set(null);
    await sendTo({ 'any@example.com': 'UTC' });
    expect((await mails()).map(({ held, by }) => [held, by])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect(await deliver()).toEqual(['any@example.com', 'receipt@example.com']);
  });

  test('is canceled by an exit while it waits', async () => {
    await set(around().hours);
    const goOn = await sendTo({ 'anna@example.com': 'UTC' }, 'MARKETING', [
      { id: 'bought', on: { event: 'order.paid' }, reason: 'bought' },
    ]);
    const contact = await database.db.row<{ id: string }>('select id from contacts where project_id = $1', [
      project.id,
    ]);
    await anEvent(database.db, project.id, contact?.id ?? '', 'order.paid', {});
    expect(await goOn()).toMatchObject({ status: 'EXITED' });
    expect(await mails()).toMatchObject([{ status: 'CANCELLED', due: null }]);
    expect(await deliver()).toEqual([]);
  });

  test('stops neither email of its own project that is due, nor that of another', async () => {
    await set(around().hours);
    await sendTo(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`night-${n}@example.com`, 'UTC'])));
    await set(null);
    await sendTo({ 'soon@example.com': 'UTC' });
    expect(await deliver()).toEqual(['soon@example.com']);
    const other = project;
    project = await aProject(database.db);
    await sendTo({ 'other@example.com': 'UTC' });
    expect(await deliver()).toEqual(['other@example.com', 'soon@example.com']);
    expect(await database.db.count('select from email_queue where project_id = $1', [other.id])).toBe(60);
  });

  test('says until when it is held again after a refusal, and is no older for what it waits', async () => {
    await sendTo({ 'utc@example.com': 'UTC' });
    Object.assign(mailer.options, { outages: 100, outage: 401 });
    expect(await deliver()).toEqual([]);
    mailer.options.outages = 0;
    await database.db.count('delete from provider_holds where provider = $1', [mailer.name]);
    await database.db.count(
      `with q as (update email_queue set created_at = created_at - interval '20 hours', due_at = now() where project_id = $1 returning 1)
       update emails set created_at = created_at - interval '20 hours' where project_id = $1 and exists (select from q)`,
      [project.id],
    );
    const { hours, end } = around();
    await set(hours);
    expect(await deliver()).toEqual([]);
    const [held] = await mails();
    expect(held?.held).toBe(held?.due);
    expect(held?.due).toBeGreaterThanOrEqual(end);
    const row = await database.db.row<{ attempts: number; hours: number }>(
      `select attempts, (extract(epoch from due_at - created_at) / 3600)::float8 as hours from email_queue where project_id = $1`,
      [project.id],
    );
    expect(row?.attempts).toBeGreaterThan(0);
    expect(row?.hours).toBeGreaterThan(19.9);
    expect(row?.hours).toBeLessThan(20.1);
    await set(null);
    await dueNow();
    expect(await deliver()).toEqual(['utc@example.com']);
  });

  test('takes one from the rate limit once it leaves, and nothing where it is held', async () => {
    await sendTo({ 'utc@example.com': 'UTC', 'utc-2@example.com': 'UTC', 'tokyo@example.com': 'Asia/Tokyo' });
    await set(around().hours);
    // Tokens that come back by time alone would be counted too.
    await database.db.count(`create function still() returns trigger language plpgsql as
      $$ begin new.refilled_at := '2100-01-01'; return new; end $$`);
    await database.db.count('create trigger still before update on send_buckets for each row execute function still()');
    await bucketMade(database.db, project.id);
    await database.db.count('update projects set send_rate = 100 where id = $1', [project.id]);
    await database.db.count('update send_buckets set tokens = 100 where id = $1', [project.id]);
    const tokens = async () =>
      (await database.db.row<{ tokens: number }>('select tokens from send_buckets where id = $1', [project.id]))
        ?.tokens;
    expect(await deliver()).toEqual(['tokyo@example.com']);
    expect(await tokens()).toBe(99);
    await set(null);
    await dueNow();
    expect(await deliver()).toHaveLength(3);
    expect(await tokens()).toBe(97);
    await database.db.count('drop trigger still on send_buckets');
  });
});

describe('email of workflows that waits when quiet hours change', () => {
  const changed = async (hours: QuietHours | null, zone: string | null = null) => {
    await set(hours, zone);
    await database.db.count('update projects set quiet_changed_at = clock_timestamp() where id = $1', [project.id]);
    const outbox = { dispatchSoon: () => undefined };
    return followQuietHours({ db: database.db, outbox, stop: new AbortController().signal });
  };

  test('is followed for every project, whatever fails for one of them', async () => {
    const other = await aProject(database.db);
    const ids = [project.id, other.id];
    await database.db.count('update projects set quiet_changed_at = clock_timestamp() where id = any($1)', [ids]);
    const outbox = {
      dispatchSoon: () => {
        throw new Error('out of reach');
      },
    };
    const following = followQuietHours({ db: database.db, outbox, stop: new AbortController().signal });
    await expect(following).rejects.toThrow('out of reach');
    const open = 'select id from projects where id = any($1) and quiet_changed_at is not null';
    expect(await database.db.rows(open, [ids])).toEqual([]);
  });

  test('is followed by one worker at a time', async () => {
    await set(around().hours);
    await sendTo({ 'anna@example.com': 'UTC' });
    await database.db.count('update projects set quiet_hours = null, quiet_changed_at = now() where id = $1', [
      project.id,
    ]);
    // A worker that waited would give up.
    const limits = { connectionMs: 60_000, statementMs: null, lockMs: 1_000, idleInTransactionMs: null };
    const settings = { url: database.url, poolSize: 2, applicationName: 'fernpost-test', limits };
    await using worker = await openStore(settings, entities);
    const outbox = { dispatchSoon: () => undefined };
    const follow = () => followQuietHours({ db: worker.db, outbox, stop: new AbortController().signal });
    await database.db.transaction(async (another) => {
      await another.count('select from projects where id = $1 for no key update', [project.id]);
      expect(await follow()).toBe(0);
    });
    expect(await follow()).toBe(1);
  });

  test('leaves within ten minutes where they are switched off', async () => {
    await set(around().hours);
    await sendTo({ 'anna@example.com': 'UTC', 'bo@example.com': 'UTC' });
    expect(await changed(null)).toBe(1);
    for (const { due, held, output } of await mails()) {
      expect(held).toBe(due);
      expect(due).toBeLessThan(Date.now() + spreadMs);
      // What the step has done stays as it was.
      expect(output).toBeGreaterThan(Date.now() + hourMs / 2);
    }
    await dueNow();
    expect(await deliver()).toEqual(['anna@example.com', 'bo@example.com']);
  });

  test('waits until the new end where they are shorter or longer, or the zone of the project is another', async () => {
    await set(around().hours);
    await sendTo({ 'anna@example.com': 'UTC', 'none@example.com': null });
    for (const lastMs of [hourMs / 2, 3 * hourMs]) {
      const { hours, end } = around(lastMs);
      await changed(hours);
      for (const { due, held } of await mails()) {
        expect(held).toBe(due);
        expect(due).toBeGreaterThanOrEqual(end);
        expect(due).toBeLessThan(end + spreadMs);
      }
    }
    const { hours, end } = around(3 * hourMs);
    await changed(hours, 'Asia/Tokyo');
    const [anna, none] = await mails();
    expect(anna?.due).toBeGreaterThanOrEqual(end);
    expect(none?.due).toBeLessThan(Date.now() + spreadMs);
    // Where nobody has moved it yet, it is held when its turn comes.
    await dueNow();
    expect(await deliver()).toEqual(['none@example.com']);
    expect((await mails())[0]).toMatchObject({ status: 'PENDING', due: anna?.due, held: anna?.due });
  });

  test('waits for its next attempt where the provider has refused it since', async () => {
    await set(around().hours);
    await sendTo({ 'anna@example.com': 'UTC' });
    const [held] = await mails();
    const later = Date.now() + 2 * hourMs;
    await database.db.count(
      'update email_queue set attempts = 1, due_at = to_timestamp($2 / 1000.0) where project_id = $1',
      [project.id, later],
    );
    expect(await changed(null)).toBe(1);
    expect(await mails()).toMatchObject([{ due: later, held: held?.held }]);
  });

  test('stays at the time that a person gave it, as other scheduled email does', async () => {
    await set(around().hours);
    await sendTo({ 'anna@example.com': 'UTC' });
    const mail = await database.db.row<{ id: string }>('select id from emails where project_id = $1', [project.id]);
    const at = new Date(Date.now() + 5 * hourMs);
    await moveQueued(database.db, project.id, mail?.id ?? '', at);
    expect(await changed(null)).toBe(1);
    expect(await mails()).toMatchObject([{ due: at.getTime(), held: null }]);
    await changed(around(6 * hourMs).hours);
    await dueNow();
    expect(await deliver()).toEqual(['anna@example.com']);
  });

  test(`a crowd of ${crowd.toLocaleString('en-US')}, of a workflow and of a campaign, is spread evenly, page by page, and holds up no other email`, {
    timeout: 600_000,
  }, async () => {
    const { db } = database;
    await contacts(db, project.id, crowd);
    const campaign = await aCampaign(db, project);
    await started(db, project.id, campaign, crowd);
    const tomorrow = `date_trunc('milliseconds', now()) + interval '1 day'`;
    for (const isCampaign of [true, false])
      await db.count(
        `insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, campaign_id, send_seq, held_until, workflow_step_execution_id)
         select uuidv7(), $1, id, email, $2, 'Night', '', $3, 'MARKETING', $4, $5, ${tomorrow}, case when $4::uuid is null then uuidv7() end from contacts where project_id = $1`,
        [
          project.id,
          project.sender,
          isCampaign ? 'CAMPAIGN' : 'WORKFLOW',
          ...(isCampaign ? [campaign, 1] : [null, null]),
        ],
      );
    await db.count(
      'insert into campaign_held_contacts select campaign_id, send_seq, contact_id, held_until from emails where campaign_id = $1',
      [campaign],
    );
    await db.count(
      `insert into email_queue (email_id, project_id, due_at, created_at)
       select id, project_id, held_until, held_until from emails where project_id = $1 and source_type = 'WORKFLOW'`,
      [project.id],
    );
    const pages: number[] = [];
    const timed: Database = {
      ...db,
      session: () => db.session(),
      async transaction(work, settings) {
        const begins = performance.now();
        const made = await db.transaction(work, settings);
        pages.push(performance.now() - begins);
        return made;
      },
    };
    await db.count('update projects set quiet_hours = null, quiet_changed_at = now() where id = $1', [project.id]);
    const begins = performance.now();
    await followQuietHours({
      db: timed,
      outbox: { dispatchSoon: () => undefined },
      stop: new AbortController().signal,
    });
    const tookMs = performance.now() - begins;
    if (isFull)
      console.log(
        `${2 * crowd} held: ${Math.round(tookMs)} ms in ${pages.length} transactions, the longest ${Math.round(Math.max(...pages))} ms`,
      );
    expect(pages.length).toBeGreaterThanOrEqual((2 * crowd) / 1000);
    for (const table of ['email_queue where project_id', 'campaign_held_contacts where campaign_id']) {
      const minutes = await db.rows<{ mails: number }>(
        `select count(*)::int as mails from ${table} = $1
         group by floor(extract(epoch from due_at - (select min(due_at) from ${table} = $1)) / 60) order by min(due_at) limit 10`,
        [table.startsWith('email') ? project.id : campaign],
      );
      expect(minutes).toHaveLength(10);
      // Pages take a moment: who comes in the last is later by that.
      for (const { mails: count } of minutes) expect(count / crowd, JSON.stringify(minutes)).toBeCloseTo(0.1, 1);
    }
    const receipts = await queueMany(db, project, 20);
    const night = await db.count(
      "select from email_queue where project_id = $1 and due_at <= now() + interval '1 second'",
      [project.id],
    );
    expect(night).toBeLessThan(crowd / 10);
    const other = await aProject(db);
    const others = await queueMany(db, other, 20);
    await deliver(other);
    expect(mailer.recipients.toSorted()).toEqual(others.toSorted());
    const claimed = await claimQueued(db, project.id, 'crowd/1', { messages: 50_000, rate: 0, provider: mailer.name });
    expect(claimed.map(({ toAddress }) => toAddress)).toEqual(expect.arrayContaining(receipts));
  });
});
