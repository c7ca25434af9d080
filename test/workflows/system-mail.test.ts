import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemMailActivities } from '../../activities/mail.ts';
import { queueMemberMails, queueSystemMails, startOfMail } from '../../src/accounts/system-mail/service.ts';
import { createConnectionLimiter, createSingleMailer } from '../../src/domains/providers/one-by-one.ts';
import { receivePostmark } from '../../src/feedback/reports/webhooks.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import { newId } from '../../src/lib/ids.ts';
import { createJournal } from '../../src/mail/providers/journal.ts';
import { recoverableMails, sendSystemMail } from '../../src/mail/system-mail.ts';
import { createRecovery } from '../../src/store/outbox/recovery.ts';
import { aProject } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { FakeMailer } from '../support/mailer.ts';
import { aPerson, joins } from '../support/people.ts';
import { testWorker } from '../support/worker.ts';

let db: TestDatabase;
const config = readConfig({});
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

const deps = (mailer: FakeMailer) => ({
  db: db.db,
  mailer,
  log: pino({ level: 'silent' }),
  encryptionKey: config.APP_ENCRYPTION_KEY,
  from: { address: 'no-reply@harbourmail.test', name: 'Fernpost' },
  lagMs: 50,
});

async function queued(to: string): Promise<string> {
  const [ticket] = await queueSystemMails(db.db, config, [
    { kind: 'reset-password', to, language: 'fr-FR', link: 'https://mail.harbour.test/auth/reset-password?token=1' },
  ]);
  return ticket?.workflowId.replace('system-mail/', '') ?? '';
}

const rowOf = (id: string) =>
  db.db.row<{ status: string; content: string | null; message: string | null; error: string | null }>(
    'select status, content_sealed as content, message_id as message, error from system_mails where id = $1',
    [id],
  );

test('a mail of the service reaches the provider once, through an outage, and leaves no ledger row', async () => {
  const mailer = new FakeMailer({ outages: 1, outage: 429, name: 'system-outage' });
  await using worker = await testWorker({ activities: systemMailActivities(deps(mailer)), queues: ['mail'] });
  const id = await queued('petra.holm@harbourmail.test');
  await worker.perform(startOfMail(id));
  expect(await worker.result(startOfMail(id).id)).toBe('sent');
  expect(mailer.sent).toHaveLength(1);
  expect(mailer.sent[0]).toMatchObject({
    to: { address: 'petra.holm@harbourmail.test' },
    from: { address: 'no-reply@harbourmail.test', name: 'Fernpost' },
    subject: 'Choisissez un nouveau mot de passe',
    stream: 'transactional',
    tracking: false,
  });
  expect(await rowOf(id)).toMatchObject({ status: 'SENT', content: null, message: mailer.taken[0]?.messageId });
  const traces = await db.db.row<{ n: number }>(
    'select (select count(*) from emails)::int + (select count(*) from events)::int as n',
  );
  expect(traces?.n).toBe(0);
});

test('a mail whose answer was lost is looked up and not sent twice', async () => {
  const mailer = new FakeMailer({ dropAnswers: 1, name: 'system-lost' });
  await using worker = await testWorker({ activities: systemMailActivities(deps(mailer)), queues: ['mail'] });
  const id = await queued('ruben.voss@harbourmail.test');
  await worker.perform(startOfMail(id));
  expect(await worker.result(startOfMail(id).id)).toBe('sent');
  expect(mailer.sent).toHaveLength(1);
});

test('a mail that never arrived is sent again once it cannot turn up any more', async () => {
  const mailer = new FakeMailer({ lostCalls: 1, name: 'system-never' });
  await using worker = await testWorker({ activities: systemMailActivities(deps(mailer)), queues: ['mail'] });
  const id = await queued('ana.costa@harbourmail.test');
  await worker.perform(startOfMail(id));
  expect(await worker.result(startOfMail(id).id)).toBe('sent');
  expect([mailer.sent.length, mailer.calls.length]).toEqual([1, 2]);
});

test('a mail that may not have reached a provider without a search is handed over again', async () => {
  const log = pino({ level: 'silent' });
  const reached: string[] = [];
  const mailer = createSingleMailer(
    {
      name: 'system-single',
      maxMessageBytes: 1024 * 1024,
      proofMs: 0,
      handOver: async ({ to }) => {
        reached.push(to.address);
        if (reached.length === 1) throw new Error('the connection broke before the answer');
        return { kind: 'accepted', messageId: 'second', at: new Date().toISOString() };
      },
    },
    { journal: createJournal(db.db, log), limiter: createConnectionLimiter(1), log },
  );
  const id = await queued('ines.duarte@harbourmail.test');
  const attempt = () => sendSystemMail({ ...deps(new FakeMailer()), mailer, lagMs: 0 }, id);
  expect(await attempt()).toEqual({ state: 'later', waitMs: 0 });
  expect(await attempt()).toEqual({ state: 'sent' });
  expect(reached).toEqual(['ines.duarte@harbourmail.test', 'ines.duarte@harbourmail.test']);
  expect(await rowOf(id)).toMatchObject({ status: 'SENT', message: 'second' });
});

test('a mail that the provider refuses is given up and says why', async () => {
  const mailer = new FakeMailer({ rejects: { 'gone@harbourmail.test': 406 }, name: 'system-refused' });
  await using worker = await testWorker({ activities: systemMailActivities(deps(mailer)), queues: ['mail'] });
  const id = await queued('gone@harbourmail.test');
  await worker.perform(startOfMail(id));
  expect(await worker.result(startOfMail(id).id)).toBe('failed');
  expect(await rowOf(id)).toMatchObject({ status: 'FAILED', content: null, error: expect.stringContaining('406') });
});

test('a mail whose key has changed waits for it, and is not handed over in the meantime', async () => {
  const mailer = new FakeMailer({ name: 'system-sealed' });
  const id = await queued('locked.away@harbourmail.test');
  const foreign = { ...deps(mailer), encryptionKey: 'another key that is long enough to be one' };
  expect(await sendSystemMail(foreign, id)).toEqual({ state: 'later', waitMs: expect.any(Number) });
  expect(mailer.calls).toEqual([]);
  expect(await rowOf(id)).toMatchObject({ status: 'PENDING', error: expect.stringContaining('APP_ENCRYPTION_KEY') });
  const rotated = { ...foreign, encryptionKey: [foreign.encryptionKey, config.APP_ENCRYPTION_KEY] };
  expect(await sendSystemMail(rotated, id)).toEqual({ state: 'sent' });
  expect(mailer.sent).toMatchObject([{ to: { address: 'locked.away@harbourmail.test' } }]);
});

test('a mail that no execution works on is started again by the reconciler', async () => {
  const id = await queued('left.behind@harbourmail.test');
  await db.db.count(`update system_mails set updated_at = now() - interval '1 hour' where id = $1`, [id]);
  const tickets: string[] = [];
  const recover = createRecovery(
    {
      db: db.db,
      isOpen: async () => false,
      dispatchSoon: (...given) => void tickets.push(...given.map(({ workflowId }) => workflowId)),
    },
    recoverableMails,
  );
  expect(await recover()).toBeGreaterThan(0);
  expect(tickets).toContain(`system-mail/${id}`);
});

test('every member of a project gets a mail once for each key', async () => {
  const project = await aProject(db, 'Lighthouse');
  const member = await aPerson(db.db, config);
  await joins(db.db, project.id, member, 'MEMBER');
  const mail = {
    projectId: project.id,
    kind: 'domain-verified' as const,
    link: 'https://mail.harbour.test/domains',
    values: { domain: project.domain },
    dedupeKey: `domain-verified:${project.domain}`,
  };
  expect(await queueMemberMails(db.db, config, mail)).toHaveLength(2);
  expect(await queueMemberMails(db.db, config, mail)).toHaveLength(0);
});

test('reports about mail of the service are taken and left alone', async () => {
  const body = JSON.stringify({
    RecordType: 'Delivery',
    MessageID: newId(),
    Recipient: 'petra.holm@harbourmail.test',
    DeliveredAt: new Date().toISOString(),
    Metadata: { eid: newId(), pid: '00000000-0000-0000-0000-000000000000' },
  });
  const answer = await receivePostmark(
    {
      db: db.db,
      clock: () => new Date(),
      billing: { freeTier: null, publicDailyEmails: null },
      erasedAddresses: { suppressed: async () => new Set<string>() },
      log: { warn: () => undefined },
    },
    body,
  );
  expect(answer.status).toBe(200);
});

test('a mail of the service probes a provider whose hold is over, for there may be no other mail that does', async () => {
  const mailer = new FakeMailer({ name: 'system-probe' });
  await db.db.count(
    `insert into provider_holds (provider, failures, reason, held_since, held_until)
     values ($1, 5, 'provider answers 503', now() - interval '1 minute', now() - interval '1 second')`,
    [mailer.name],
  );
  const id = await queued('probe@harbour.test');
  expect(await sendSystemMail(deps(mailer), id)).toEqual({ state: 'sent' });
  expect(mailer.sent).toHaveLength(1);
  expect(await db.db.row('select failures, held_until from provider_holds where provider = $1', [mailer.name])).toEqual(
    {
      failures: 0,
      held_until: null,
    },
  );
});
