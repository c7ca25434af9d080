import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSesMailer } from '../../src/domains/providers/ses/ses.ts';
import { createSmtpMailer } from '../../src/domains/providers/smtp/smtp.ts';
import { createJournal } from '../../src/mail/providers/journal.ts';
import {
  aCampaign,
  campaignActivitiesFor,
  campaignRow,
  contacts,
  ledgerOf,
  started,
} from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject } from '../support/delivery-fixtures.ts';
import { sesError, sesServer } from '../support/ses-server.ts';
import { smtpServer } from '../support/smtp.ts';
import { testWorker } from '../support/worker.ts';

const silent = { info: () => undefined, warn: () => undefined };
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

test('a campaign by SMTP whose answers get lost: each recipient once, the doubtful ones named, and it adds up', async () => {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 30);
  const campaign = await aCampaign(db.db, project);
  const smtp = await smtpServer();
  // Every tenth message is taken, and the connection ends in place of an answer.
  smtp.onMessage = ({ to }) => (/-\d?5@/.test(to[0] ?? '') ? 'drop' : undefined);
  const mailer = createSmtpMailer({
    host: smtp.host,
    port: smtp.port,
    secure: false,
    requireTls: false,
    user: null,
    password: null,
    connections: 1,
    maxMessageBytes: 25 * 1024 * 1024,
    keyOf: async () => null,
    journal: createJournal(db.db, silent),
    log: silent,
  });
  await using worker = await testWorker({ activities: campaignActivitiesFor(db.db, mailer), queues: ['campaign'] });
  const start = await started(db.db, project.id, campaign);
  await worker.perform(start);
  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 27, failed: 3 });
  await smtp.close();

  expect(smtp.taken.flatMap(({ to }) => to).toSorted()).toEqual(
    Array.from({ length: 30 }, (_, n) => `watcher-${n + 1}@example.com`).toSorted(),
  );
  expect(await ledgerOf(db.db, campaign)).toEqual({ SENT: 27, 'FAILED: submission unknown': 3 });
  expect(await campaignRow(db.db, campaign)).toMatchObject({ status: 'SENT', total: 30, sent: 27, failed: 3 });
});

test('a campaign by Amazon SES that throttles and refuses: each recipient once, each with its verdict', async () => {
  const project = await aProject(db.db);
  await contacts(db.db, project.id, 30);
  const campaign = await aCampaign(db.db, project);
  const ses = await sesServer();
  let calls = 0;
  ses.fault = (response, { to }) => {
    calls += 1;
    if (calls % 12 === 0) return sesError(response, 429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
    return to[0] === 'watcher-7@example.com' ? sesError(response, 400, 'MessageRejected', 'Bad content') : undefined;
  };
  const mailer = createSesMailer({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
    endpoint: ses.url,
    configurationSet: 'fernpost',
    configurationSetWithoutTracking: null,
    connections: 10,
    reported: true,
    journal: createJournal(db.db, silent),
    log: silent,
  });
  await using worker = await testWorker({ activities: campaignActivitiesFor(db.db, mailer), queues: ['campaign'] });
  const start = await started(db.db, project.id, campaign);
  await worker.perform(start);
  expect(await worker.result(start.id)).toMatchObject({ status: 'SENT', sent: 29, failed: 1 });
  await ses.close();

  const reached = ses.taken.flatMap(({ to }) => to);
  expect(new Set(reached).size).toBe(29);
  expect(reached).toHaveLength(29);
  expect(ses.taken.every(({ mime }) => /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m.test(mime))).toBe(true);
  expect(await ledgerOf(db.db, campaign)).toEqual({
    SENT: 29,
    'FAILED: Refused by the provider (400): Bad content': 1,
  });
});
