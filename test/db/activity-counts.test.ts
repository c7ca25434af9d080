import { afterAll, beforeAll, expect, test } from 'vitest';
import { countingRuns } from '../../src/automations/rows.ts';
import { cancelByOperator, retryExecutions } from '../../src/automations/runs/actions.ts';
import { cancelRuns } from '../../src/automations/runs/queries.ts';
import { advance } from '../../src/automations/runtime/advance.ts';
import { ensureVersion } from '../../src/automations/versions.ts';
import { countNewEvents } from '../../src/contacts/events/counting-queries.ts';
import { trashContacts } from '../../src/contacts/trash-queries.ts';
import type { MailEffect } from '../../src/domains/providers/mailer.ts';
import { applyNotification } from '../../src/feedback/reports/notify.ts';
import { totalOf, totalOfContact } from '../../src/insight/activity/total-queries.ts';
import { activityTypes, sources } from '../../src/insight/activity/types.ts';
import { newId } from '../../src/lib/ids.ts';
import { dayMs, hourMs, type Span, sqlSpan } from '../../src/lib/time.ts';
import { foldMailChanges, type MailCounts, mailByDay, mailCounts } from '../../src/mail/ledger/mail-count-queries.ts';
import { advanceDeps, anAutomation, letIn } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aContact, aProject, queueMail, type TestProject } from '../support/delivery-fixtures.ts';
import { liveThrough, seeded } from '../support/mail-history.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const now = Date.now();
const at = (hours: number, ms = 0) => new Date(Math.floor(now / hourMs) * hourMs + hours * hourMs + ms).toISOString();
const instants = [at(-80), at(-80, 1), at(-30, 59_999), at(-30), at(-2, 3_599_999), at(-1), at(0), at(0, 5)];
const created = [...instants.map((text) => new Date(text)), new Date(now - 50 * hourMs), new Date(now - 49 * hourMs)];
const fold = (then = async () => {}) => foldMailChanges(database.db, then);

async function countEvents() {
  await expect
    .poll(async () => {
      await countNewEvents(database.db);
      return (
        await database.db.row<{ done: boolean }>(
          `select counted_through > now() - interval '20 seconds' as done from event_counts_state`,
        )
      )?.done;
    })
    .toBe(true);
}

/** Moves the events of a project into the past, so that they can be counted apart from what follows. */
async function longAgo(project: TestProject, hours: number) {
  await database.db.count(`update events set created_at = created_at - $2 * interval '1 hour' where project_id = $1`, [
    project.id,
    hours,
  ]);
}

function spans(random: ReturnType<typeof seeded>): Span[] {
  const ends = [
    ...instants.map((text) => new Date(text)),
    new Date(now - 90 * hourMs),
    new Date(now),
    new Date(now + hourMs),
  ];
  const some = Array.from({ length: 12 }, (): Span => {
    const [one, other] = [random.one(ends), random.one(ends)];
    return one < other ? { from: one, until: other } : { from: other, until: one };
  });
  return [
    { from: null, until: null },
    { from: random.one(ends), until: null },
    { from: null, until: random.one(ends) },
    ...some,
  ];
}

async function scanned(project: TestProject, { from, until }: ReturnType<typeof sqlSpan>): Promise<MailCounts> {
  const out = `source_type <> 'INBOUND' and status not in ('SUPPRESSED', 'CANCELLED')`;
  const rated = `${out} and status <> 'FAILED' and not simulated`;
  const count = (name: string, condition: string) => `(count(*) filter (where ${condition}))::float8 as "${name}"`;
  return (await database.db.row<MailCounts>(
    `select ${[
      count('outgoing', out),
      count('incoming', `source_type = 'INBOUND'`),
      count('delivered', `${out} and delivered_at is not null`),
      count('opened', `${out} and opened_at is not null`),
      count('clicked', `${out} and clicked_at is not null`),
      count('bounced', `${out} and bounced_at is not null`),
      count('rated', rated),
      count('ratedBounced', `${rated} and bounced_at is not null`),
      count('ratedComplained', `${rated} and complained_at is not null`),
      ...Object.entries({ runsStarted: 'started_at', runsCompleted: 'completed_at' }).map(
        ([name, column]) => `(select count(*)::float8 from automation_runs
          where project_id = $1 and ${column} >= $2::timestamptz and ${column} < $3::timestamptz) as "${name}"`,
      ),
    ].join(', ')} from emails where project_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz`,
    [project.id, from, until],
  )) as MailCounts;
}

async function expectCountsToHold(project: TestProject, random: ReturnType<typeof seeded>) {
  for (const span of spans(random).map((one) => sqlSpan(one, hourMs))) {
    expect(await mailCounts(database.db, project.id, span), JSON.stringify(span)).toEqual(await scanned(project, span));
    const columns = [
      'created_at',
      'sent_at',
      'delivered_at',
      'delivered_at',
      'opened_at',
      'clicked_at',
      'bounced_at',
      'complained_at',
    ];
    for (const [place, { event, type, rows: table, at: runAt }] of sources.entries()) {
      if (type === 'campaign.sent') continue;
      const isInbound = type === 'email.received';
      const isFailure = type === 'email.failed';
      const isSuppressed = table === 'suppressed';
      const column = isSuppressed ? 'created_at' : (runAt ?? (isFailure ? 'mail_at' : columns[place]));
      const rows =
        table === 'runs'
          ? 'automation_runs'
          : isSuppressed
            ? 'emails where suppression is not null'
            : event === null
              ? 'events'
              : isFailure
                ? `events where name = '${event}'`
                : `emails where source_type ${isInbound ? '=' : '<>'} 'INBOUND'`;
      const scan = await database.db.row<{ items: number }>(
        `select count(*)::float8 as items from (select * from ${rows}) e
         where project_id = $1 and ${column} >= $2::timestamptz and ${column} < $3::timestamptz`,
        [project.id, span.from, span.until],
      );
      expect(await totalOf(database.db, project.id, span, new Set([type])), `${type} ${JSON.stringify(span)}`).toBe(
        scan?.items,
      );
    }
  }
  const days = await mailByDay(database.db, project.id, new Date(now - 100 * hourMs), new Date(now + 48 * hourMs));
  const byDay = await database.db.rows<{ day: string; emails: number; opens: number }>(
    `select (created_at at time zone 'UTC')::date::text as day, count(*)::float8 as emails, count(opened_at)::float8 as opens
     from emails where project_id = $1 and status not in ('SUPPRESSED', 'CANCELLED') group by 1`,
    [project.id],
  );
  const known = (rows: { day: string; emails: number; opens: number }[]) =>
    rows.filter(({ emails }) => emails > 0).sort((one, other) => one.day.localeCompare(other.day));
  expect(known(days.map(({ day, outgoing, opened }) => ({ day, emails: outgoing, opens: opened })))).toEqual(
    known(byDay),
  );
}

/** Lets contacts begin, end and leave an automation at random instants. */
async function runThrough(project: TestProject, random: ReturnType<typeof seeded>) {
  const { db } = database;
  const { id } = await anAutomation(db, project.id, { steps: { end: ['EXIT'] } });
  const versionId = await ensureVersion(db, id);
  await db.count(
    `with made as (
       insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, started_at)
       select uuidv7(), $1, $2, $3, c.id, 1, ($4::timestamptz[])[1 + (row_number() over (order by c.id))::int % $5::int]
       from contacts c where c.project_id = $1
       returning project_id, started_at)
     ${countingRuns('made', 'started').text}`,
    [project.id, id, versionId, instants, instants.length],
  );
  for (const [status, share] of [
    ['COMPLETED', 2],
    ['FAILED', 3],
  ] as const)
    await db.count(
      `with ended as (
         update automation_runs set status = $3, completed_at = $4::timestamptz
         where automation_id = $1 and get_byte(uuid_send(contact_id), 15) % $2::int = 0 and completed_at is null
         returning project_id, completed_at)
       ${countingRuns('ended', 'ended').text}`,
      [id, share, status, random.one(instants)],
    );
  await db.count(
    'delete from automation_runs where automation_id = $1 and get_byte(uuid_send(contact_id), 15) % 5 = 0',
    [id],
  );
}

test.each([1, 2, 3, 4])(
  'counts equal a plain scan after sends, reports in any order and deletions, folded or not (%i)',
  async (seed) => {
    const random = seeded(seed);
    const { db } = database;
    const [project, other] = [await aProject(db), await aProject(db)];
    await db.count('delete from event_counts');
    await db.count('delete from activity_counts');
    await db.count(`update event_counts_state set counted_through = '-infinity'`);

    await liveThrough(database, project, random, { steps: 120, instants, created });
    await liveThrough(database, other, random, { steps: 20, instants });
    await expectCountsToHold(project, random);
    await longAgo(project, 26);
    await longAgo(other, 26);
    await fold();
    await countEvents();
    await runThrough(project, random);
    await expectCountsToHold(project, random);

    // Nothing happened meanwhile, so that counting may go on from an hour ago.
    await db.count(`update event_counts_state set counted_through = counted_through - interval '1 hour'`);
    await liveThrough(database, project, random, { steps: 120, instants, created });
    await expectCountsToHold(project, random);
    await countEvents();
    await fold();
    await runThrough(project, random);
    await expectCountsToHold(project, random);
    await liveThrough(database, project, random, { steps: 60, instants, created });
    await expectCountsToHold(project, random);
    expect(await db.row('select 1 from activity_counts where project_id = $1 limit 1', [other.id])).not.toBeNull();
  },
);

test('the total of a contact counts its own items only', async () => {
  const random = seeded(7);
  const project = await aProject(database.db);
  await liveThrough(database, project, random, { steps: 150, instants, deleting: false });
  const contacts = await database.db.rows<{ id: string; items: number }>(
    `select c.id, ((select count(*) from events e where e.contact_id = c.id)
       + (select count(*) from events e where e.contact_id = c.id and e.name = 'email.failed')
       + (select coalesce(sum((sent_at is not null)::int + (delivered_at is not null)::int + (opened_at is not null)::int
           + (clicked_at is not null)::int + (bounced_at is not null)::int + (complained_at is not null)::int
           + (suppression is not null)::int), 0)
          from emails m where m.contact_id = c.id))::float8 as items
     from contacts c where c.project_id = $1`,
    [project.id],
  );
  const whole = sqlSpan({ from: null, until: null }, hourMs);
  const everything = new Set(activityTypes);
  for (const { id, items } of contacts)
    expect(await totalOfContact(database.db, project.id, id, whole, everything)).toBe(items);
  expect(contacts.some(({ items }) => items > 3)).toBe(true);
});

test('what was sent to a contact lately is counted by its events as by the ledger', async () => {
  const random = seeded(8);
  const project = await aProject(database.db);
  await liveThrough(database, project, random, { steps: 150, instants, deleting: false });
  const from = new Date(Date.now() - 30 * dayMs);
  const contacts = await database.db.rows<{ id: string; sent: number }>(
    `select c.id, (select count(*) from emails m where m.contact_id = c.id and m.sent_at >= $2)::int as sent
     from contacts c where c.project_id = $1`,
    [project.id, from],
  );
  const span = sqlSpan({ from, until: null }, hourMs);
  for (const { id, sent } of contacts)
    expect(await totalOfContact(database.db, project.id, id, span, new Set(['email.sent']))).toBe(sent);
  expect(contacts.some(({ sent }) => sent > 0)).toBe(true);
});

test('deleting a project leaves no counts of it behind', async () => {
  const project = await aProject(database.db);
  await liveThrough(database, project, seeded(9), { steps: 40, instants, deleting: false });
  await fold();
  await liveThrough(database, project, seeded(10), { steps: 40, instants, deleting: false });
  await database.db.count('delete from projects where id = $1', [project.id]);
  await fold();
  for (const table of ['mail_counts', 'mail_count_changes', 'activity_counts'])
    expect(await database.db.row(`select 1 from ${table} where project_id = $1`, [project.id])).toBeNull();
});

test('a fold tells which projects have new bounces and complaints, and forgets nothing when what follows fails', async () => {
  const [harmed, fine] = [await aProject(database.db), await aProject(database.db)];
  await fold();
  const mail = async (project: TestProject, effect: MailEffect) => {
    await liveThrough(database, project, seeded(3), { steps: 1, instants, deleting: false });
    const row = await database.db.row<{ id: string }>('select id from emails where project_id = $1', [project.id]);
    const mail = { emailId: row?.id ?? '', projectId: project.id };
    const report = { ...mail, key: newId(), messageId: null, recipient: 'heron@birdwatch.test', at: at(0), effect };
    expect(await applyNotification(database.db, 'postmark', mail, report, true)).toBe('done');
  };
  await mail(harmed, { kind: 'bounce', bounceType: 'Permanent', error: null });
  await mail(fine, { kind: 'open' });
  await expect(foldMailChanges(database.db, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const told: string[] = [];
  await foldMailChanges(database.db, async (_, projects) => void told.push(...projects));
  expect(told).toEqual([harmed.id]);
  expect(await mailCounts(database.db, harmed.id, sqlSpan({ from: null, until: null }, hourMs))).toMatchObject({
    outgoing: 1,
    bounced: 1,
  });
});

/** Counts of runs by the hour, and the same from their rows. */
async function runsByHour(project: TestProject) {
  const read = async (rows: string) =>
    database.db.rows<{ hour: string; started: number; completed: number }>(
      `select hour::text as hour, sum(started)::int as started, sum(completed)::int as completed from (${rows}) r
       group by 1 having sum(started) <> 0 or sum(completed) <> 0 order by 1`,
      [project.id],
    );
  const counts = await read(
    'select hour, runs_started as started, runs_completed as completed from mail_count_changes where project_id = $1',
  );
  const rows = await read(
    `select date_bin('1 hour', item.at, timestamptz 'epoch') as hour, started, completed
     from automation_runs r, lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
     where r.project_id = $1 and item.at is not null`,
  );
  const total = (column: 'started' | 'completed') => rows.reduce((sum, row) => sum + row[column], 0);
  return { counts, rows, totals: [total('started'), total('completed')] };
}

test('whatever starts, ends, reopens or deletes runs counts them in the hours in which that happened', async () => {
  const { db } = database;
  const project = await aProject(db);
  const deps = advanceDeps(db);
  const expectRuns = async (...totals: [started: number, completed: number]) => {
    const { counts, rows, totals: found } = await runsByHour(project);
    expect(found).toEqual(totals);
    expect(counts).toEqual(rows);
  };
  const people: string[] = [];
  for (const name of ['ada', 'ben', 'cleo', 'dora', 'emil', 'finn'])
    people.push(await aContact(db, project.id, `${name}@birdwatch.test`));
  const broken = await anAutomation(db, project.id, {
    steps: { bad: ['CONDITION', { field: 'data.plan', operator: 'is' }] },
  });
  const paused = await anAutomation(db, project.id, { steps: { pause: ['DELAY', { amount: 1, unit: 'days' }] } });
  const failed = (await letIn(db, broken, people)).map(({ id }) => id);
  const waiting = (await letIn(db, paused, people)).map(({ id }) => id);
  await expectRuns(12, 0);
  for (const id of failed) expect(await advance(deps, id, 0)).toMatchObject({ status: 'FAILED' });
  await expectRuns(12, 6);

  // As if they had failed earlier.
  await db.count(`update automation_runs set completed_at = completed_at - interval '3 hours' where project_id = $1`, [
    project.id,
  ]);
  await db.count(
    `update mail_count_changes set hour = hour - interval '3 hours' where project_id = $1 and runs_completed <> 0`,
    [project.id],
  );
  await expectRuns(12, 6);
  const { body } = await retryExecutions(db, project.id, broken.id, { executionIds: failed.slice(0, 4) });
  expect(body).toMatchObject({ retried: 4 });
  await expectRuns(12, 2);
  expect((await retryExecutions(db, project.id, broken.id, { executionIds: failed.slice(0, 4) })).body).toMatchObject({
    retried: 0,
  });
  await expectRuns(12, 2);

  await cancelByOperator(db, waiting[0] ?? '');
  await cancelByOperator(db, waiting[0] ?? '');
  await expectRuns(12, 3);
  await db.transaction((tx) =>
    cancelRuns(tx, { runId: waiting[1] ?? '', isExecutionCancelled: false }, 'Cancelled by user'),
  );
  await expectRuns(12, 4);
  const cause = JSON.stringify({ type: 'contact' });
  await db.transaction((tx) => trashContacts(tx, project.id, null, { cause }, people.slice(1, 3)));
  await expectRuns(12, 7);
  await db.count('delete from contacts where id = $1', [people[3]]);
  await expectRuns(10, 7);
  await db.transaction((tx) => cancelRuns(tx, { automationId: paused.id }, 'Cancelled by user (bulk cancel)'));
  await expectRuns(10, 9);
});

test('a report that moves an event corrects the count that another process made of it meanwhile', async () => {
  const { db } = database;
  const project = await aProject(db);
  const recipient = 'heron@birdwatch.test';
  const emailId = await queueMail(db, project, await aContact(db, project.id, recipient), recipient);
  const mail = { emailId, projectId: project.id };
  const opened = (instant: string) => {
    const report = {
      ...mail,
      key: newId(),
      messageId: null,
      recipient,
      at: instant,
      effect: { kind: 'open' } as const,
    };
    return applyNotification(db, 'postmark', mail, report, true);
  };
  expect(await opened(at(-1))).toBe('done');
  let moving: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await tx.rows(`select pg_advisory_xact_lock(hashtextextended('event counts', 0))`);
    moving = opened(at(-2));
    await expect
      .poll(() =>
        db.row(`select 1 from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`),
      )
      .not.toBeNull();
    await tx.count(
      `insert into activity_counts (project_id, kind, hour, items)
       select project_id, name, date_bin('1 hour', mail_at, timestamptz 'epoch'), 1 from events where email_id = $1 and name = 'email.open'`,
      [emailId],
    );
    await tx.count('update event_counts_state set counted_through = clock_timestamp()');
  });
  expect(await moving).toBe('done');
  const counts = await db.rows<{ at: string; items: number }>(
    `select (extract(epoch from hour) * 1000)::bigint::text as at, sum(items)::int as items from activity_counts
     where project_id = $1 and kind = 'email.open' group by 1 having sum(items) <> 0`,
    [project.id],
  );
  expect(counts).toEqual([{ at: String(Date.parse(at(-2))), items: 1 }]);
});
