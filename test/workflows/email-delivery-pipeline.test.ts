import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventData } from '../../src/contacts/events/queries.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Pace } from '../../src/mail/engine/run.ts';
import { workOn } from '../../src/mail/engine/work.ts';
import { settleMail } from '../../src/mail/ledger/settle.ts';
import { claimQueued } from '../../src/mail/queue/claims.ts';
import { type DeliveryRun, deliverPending, reconcileClaims } from '../../src/mail/queue/deliver.ts';
import { type ClaimedRows, QueueClaim, type QueueDeps } from '../../src/mail/queue/queue-claim.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import {
  aContact,
  aProject,
  deliveryDeps,
  queueMail,
  queueMany,
  type TestProject,
} from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';

let store: TestDatabase;
beforeAll(async () => {
  store = await testDatabase(20);
});
afterAll(() => store.close());
beforeEach(() => store.db.count('delete from provider_holds'));

const quick: Pace = { claims: 4, lingerMs: 0, longestMs: 600_000 };

function runOf(project: TestProject, changes: Partial<DeliveryRun> = {}): DeliveryRun {
  return { projectId: project.id, prefix: `${newId()}/1/`, attempt: 1, stop: new AbortController().signal, ...changes };
}

/** Runs deliveries as the workflow does, without its timers: until nothing is left to wait for. */
async function deliverAll(deps: QueueDeps, project: TestProject): Promise<{ delivered: number; failed: number }> {
  const total = { delivered: 0, failed: 0 };
  for (let run = 0; run < 40; run += 1) {
    const report = await deliverPending(deps, runOf(project), quick);
    total.delivered += report.delivered;
    total.failed += report.failed;
    if (report.waitMs === null) return total;
    await makeDue();
  }
  throw new Error('the queue does not get empty');
}

/** Lets every wait of the queue and of the provider's hold be over. */
async function makeDue(): Promise<void> {
  await store.db.count(
    "update email_queue set due_at = clock_timestamp() - interval '1 ms' where due_at > clock_timestamp()",
  );
  await store.db.count(
    "update provider_holds set held_until = clock_timestamp() - interval '1 ms' where held_until is not null",
  );
}

const handOver = (deps: QueueDeps, claim: ClaimedRows) => workOn(deps, new QueueClaim(deps, claim));

interface Row {
  id: string;
  status: string;
  message_id: string | null;
  error: string | null;
  to_address: string;
  subject: string | null;
  body: string | null;
  render: unknown;
  sent: boolean;
}
const ledger = (project: TestProject) =>
  store.db.rows<Row>(
    'select id, status, message_id, mail_reason_text(reason) as error, to_address, subject, body, render, sent_at is not null as sent from emails where project_id = $1 order by id',
    [project.id],
  );
const eventsOf = (project: TestProject, name?: string) =>
  store.db.rows<{
    id: string;
    name: string;
    contact_id: string;
    email_id: string | null;
    data: Record<string, unknown>;
  }>(
    `select id, name, contact_id, email_id, ${eventData('e')} as data from events e where project_id = $1 and ($2::text is null or name = $2) order by created_at, id`,
    [project.id, name ?? null],
  );
const queued = (project: TestProject) =>
  store.db.rows<{ claim_id: string | null; attempts: number; lookups: number; wait: number }>(
    `select claim_id, attempts, lookups, extract(epoch from due_at - clock_timestamp())::float8 as wait
     from email_queue where project_id = $1`,
    [project.id],
  );

function expectEachOnce(mailer: FakeMailer, addresses: string[]) {
  expect(mailer.recipients.toSorted()).toEqual(addresses.toSorted());
}

test('mail is handed over once, and its row, event and queue are settled together', async () => {
  const project = await aProject(store.db);
  const contact = await aContact(store.db, project.id, 'ada@example.com');
  const templateId = newId();
  const id = await queueMail(store.db, project, contact, 'ada@example.com', { templateId });
  const mailer = new FakeMailer();
  expect(await deliverAll(deliveryDeps(store.db, mailer), project)).toEqual({ delivered: 1, failed: 0 });

  expect(mailer.sent).toHaveLength(1);
  expect(await ledger(project)).toEqual([
    {
      id,
      status: 'SENT',
      message_id: mailer.taken[0]?.messageId,
      error: null,
      to_address: 'ada@example.com',
      subject: 'A heron for ada@example.com',
      body: '<p>Look up.</p>',
      render: null,
      sent: true,
    },
  ]);
  expect(await eventsOf(project)).toEqual([
    {
      id: expect.stringMatching(new RegExp(`${id.slice(14)}$`)),
      name: 'email.sent',
      contact_id: contact,
      email_id: id,
      data: {
        subject: 'A heron for ada@example.com',
        from: project.sender,
        fromName: 'Birdwatch',
        messageId: mailer.taken[0]?.messageId,
        emailId: id,
        templateId,
        campaignId: null,
        sourceType: 'TRANSACTIONAL',
        sentAt: mailer.taken[0]?.at,
      },
    },
  ]);
  expect(await queued(project)).toEqual([]);
});

test('a mail that waits unrendered is stored as it was sent, and its snapshot is dropped', async () => {
  const project = await aProject(store.db);
  const contact = await aContact(store.db, project.id, 'ada@example.com');
  const render = { subject: 'Hello \0there', body: '<p>Hi</p>', data: {}, contact: {}, subscribed: true };
  await queueMail(store.db, project, contact, 'ada@example.com', {
    content: { render: { ...render, subject: 'Hello there' } },
  });
  const deps = deliveryDeps(store.db, new FakeMailer());
  const withNul = {
    ...deps,
    compose: (mail: Parameters<typeof deps.compose>[0]) => ({ ...deps.compose(mail), subject: render.subject }),
  };
  await deliverAll(withNul, project);
  expect(await ledger(project)).toMatchObject([
    { status: 'SENT', subject: 'Hello there', body: '<p>Hi</p>', render: null },
  ]);
});

test('thousands of mails go in calls of at most 500, several at once, each once', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 2300);
  const mailer = new FakeMailer({ latencyMs: 200 });
  let under = 0;
  let most = 0;
  mailer.onCall = () => {
    under += 1;
    most = Math.max(most, under);
  };
  mailer.onTaken = () => {
    under -= 1;
  };
  await deliverAll(deliveryDeps(store.db, mailer), project);
  expectEachOnce(mailer, addresses);
  expect(mailer.calls.toSorted((a, b) => b - a)).toEqual([500, 500, 500, 500, 300]);
  expect(most).toBeGreaterThan(1);
  expect(await eventsOf(project, 'email.sent')).toHaveLength(2300);
});

test('two workers on one project share its mail and send nothing twice', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 1800);
  const mailer = new FakeMailer({ latencyMs: 10 });
  const deps = deliveryDeps(store.db, mailer);
  const reports = await Promise.all([1, 2, 3].map(() => deliverPending(deps, runOf(project), quick)));
  expectEachOnce(mailer, addresses);
  expect(reports.reduce((sum, report) => sum + report.delivered, 0)).toBe(1800);
});

test('answers lost after the provider took the mail: looked up, nothing sent twice', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 700);
  const mailer = new FakeMailer({ dropAnswers: 2 });
  // One run: what the provider knows already need not wait for its indexing lag.
  const report = await deliverPending(deliveryDeps(store.db, mailer, { lagMs: 60_000 }), runOf(project), quick);
  expect(report).toMatchObject({ delivered: 700, waitMs: null });
  expectEachOnce(mailer, addresses);
  expect(mailer.searches.length).toBeGreaterThanOrEqual(2);
  expect((await ledger(project)).map(({ status }) => status)).toEqual(Array(700).fill('SENT'));
  expect(await eventsOf(project, 'email.sent')).toHaveLength(700);
});

test('a lost answer whose search fails too is looked up again later, and not sent meanwhile', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 3);
  const mailer = new FakeMailer({ dropAnswers: 1, failedSearches: 2 });
  const deps = deliveryDeps(store.db, mailer, { lagMs: 60_000 });
  const first = await deliverPending(deps, runOf(project), quick);
  expect(first).toMatchObject({ delivered: 0, waitMs: expect.any(Number), held: null });
  expect(first.waitMs).toBeGreaterThan(50_000);
  await makeDue();
  expect((await deliverPending(deps, runOf(project), quick)).delivered).toBe(0);
  await makeDue();
  expect((await deliverPending(deps, runOf(project), quick)).delivered).toBe(3);
  expectEachOnce(mailer, addresses);
});

test('a call that was lost before the provider took it is sent again, but not before the lag is over', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 3);
  const mailer = new FakeMailer({ lostCalls: 1 });
  const deps = deliveryDeps(store.db, mailer, { lagMs: 60_000 });
  const first = await deliverPending(deps, runOf(project), quick);
  expect(first.delivered).toBe(0);
  expect(first.waitMs).toBeGreaterThan(50_000);
  expect(mailer.sent).toEqual([]);
  expect((await queued(project)).every(({ claim_id, lookups }) => claim_id !== null && lookups > 0)).toBe(true);
  expect(await deliverAll(deps, project)).toEqual({ delivered: 3, failed: 0 });
  expectEachOnce(mailer, addresses);
});

test('settling a claim twice, or after somebody else did, changes nothing', async () => {
  const project = await aProject(store.db);
  await queueMany(store.db, project, 2);
  const [one, other] = await claimQueued(store.db, project.id, 'twice/1', { messages: 9, rate: 0, provider: 'fake' });
  const texts = { subject: 's', body: 'b', stream: 'transactional' };
  const sent = (messageId: string, at: string) =>
    [one, other].map((mail) => ({ emailId: mail?.id ?? '', outcome: 'SENT' as const, messageId, at, ...texts }));
  expect(
    await settleMail(store.db, { id: 'twice/1', provider: 'fake' }, sent('m-1', '2026-03-01T10:00:00.000Z')),
  ).toEqual({
    sent: 2,
    skipped: 0,
    failed: 0,
  });
  expect(
    await settleMail(store.db, { id: 'twice/1', provider: 'fake' }, sent('m-2', '2026-03-02T10:00:00.000Z')),
  ).toEqual({
    sent: 0,
    skipped: 0,
    failed: 0,
  });
  const failed = {
    emailId: one?.id ?? '',
    outcome: 'FAILED' as const,
    reason: { code: 'provider' as const, words: 'late' },
    subject: null,
    body: null,
  };
  expect(await settleMail(store.db, { id: 'twice/1', provider: 'fake' }, [failed])).toEqual({
    sent: 0,
    skipped: 0,
    failed: 0,
  });
  expect(await eventsOf(project, 'email.sent')).toHaveLength(2);
  expect(await ledger(project)).toMatchObject([1, 2].map(() => ({ status: 'SENT', message_id: 'm-1', error: null })));
});

test('a claim that was lost to another may neither fail, put back nor doubt its mail, but a hand-over always counts', async () => {
  const project = await aProject(store.db);
  await queueMany(store.db, project, 1);
  const [mail] = await claimQueued(store.db, project.id, 'new/1', { messages: 9, rate: 0, provider: 'fake' });
  const emailId = mail?.id ?? '';
  await settleMail(store.db, { id: 'old/1', provider: 'fake' }, [
    { emailId, outcome: 'FAILED', reason: { code: 'provider', words: 'x' }, subject: null, body: null },
  ]);
  await settleMail(store.db, { id: 'old/1', provider: 'fake' }, [
    { emailId, outcome: 'RETRY', delayMs: 0, attempt: true, words: null },
  ]);
  await settleMail(store.db, { id: 'old/1', provider: 'fake' }, [{ emailId, outcome: 'UNCONFIRMED', delayMs: 0 }]);
  expect(await ledger(project)).toMatchObject([{ status: 'PENDING' }]);
  expect(await queued(project)).toMatchObject([{ claim_id: 'new/1', attempts: 0, lookups: 0 }]);
  const sent = { messageId: 'm-1', at: '2026-03-01T10:00:00.000Z', subject: 's', body: 'b', stream: 'transactional' };
  await settleMail(store.db, { id: 'old/1', provider: 'fake' }, [{ emailId, outcome: 'SENT', ...sent }]);
  expect(await ledger(project)).toMatchObject([{ status: 'SENT' }]);
  expect(await queued(project)).toEqual([]);
});

test('a process that stood still since its claim hands nothing over: the mail goes back, uncounted', async () => {
  const project = await aProject(store.db);
  await queueMany(store.db, project, 3);
  const mailer = new FakeMailer();
  const mails = await claimQueued(store.db, project.id, 'slow/1', { messages: 9, rate: 0, provider: 'fake' });
  const takenAt = performance.now() - 25_000;
  const deps = deliveryDeps(store.db, mailer);
  expect(await handOver(deps, { id: 'slow/1', mails, takenAt, probing: false })).toEqual({
    sent: 0,
    skipped: 0,
    failed: 0,
  });
  expect(mailer.calls).toEqual([]);
  expect(await queued(project)).toMatchObject([1, 2, 3].map(() => ({ claim_id: null, attempts: 0 })));
  expect(await deliverAll(deps, project)).toEqual({ delivered: 3, failed: 0 });
});

test('a delivery report proves the hand-over of unconfirmed mail, without asking the provider', async () => {
  const project = await aProject(store.db);
  const contact = await aContact(store.db, project.id, 'ada@example.com');
  const id = await queueMail(store.db, project, contact, 'ada@example.com');
  const mailer = new FakeMailer({ lostCalls: 1, failedSearches: 99 });
  const deps = deliveryDeps(store.db, mailer, { lagMs: 60_000 });
  await deliverPending(deps, runOf(project), quick);
  await store.db.count(
    "update emails set status = 'DELIVERED', delivered_at = '2026-03-01T10:00:00Z', message_id = 'm-1' where id = $1",
    [id],
  );
  expect(await deliverAll(deps, project)).toEqual({ delivered: 1, failed: 0 });
  expect(mailer.sent).toEqual([]);
  expect(await ledger(project)).toMatchObject([{ status: 'DELIVERED', message_id: 'm-1', sent: true }]);
  expect(await eventsOf(project, 'email.sent')).toHaveLength(1);
});

test('a worker that dies between claim and settle leaves nothing missing and nothing twice', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 1200);
  const mailer = new FakeMailer();
  const dying = deliveryDeps(store.db, mailer, { lagMs: 30 });
  const run = runOf(project);
  // The first attempt: one claim dies before its call, one after the provider took it; neither is settled.
  const early = await claimQueued(dying.db, project.id, `${run.prefix}1.1`, {
    messages: 500,
    rate: 0,
    provider: 'fake',
  });
  const late = await claimQueued(dying.db, project.id, `${run.prefix}1.2`, {
    messages: 500,
    rate: 0,
    provider: 'fake',
  });
  expect([early.length, late.length]).toEqual([500, 500]);
  await mailer.send(`${run.prefix}1.2`, late.map(dying.compose));
  const taken = mailer.sent.length;

  const report = await deliverPending(dying, { ...run, attempt: 2 }, quick);
  expect(taken).toBe(500);
  expect(report).toMatchObject({ delivered: 1200, waitMs: null });
  expectEachOnce(mailer, addresses);
  expect(await eventsOf(project, 'email.sent')).toHaveLength(1200);
  expect((await ledger(project)).map(({ status }) => status)).toEqual(Array(1200).fill('SENT'));
});

test('a worker that may only stand still: what it claimed is not sent again while a call may be under way', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 40);
  const mailer = Object.assign(new FakeMailer(), { longestCallMs: 60_000 });
  const deps = deliveryDeps(store.db, mailer);
  const run = runOf(project);
  const id = `${run.prefix}1.1`;
  const mails = await claimQueued(store.db, project.id, id, { messages: 25, rate: 0, provider: 'fake' });
  const report = await deliverPending(deps, { ...run, attempt: 2 }, quick);
  expect(report.delivered).toBe(15);
  expect(report.waitMs).toBeGreaterThan(50_000);
  // It goes on, learns that the claim is not its own any more, and hands nothing over.
  await handOver(deps, { id, mails, takenAt: performance.now() - 3_000, probing: false });
  expect(mailer.sent).toHaveLength(15);
  expect(await deliverAll(deps, project)).toEqual({ delivered: 25, failed: 0 });
  expectEachOnce(mailer, addresses);
});

test('claims of a worker that nobody retries are settled by the reconciler, which wakes the project', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 40);
  const mailer = new FakeMailer();
  const deps = deliveryDeps(store.db, mailer, { lagMs: 0 });
  const took = await claimQueued(store.db, project.id, 'gone/1/1.1', { messages: 25, rate: 0, provider: 'fake' });
  await mailer.send('gone/1/1.1', took.slice(0, 20).map(deps.compose));
  const woken: string[] = [];
  await reconcileClaims(deps, (projectId) => woken.push(projectId));
  expect(await queued(project)).toHaveLength(40);
  expect(woken).toEqual([]);

  await store.db.count(
    "update email_queue set claimed_at = claimed_at - interval '2 minutes' where claim_id is not null",
  );
  await store.db.count("update email_queue set due_at = due_at - interval '1 minute' where claim_id is null");
  await reconcileClaims(deps, (projectId) => woken.push(projectId));
  expect(woken).toContain(project.id);
  expect((await queued(project)).filter(({ claim_id }) => claim_id !== null)).toEqual([]);
  await deliverAll(deps, project);
  expectEachOnce(mailer, addresses);
});

test('an outage puts mail back and opens the breaker; then it goes out, each once', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 1500);
  const mailer = new FakeMailer({ outages: 5, outage: 503 });
  const deps = deliveryDeps(store.db, mailer);
  const first = await deliverPending(deps, runOf(project), quick);
  expect(first.held).toMatch(
    /^held: provider answers 503 since \d\d:\d\d UTC, [\d,]+ waiting, next try \d\d:\d\d UTC$/,
  );
  expect(first.delivered).toBe(0);
  await deliverAll(deps, project);
  expectEachOnce(mailer, addresses);
  expect(await store.db.row('select failures, held_until from provider_holds')).toEqual({
    failures: 0,
    held_until: null,
  });
});

test('a 429 holds every project at once, and nobody calls the provider meanwhile', async () => {
  const [one, other] = [await aProject(store.db), await aProject(store.db)];
  const addresses = [...(await queueMany(store.db, one, 2)), ...(await queueMany(store.db, other, 2))];
  const mailer = new FakeMailer({ outages: 1, outage: 429 });
  const deps = deliveryDeps(store.db, mailer);
  expect((await deliverPending(deps, runOf(one), quick)).held).toContain('429');
  expect((await deliverPending(deps, runOf(other), quick)).held).toContain('429');
  expect(mailer.calls).toHaveLength(1);
  await makeDue();
  await deliverAll(deps, one);
  await deliverAll(deps, other);
  expectEachOnce(mailer, addresses);
});

const holdFor = (provider: string, seconds: number) =>
  store.db.count(
    `insert into provider_holds (provider, failures, reason, held_since, held_until)
     values ($1, 9, 'provider answers 503', now(), now() + make_interval(secs => $2))`,
    [provider, seconds],
  );

test('mail of a disabled project is settled under a hold, without waiting for it or for tokens', async () => {
  const project = await aProject(store.db, { sendRate: 5 });
  await queueMany(store.db, project, 1200);
  await store.db.count('update projects set disabled = true where id = $1', [project.id]);
  const mailer = new FakeMailer();
  await holdFor(mailer.name, 3600);
  const report = await deliverPending(deliveryDeps(store.db, mailer), runOf(project), quick);
  expect(report).toEqual({ delivered: 0, failed: 1200, waitMs: null, held: null });
  expect(mailer.calls).toEqual([]);
});

test('mail that needs no call uses up no probe: all of it is settled, and the next project finds the provider', async () => {
  const [unverified, other] = [await aProject(store.db), await aProject(store.db)];
  await queueMany(store.db, unverified, 100);
  await store.db.count('update domains set verified = false where project_id = $1', [unverified.id]);
  const addresses = await queueMany(store.db, other, 30);
  const mailer = new FakeMailer();
  await holdFor(mailer.name, -1);
  const deps = deliveryDeps(store.db, mailer);
  expect(await deliverPending(deps, runOf(unverified), quick)).toEqual({
    delivered: 0,
    failed: 100,
    waitMs: null,
    held: null,
  });
  expect(await store.db.row('select held_until < now() as due from provider_holds')).toEqual({ due: true });
  expect(await deliverPending(deps, runOf(other), quick)).toMatchObject({ delivered: 30, waitMs: null });
  expectEachOnce(mailer, addresses);
});

test('of two projects that may probe at the same moment one calls; the mail of the other waits without an attempt', async () => {
  const [one, other] = [await aProject(store.db), await aProject(store.db)];
  await queueMany(store.db, one, 5);
  await queueMany(store.db, other, 5);
  const mailer = new FakeMailer();
  await holdFor(mailer.name, -1);
  const deps = deliveryDeps(store.db, mailer);
  const limits = { messages: 20, rate: 0, provider: mailer.name, probing: true };
  const claims = await Promise.all(
    [one, other].map(async ({ id }) => ({
      id: newId(),
      mails: await claimQueued(store.db, id, newId(), limits),
      takenAt: performance.now(),
      probing: true,
    })),
  );
  // The claims' ids are those that the rows hold.
  for (const claim of claims) {
    const [mail] = claim.mails;
    const row = await store.db.row<{ claim_id: string }>('select claim_id from email_queue where email_id = $1', [
      mail?.id,
    ]);
    claim.id = row?.claim_id ?? '';
  }
  mailer.options.outages = 1;
  await Promise.all(claims.map((claim) => handOver(deps, claim)));
  expect(mailer.calls).toEqual([5]);
  const attempts = [...(await queued(one)), ...(await queued(other))].map(({ attempts }) => attempts);
  expect(attempts.filter((n) => n === 0)).toHaveLength(5);
  expect(attempts.filter((n) => n === 1)).toHaveLength(5);
});

test('a refused account holds mail for as long as it takes, beyond eight attempts', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 2);
  const mailer = new FakeMailer({ outages: 12, outage: 401 });
  expect(await deliverAll(deliveryDeps(store.db, mailer), project)).toEqual({ delivered: 2, failed: 0 });
  expectEachOnce(mailer, addresses);
});

test('mail older than a day is given up at its next refusal', async () => {
  const project = await aProject(store.db);
  await queueMany(store.db, project, 1);
  await store.db.count("update email_queue set created_at = created_at - interval '25 hours' where project_id = $1", [
    project.id,
  ]);
  await deliverAll(deliveryDeps(store.db, new FakeMailer({ outages: 1 })), project);
  expect(await ledger(project)).toMatchObject([
    { status: 'FAILED', error: 'Given up after 24 hours: provider answers 503' },
  ]);
  expect(await eventsOf(project)).toMatchObject([
    { name: 'email.failed', data: { error: 'Given up after 24 hours: provider answers 503' } },
  ]);
});

test('one message that spoils every call fails alone after eight attempts; the others go out', async () => {
  const project = await aProject(store.db);
  const addresses = await queueMany(store.db, project, 60);
  const poison = addresses[17] as string;
  class Spoilt extends FakeMailer {
    override async send(claimId: string, messages: Parameters<FakeMailer['send']>[1]) {
      if (!messages.some(({ to }) => to.address === poison)) return super.send(claimId, messages);
      return messages.map(
        () => ({ kind: 'retry', reason: 'provider answers 503', afterMs: null, scope: 'call' }) as const,
      );
    }
  }
  const mailer = new Spoilt();
  const deps = deliveryDeps(store.db, mailer);
  for (let round = 0; round < 60 && (await queued(project)).length > 0; round += 1) {
    // Other mail keeps the provider in use, so that it is not held for the poison alone.
    await queueMany(store.db, project, 1);
    await deliverPending(deps, runOf(project), quick);
    await makeDue();
  }
  const rows = await ledger(project);
  expect(rows.filter(({ status }) => status !== 'SENT')).toMatchObject([
    { status: 'FAILED', to_address: poison, error: 'Given up after 8 attempts: provider answers 503' },
  ]);
  expect(new Set(mailer.recipients).size).toBe(mailer.recipients.length);
  expect(mailer.recipients).toEqual(expect.arrayContaining(addresses.filter((address) => address !== poison)));
});

test('a refused message is FAILED with its reason, and an event tells it', async () => {
  const project = await aProject(store.db);
  const [bad = '', good = ''] = await queueMany(store.db, project, 2);
  const mailer = new FakeMailer({ rejects: { [bad]: 300 } });
  expect(await deliverAll(deliveryDeps(store.db, mailer), project)).toEqual({ delivered: 1, failed: 1 });
  const rows = new Map((await ledger(project)).map((row) => [row.to_address, row]));
  expect(rows.get(bad)).toMatchObject({
    status: 'FAILED',
    error: 'Refused by the provider (300): refused with 300',
    sent: false,
  });
  expect(rows.get(good)).toMatchObject({ status: 'SENT' });
  expect((await eventsOf(project)).map(({ name }) => name).toSorted()).toEqual(['email.failed', 'email.sent']);
  expect(await eventsOf(project, 'email.failed')).toMatchObject([
    {
      email_id: rows.get(bad)?.id,
      data: {
        emailId: rows.get(bad)?.id,
        subject: `A heron for ${bad}`,
        sourceType: 'TRANSACTIONAL',
        error: 'Refused by the provider (300): refused with 300',
        failedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    },
  ]);
});

test('an inactive recipient is a bounce that unsubscribes the contact, told in that order and once', async () => {
  const project = await aProject(store.db);
  const contact = await aContact(store.db, project.id, 'gone@example.com');
  const ids = [
    await queueMail(store.db, project, contact, 'gone@example.com'),
    await queueMail(store.db, project, contact, 'gone@example.com'),
  ];
  const mailer = new FakeMailer({ rejects: { 'gone@example.com': 406 } });
  await deliverAll(deliveryDeps(store.db, mailer), project);
  expect((await ledger(project)).map(({ status }) => status)).toEqual(['BOUNCED', 'BOUNCED']);
  expect(await store.db.row('select subscribed from contacts where id = $1', [contact])).toEqual({ subscribed: false });
  const events = await eventsOf(project);
  expect(events.map(({ name }) => name).toSorted()).toEqual(['contact.unsubscribed', 'email.bounce', 'email.bounce']);
  const flip = events.find(({ name }) => name === 'contact.unsubscribed');
  expect(flip).toMatchObject({ data: { reason: 'bounce' }, contact_id: contact });
  const bounce = events.find(({ name, email_id }) => name === 'email.bounce' && email_id === flip?.email_id);
  expect(ids).toContain(bounce?.email_id);
  expect(String(flip?.id) < String(bounce?.id)).toBe(true);
  expect(bounce?.data).toMatchObject({
    bounceType: 'Permanent',
    bouncedAt: expect.stringMatching(/Z$/),
    messageId: null,
  });
});

test.each([
  ['TRANSACTIONAL', 'TRANSACTIONAL', 'SENT'],
  ['TRANSACTIONAL', 'HEADLESS', 'SENT'],
  ['TRANSACTIONAL', 'MARKETING', 'FAILED'],
  ['WORKFLOW', 'TRANSACTIONAL', 'SENT'],
  ['WORKFLOW', 'HEADLESS', 'FAILED'],
  ['WORKFLOW', 'MARKETING', 'FAILED'],
] as const)(
  '%s mail of class %s to a contact that unsubscribed in between is %s',
  async (sourceType, messageClass, status) => {
    const project = await aProject(store.db);
    const contact = await aContact(store.db, project.id, 'ada@example.com');
    await queueMail(store.db, project, contact, 'ada@example.com', { sourceType, messageClass });
    await store.db.count('update contacts set subscribed = false where id = $1', [contact]);
    const mailer = new FakeMailer();
    await deliverAll(deliveryDeps(store.db, mailer), project);
    expect(await ledger(project)).toMatchObject([
      { status, error: status === 'SENT' ? null : 'The contact is not subscribed' },
    ]);
    expect(mailer.sent).toHaveLength(status === 'SENT' ? 1 : 0);
    expect((await eventsOf(project)).map(({ name }) => name)).toEqual([
      status === 'SENT' ? 'email.sent' : 'email.failed',
    ]);
  },
);

test('a project disabled, or a domain no longer verified, in between fails the mail with the reason', async () => {
  const disabled = await aProject(store.db);
  await queueMany(store.db, disabled, 1);
  await store.db.count('update projects set disabled = true where id = $1', [disabled.id]);
  const unverified = await aProject(store.db);
  await queueMany(store.db, unverified, 1);
  await store.db.count('update domains set verified = false where project_id = $1', [unverified.id]);
  const foreign = await aProject(store.db, { domain: null });
  await queueMany(store.db, foreign, 1, { from: unverified.sender });
  const mailer = new FakeMailer();
  for (const project of [disabled, unverified, foreign]) await deliverAll(deliveryDeps(store.db, mailer), project);
  expect(mailer.calls).toEqual([]);
  expect(await ledger(disabled)).toMatchObject([{ status: 'FAILED', error: 'Project is disabled' }]);
  for (const project of [unverified, foreign])
    expect(await ledger(project)).toMatchObject([{ status: 'FAILED', error: 'Sender domain is not verified' }]);
});

test('mail that cannot be rendered fails alone', async () => {
  const project = await aProject(store.db);
  const [bad = '', good = ''] = await queueMany(store.db, project, 2);
  const mailer = new FakeMailer();
  const deps = deliveryDeps(store.db, mailer);
  const compose: QueueDeps['compose'] = (mail) => {
    if (mail.toAddress === bad) throw new Error('no such filter');
    return deps.compose(mail);
  };
  await deliverAll({ ...deps, compose }, project);
  expect(mailer.recipients).toEqual([good]);
  expect((await ledger(project)).find(({ to_address }) => to_address === bad)).toMatchObject({
    status: 'FAILED',
    error: 'The message could not be rendered: no such filter',
  });
});

test('the throttle bounds what leaves in a time and loses nothing', async () => {
  const project = await aProject(store.db, { sendRate: 40 });
  const addresses = await queueMany(store.db, project, 140);
  const mailer = new FakeMailer();
  const started = performance.now();
  const at: number[] = [];
  mailer.onTaken = (_, messages) => {
    for (const _message of messages) at.push((performance.now() - started) / 1000);
  };
  await deliverAll(deliveryDeps(store.db, mailer, { rate: 1000 }), project);
  expectEachOnce(mailer, addresses);
  // The burst of 80 at once, then 40 a second: the nth message may not leave earlier than that allows.
  at.forEach((seconds, n) => {
    expect(n + 1).toBeLessThanOrEqual(80 + 40 * seconds + 1);
  });
});

test('files of many megabytes are claimed a few at a time, and dropped from the ledger once sent', async () => {
  const project = await aProject(store.db);
  await queueMany(store.db, project, 5);
  // Postgres would store a repeated text small, and so it is told not to.
  await store.db.count('alter table emails alter column attachments set storage external');
  await store.db.count(
    `update emails set attachments = jsonb_build_array(jsonb_build_object(
       'filename', 'a.pdf', 'contentType', 'application/pdf', 'content', repeat('A', 6000000))) where project_id = $1`,
    [project.id],
  );
  const mailer = new FakeMailer();
  await deliverAll(deliveryDeps(store.db, mailer), project);
  expect(mailer.calls.toSorted()).toEqual([1, 2, 2]);
  const kept = await store.db.rows('select attachments from emails where project_id = $1', [project.id]);
  expect(kept).toEqual(
    [1, 2, 3, 4, 5].map(() => ({ attachments: [{ filename: 'a.pdf', contentType: 'application/pdf' }] })),
  );
});

test('texts that the ledger stores small are claimed by what they take in memory', async () => {
  const project = await aProject(store.db);
  // A hundred times smaller in the ledger.
  await queueMany(store.db, project, 5, { content: { subject: 's', body: 'A'.repeat(6_000_000) } });
  const claimOf = (id: string) =>
    claimQueued(store.db, project.id, id, { messages: 500, rate: 0, provider: 'fake' }).then(({ length }) => length);
  expect([await claimOf('small/1'), await claimOf('small/2'), await claimOf('small/3')]).toEqual([2, 2, 1]);
});

test('a run that is told to stop finishes what it claimed and leaves the rest', async () => {
  const project = await aProject(store.db);
  await queueMany(store.db, project, 2600);
  const stop = new AbortController();
  const mailer = new FakeMailer({ latencyMs: 30 });
  mailer.onCall = () => stop.abort();
  const report = await deliverPending(deliveryDeps(store.db, mailer), runOf(project, { stop: stop.signal }), quick);
  expect(report.waitMs).toBe(100);
  expect(report.delivered).toBe(mailer.sent.length);
  const rest = await queued(project);
  expect(rest.length + report.delivered).toBe(2600);
  expect(rest.length).toBeGreaterThan(0);
  expect(rest.every(({ claim_id }) => claim_id === null)).toBe(true);
});

test('a second mail of the same step of an automation is left out', async () => {
  const project = await aProject(store.db);
  const contact = await aContact(store.db, project.id, 'ada@example.com');
  const workflowStepExecutionId = newId();
  for (let n = 0; n < 2; n += 1)
    await queueMail(store.db, project, contact, 'ada@example.com', { sourceType: 'WORKFLOW', workflowStepExecutionId });
  const mailer = new FakeMailer();
  await deliverAll(deliveryDeps(store.db, mailer), project);
  expect(mailer.sent).toHaveLength(1);
  expect(await ledger(project)).toHaveLength(1);
});
