import { createSandbox } from '@fernpost/mail-sandbox';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, onTestFinished, test } from 'vitest';
import { advance } from '../../src/automations/runtime/advance.ts';
import { followQuietHours } from '../../src/campaigns/delivery/held.ts';
import type { ListedPage, Mailer } from '../../src/domains/providers/mailer.ts';
import { createPostmarkMailer } from '../../src/domains/providers/postmark/postmark.ts';
import {
  compareRestored,
  decideRestored,
  holdRestored,
  restoreReports,
  skipSearch,
} from '../../src/feedback/reports/restored.ts';
import { newId } from '../../src/lib/ids.ts';
import { pause } from '../../src/lib/time.ts';
import { deliverPending } from '../../src/mail/queue/deliver.ts';
import type { Database } from '../../src/store/sql.ts';
import { advanceDeps, anAutomation, anEvent, aTemplate, letIn } from '../support/automation-fixtures.ts';
import {
  aCampaign,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  scheduled,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import {
  aContact,
  aMail,
  aProject,
  plainly,
  queueMail,
  queueMany,
  type TestProject,
} from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';

const lagMs = 60_000;
const missedEvery = 20;
const chunk = 10;
const quiet = new DefaultLogger('ERROR');
const silent = { info: () => undefined, warn: () => undefined };

/** A sandbox whose search is a minute behind, by a clock that tests set, and misses one message in twenty for ever. */
async function aLateSandbox() {
  const clock = { ahead: 0, isWhole: false };
  const places = new Map<string, number>();
  const sandbox = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    webhookUrl: null,
    webhookUser: '',
    webhookPassword: '',
    delayMs: 0,
    searchable(id, at) {
      const place = places.get(id) ?? places.size;
      places.set(id, place);
      return clock.isWhole || (place % missedEvery !== 7 && at + lagMs <= Date.now() + clock.ahead);
    },
  });
  onTestFinished(() => sandbox.close());
  const streams = { transactional: 'outbound', broadcast: 'broadcast' };
  // Without calls that outlive a worker, for whose end a claim would wait.
  const mailer = {
    ...createPostmarkMailer({ serverToken: 'sandbox', apiUrl: sandbox.url, streams, log: silent }),
    longestCallMs: 0,
  };
  /** How often each recipient got each subject. */
  const arrived = async () => {
    clock.isWhole = true;
    const counts = new Map<string, number>();
    let position: string | null = null;
    do {
      const page: ListedPage | undefined = await mailer.acceptedSince?.('2020-01-01T00:00:00.000Z', position);
      for (const { recipient, subject } of page?.messages ?? []) {
        const name = `${recipient} ${subject}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      position = page?.next ?? null;
    } while (position !== null);
    clock.isWhole = false;
    return counts;
  };
  return { mailer, clock, arrived };
}

/** The mailer, which calls `enough` as soon as it has handed over so many messages. */
function countingMailer(mailer: Mailer, most: number, enough: () => void): Mailer {
  let left = most;
  const { begin: _, ...whole } = mailer;
  return {
    ...whole,
    async send(claimId, messages) {
      left -= messages.length;
      if (left <= 0) enough();
      return mailer.send(claimId, messages);
    },
  };
}

function stepsOf(db: Database, mailer: Mailer, stopping = new AbortController().signal) {
  const activities = campaignActivitiesFor(db, mailer, { stopping, chunk, pace: { claims: 2, longestMs: 5000 } });
  const run = <Result>(step: (...key: [string, number]) => Promise<Result>, campaign: string): Promise<Result> =>
    new MockActivityEnvironment({}, { logger: quiet }).run(
      step as (...given: unknown[]) => Promise<Result>,
      campaign,
      1,
    ) as Promise<Result>;
  return {
    freeze: async (campaign: string) => {
      await run(activities.beginSend, campaign);
      await run(activities.expandAudience, campaign);
    },
    lane: (campaign: string) => run(activities.sendLane, campaign),
    finish: (campaign: string) => run(activities.finishSend, campaign),
  };
}

/** Sends about so many messages of a campaign and is cut off. */
async function sendSome(db: Database, mailer: Mailer, campaign: string, most: number): Promise<void> {
  const stopping = new AbortController();
  const steps = stepsOf(
    db,
    countingMailer(mailer, most, () => stopping.abort()),
    stopping.signal,
  );
  await steps.lane(campaign).catch(() => undefined);
}

async function deliver(db: Database, mailer: Mailer, project: TestProject, run: string): Promise<number> {
  const deps = { db, mailer, compose: plainly, log: silent, rate: 0, lagMs: 0 };
  const stop = new AbortController().signal;
  const report = await deliverPending(
    deps,
    { projectId: project.id, prefix: `${run}/`, attempt: 1, stop },
    { claims: 2, lingerMs: 0, longestMs: 20_000 },
  );
  return report.delivered;
}

/** The database as it is at this moment, to go on with twice. */
async function forked(database: TestDatabase): Promise<[TestDatabase, TestDatabase]> {
  await database.orm.close(true);
  if (!database.db.pool.ending) await database.db.pool.end();
  const name = new URL(database.url).pathname.slice(1);
  const copies: [TestDatabase, TestDatabase] = [await testDatabase(10, name), await testDatabase(10, name)];
  onTestFinished(async () => void (await Promise.all(copies.map((copy) => copy.close()))));
  return copies;
}

test('a database that was set back mid-campaign sends nothing twice, and names the mail of which nobody can tell', async () => {
  const { mailer, clock, arrived } = await aLateSandbox();
  const original = await testDatabase();
  onTestFinished(() => original.close());
  const project = await aProject(original.db);
  const other = await aProject(original.db);
  await contacts(original.db, project.id, 200);
  const running = await aCampaign(original.db, project, { subject: 'Running' });
  await started(original.db, project.id, running, 200);
  await stepsOf(original.db, mailer).freeze(running);
  await sendSome(original.db, mailer, running, 40);
  await contacts(original.db, other.id, 60);
  const due = await aCampaign(original.db, other, { subject: 'Due {{firstName}}' });
  await scheduled(original.db, other.id, due, 1000);
  await queueMany(original.db, project, 5);
  expect(await deliver(original.db, mailer, project, 'before')).toBe(5);
  await queueMany(original.db, project, 40);
  await queueMany(original.db, other, 30);
  await original.db.count(
    `update email_queue set due_at = now() + interval '1 second', created_at = now() + interval '1 second' where project_id = $1`,
    [other.id],
  );
  const reader = await aContact(original.db, project.id, 'reader@example.com', { subscribed: false });
  const restoredTo = new Date().toISOString();
  const [lost, { db }] = await forked(original);

  // What the database forgets: queued mail and scheduled mail goes, campaigns go on and begin, and a workflow and a request send mail.
  await pause(1100);
  expect(await deliver(lost.db, mailer, project, 'lost')).toBe(40);
  expect(await deliver(lost.db, mailer, other, 'lost')).toBe(30);
  await sendSome(lost.db, mailer, running, 60);
  await stepsOf(lost.db, mailer).freeze(due);
  await sendSome(lost.db, mailer, due, 30);
  const welcome = { ...aMail(project, reader, 'reader@example.com'), sourceType: 'WORKFLOW' as const };
  const step = { ...welcome, content: { subject: 'Welcome', body: '<p>Hello.</p>' } };
  const forgotten = await queueMail(lost.db, project, reader, 'reader@example.com', {
    ...step,
    id: undefined as never,
  });
  await queueMail(lost.db, project, reader, 'reader@example.com', { content: { subject: 'Code', body: '<p>1</p>' } });
  expect(await deliver(lost.db, mailer, project, 'lost again')).toBe(2);
  const before = await arrived();

  // The other copy is what a restore brings back.
  expect(await holdRestored(db, restoredTo, mailer)).toBe(true);
  expect(await holdRestored(db, restoredTo, mailer)).toBe(false);
  const steps = stepsOf(db, mailer);
  const compare = () => compareRestored({ db, mailer, log: silent, chunk, waitMs: lagMs - clock.ahead });
  await queueMail(db, project, reader, 'reader@example.com', { ...step, id: undefined as never });
  const held = async () => {
    expect(await deliver(db, mailer, project, 'held')).toBe(0);
    expect(await deliver(db, mailer, other, 'held')).toBe(0);
    expect(await steps.lane(running)).toMatchObject({ end: 'held', sent: 0 });
    expect(await arrived()).toEqual(before);
  };
  expect(await compare()).toBe(0);
  await held();
  clock.ahead = lagMs;
  expect(await compare()).toBe(0);
  expect(await restoreReports(db)).toMatchObject([{ phase: 'MATCHING', finishedAt: null }]);
  await held();
  await steps.freeze(due);
  expect(await compare()).toBeGreaterThan(100);
  const [report] = await restoreReports(db);
  expect(report).toMatchObject({ restoredTo, phase: 'FINISHED', searched: true, finishedAt: expect.any(String) });

  const left = async () => {
    for (const one of [project, other]) await deliver(db, mailer, one, 'after');
    for (const campaign of [running, due]) {
      await steps.lane(campaign);
      await steps.finish(campaign);
    }
    return db.rows(
      `select id from emails where status = 'PENDING' and id not in (select email_id from email_queue where claim_id = 'restored')`,
    );
  };
  const deliverAll = () => expect.poll(left).toEqual([]);
  await deliverAll();
  const all = await db.rows<{ id: string; name: string }>(
    `select e.id, e.to_address || ' ' || coalesce(e.subject, e.render ->> 'subject', replace(c.subject, '{{firstName}}', k.data ->> 'firstName')) as name
     from emails e join contacts k on k.id = e.contact_id left join campaigns c on c.id = e.campaign_id`,
  );
  const unknown = new Set(report?.unknown.map(({ emailId }) => emailId));
  const after = await arrived();
  expect([...after].filter(([, times]) => times > 1)).toEqual([]);
  expect(all.filter(({ id, name }) => !unknown.has(id) && !after.has(name))).toEqual([]);
  // All of what is missed is named, and little more: one call on either side of what was found.
  expect(unknown.size).toBeGreaterThan(5);
  expect(unknown.size).toBeLessThan(60);
  expect(report?.lost.map(({ emailId }) => emailId)).toContain(forgotten);
  expect(await campaignRow(db, running)).toMatchObject({ status: 'SENDING' });

  const twice = all.filter(({ id, name }) => unknown.has(id) && after.has(name)).map(({ name }) => name);
  expect(twice.length).toBeGreaterThan(0);
  expect(await decideRestored(db, 'send')).toBe(unknown.size);
  await deliverAll();
  const sent = await arrived();
  expect(
    [...sent]
      .filter(([, times]) => times > 1)
      .map(([name]) => name)
      .toSorted(),
  ).toEqual(twice.toSorted());
  expect(all.filter(({ name }) => !sent.has(name))).toEqual([]);
  for (const campaign of [running, due]) await steps.finish(campaign);
  for (const campaign of [running, due])
    expect(await campaignRow(db, campaign)).toMatchObject({ status: 'SENT', failed: 0 });
  expect(await holdRestored(db, restoredTo, mailer)).toBe(false);
});

const hourMs = 3_600_000;
test.each(['end', 'are switched off'])(
  'a database that was set back sends nothing twice to contacts who were held, where their quiet hours %s meanwhile',
  async (how) => {
    const { mailer, clock, arrived } = await aLateSandbox();
    const original = await testDatabase();
    onTestFinished(() => original.close());
    const project = await aProject(original.db);
    const time = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16);
    const hours = { from: time(-hourMs), to: time(hourMs), days: null, types: ['MARKETING'] };
    const setHours = (db: Database, value: object | null) =>
      db.count('update projects set quiet_hours = $2, quiet_changed_at = now() where id = $1', [
        project.id,
        value && JSON.stringify(value),
      ]);
    await setHours(original.db, hours);
    await contacts(original.db, project.id, 100);
    const running = await aCampaign(original.db, project, { subject: 'Running' });
    await started(original.db, project.id, running, 100);
    await stepsOf(original.db, mailer).freeze(running);
    await stepsOf(original.db, mailer).lane(running);
    const people = await original.db.rows<{ id: string; email: string }>('select id, email from contacts');
    for (const { id, email } of people)
      await queueMail(original.db, project, id, email, {
        sourceType: 'WORKFLOW',
        messageClass: 'MARKETING',
        workflowStepExecutionId: newId(),
        heldUntil: new Date(Date.now() + hourMs).toISOString(),
      });
    const due = (db: Database, ms: number) =>
      db.count(
        `with at as (select clock_timestamp()::timestamptz(3) + $1::float8 * interval '1 millisecond' as at),
           h as (update campaign_held_contacts set due_at = at.at from at),
           q as (update email_queue set due_at = at.at, created_at = at.at from at where claim_id is null)
         update emails set held_until = at.at from at where held_until is not null`,
        [ms],
      );
    // As the next morning comes: the copies have the same instants.
    if (how === 'end') {
      await setHours(original.db, null);
      await due(original.db, 1000);
    }
    expect(await original.db.count('select from campaign_held_contacts')).toBe(100);
    const restoredTo = new Date().toISOString();
    const [lost, { db }] = await forked(original);

    await pause(1100);
    if (how !== 'end') {
      await setHours(lost.db, null);
      const outbox = { dispatchSoon: () => undefined };
      await followQuietHours({ db: lost.db, outbox, stop: new AbortController().signal });
      await due(lost.db, 0);
    }
    await sendSome(lost.db, mailer, running, 50);
    expect(await deliver(lost.db, mailer, project, 'lost')).toBe(100);
    const before = await arrived();
    expect(before.size).toBeGreaterThanOrEqual(150);

    await holdRestored(db, restoredTo, mailer);
    clock.ahead = lagMs;
    expect(await compareRestored({ db, mailer, log: silent, chunk, waitMs: 0 })).toBeGreaterThan(100);
    const [report] = await restoreReports(db);
    expect(report).toMatchObject({ phase: 'FINISHED', searched: true });
    await setHours(db, null);
    await due(db, 0);
    const steps = stepsOf(db, mailer);
    await deliver(db, mailer, project, 'after');
    await steps.lane(running);
    await steps.finish(running);
    const after = await arrived();
    expect([...after].filter(([, times]) => times > 1)).toEqual([]);
    const unknown = new Set(report?.unknown.map(({ emailId }) => emailId));
    const all = await db.rows<{ id: string; name: string }>(
      `select e.id, e.to_address || ' ' || coalesce(e.subject, c.subject) as name from emails e left join campaigns c on c.id = e.campaign_id`,
    );
    expect(all).toHaveLength(200);
    expect(all.filter(({ id, name }) => !unknown.has(id) && !after.has(name))).toEqual([]);
    // Some that the search does not show are among those of which nobody can tell.
    expect(all.filter(({ id, name }) => unknown.has(id) && before.has(name)).length).toBeGreaterThan(3);
    expect(await decideRestored(db, 'fail')).toBe(unknown.size);
    await steps.finish(running);
    expect(await campaignRow(db, running)).toMatchObject({ status: 'SENT' });
  },
);

test('mail that workflows make again waits though the search shows none of it, and what they make by a new event or a later time goes', async () => {
  const database = await testDatabase();
  onTestFinished(() => database.close());
  const { db } = database;
  const mailer = Object.assign(new FakeMailer({ name: 'missing' }), {
    acceptedSince: (): Promise<ListedPage> => Promise.resolve({ messages: [], next: null }),
  });
  const project = await aProject(db);
  const templateId = await aTemplate(db, project);
  const recipient = { type: 'CUSTOM', customEmail: 'team@example.com' };
  const automation = await anAutomation(db, project.id, {
    steps: { delay: ['DELAY', { amount: 1, unit: 'hours' }], mail: ['SEND_EMAIL', { templateId, recipient }] },
  });
  const waiting = await anAutomation(db, project.id, {
    steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'paid', timeout: 86_400 }], mail: ['SEND_EMAIL', { templateId }] },
    ways: [
      ['trigger', 'wait'],
      ['wait.EVENT', 'mail'],
    ],
  });
  const deps = advanceDeps(db);
  const runs = new Map<string, string>();
  const enters = async (name: string, into = automation) => {
    const contact = await aContact(db, project.id, `${name}@example.com`);
    const [run] = await letIn(db, into, [contact]);
    runs.set(name, run?.id ?? '');
    await advance(deps, run?.id ?? '', null);
    return contact;
  };
  const dueAgo = async (name: string, minutes: number) => {
    const due = [runs.get(name), minutes];
    const ago = `clock_timestamp() - $2::float8 * interval '1 minute'`;
    await db.count(
      `update automation_step_runs set scheduled_for = ${ago} where run_id = $1 and scheduled_for is not null`,
      due,
    );
    await db.count(`update automation_runs set due_at = ${ago} where id = $1`, due);
  };
  for (const name of ['repeated', 'later']) await enters(name);
  const payer = await enters('payer', waiting);
  // All was lost ten minutes ago, and the last mail that the provider can have is of that time.
  await dueAgo('repeated', 7);
  await dueAgo('later', 3);
  await db.count(
    `insert into temporal_stores (task_queue, workflow_id, run_id) values ('test', 'reconcile', 'before')`,
  );
  await pause(5);
  await holdRestored(db, new Date(Date.now() - 10 * 60_000).toISOString(), mailer);
  const isAhead = 'select changed_at = held_at as is from temporal_stores, restores';
  expect(await db.row(isAhead)).toEqual({ is: true });

  await pause(5);
  await anEvent(db, project.id, payer, 'paid');
  await enters('new');
  await dueAgo('new', 0);
  for (const run of runs.values()) await advance(deps, run, null);
  await compareRestored({ db, mailer, log: silent, chunk, waitMs: 0 });
  const [report] = await restoreReports(db);
  expect(report).toMatchObject({ phase: 'FINISHED', outcomes: { UNKNOWN: 1 } });
  expect(
    await db.row('select workflow_execution_id as run from emails where id = $1', [report?.unknown[0]?.emailId]),
  ).toEqual({
    run: runs.get('repeated'),
  });
  expect(await deliver(db, mailer, project, 'after')).toBe(3);
});

test('mail of a provider that cannot be searched waits for a decision, and is given up until a report proves it', async () => {
  const database = await testDatabase();
  onTestFinished(() => database.close());
  const { db } = database;
  const mailer = new FakeMailer({ name: 'unsearchable' });
  const project = await aProject(db);
  await queueMany(db, project, 3);
  await contacts(db, project.id, 25);
  const campaign = await aCampaign(db, project);
  await started(db, project.id, campaign, 28);
  const steps = stepsOf(db, mailer);
  await steps.freeze(campaign);
  await holdRestored(db, new Date().toISOString(), mailer);
  const compare = () => compareRestored({ db, mailer, log: silent, chunk, waitMs: 0 });
  await compare();
  expect(await restoreReports(db)).toMatchObject([{ phase: 'FINISHED', searched: false, outcomes: { UNKNOWN: 31 } }]);
  await queueMany(db, project, 2);
  expect(await deliver(db, mailer, project, 'after')).toBe(2);
  expect(await steps.lane(campaign)).toMatchObject({ sent: 0 });
  await steps.finish(campaign);
  expect(await campaignRow(db, campaign)).toMatchObject({ status: 'SENDING', sent: 0, failed: 0 });

  // As a report leaves it.
  await db.count(
    `update emails set message_id = 'proof-' || id, delivered_at = now(), status = 'DELIVERED' where id in (
    (select id from emails where campaign_id = $1 order by id limit 1), (select email_id from email_queue order by 1 limit 1))`,
    [campaign],
  );
  expect(await compare()).toBe(2);
  expect(await decideRestored(db, 'fail')).toBe(29);
  await steps.finish(campaign);
  expect(await campaignRow(db, campaign)).toMatchObject({ status: 'SENT', sent: 1, failed: 27 });
  expect(
    await db.rows(`select reason ->> 'code' as code, count(*)::int from emails where status = 'FAILED' group by 1`),
  ).toEqual([{ code: 'submission_unknown', count: 29 }]);
  expect(await db.rows('select from email_queue')).toEqual([]);
  expect(mailer.sent).toHaveLength(2);
});

test('a search that fails is given up by hand: what it found counts, all other mail that was due waits, and new mail goes', async () => {
  const database = await testDatabase();
  onTestFinished(() => database.close());
  const { db } = database;
  const project = await aProject(db);
  await queueMany(db, project, 4);
  const first = await db.row<{ id: string }>('select id from emails limit 1');
  const found = { messageId: 'known', at: new Date().toISOString(), emailId: first?.id ?? '', projectId: project.id };
  const mailer = Object.assign(new FakeMailer({ name: 'refusing' }), {
    async acceptedSince(_: string, position: string | null): Promise<ListedPage> {
      if (position !== null) throw new Error('The key is not valid');
      return { messages: [{ ...found, recipient: '', subject: '', tag: 'TRANSACTIONAL' }], next: '500' };
    },
  });
  await holdRestored(db, new Date().toISOString(), mailer);
  const compare = () => compareRestored({ db, mailer, log: silent, chunk, waitMs: 0 });
  await expect(compare()).rejects.toThrow('not valid');
  await expect(compare()).rejects.toThrow('not valid');
  expect(await skipSearch(db)).toBe(true);
  expect(await skipSearch(db)).toBe(false);
  expect(await compare()).toBe(1);
  expect(await restoreReports(db)).toMatchObject([
    { phase: 'FINISHED', searched: false, outcomes: { SETTLED: 1, UNKNOWN: 3 } },
  ]);
  await queueMany(db, project, 2);
  expect(await deliver(db, mailer, project, 'after')).toBe(2);
});
