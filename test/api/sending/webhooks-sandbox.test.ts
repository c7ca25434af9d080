import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostmarkMailer } from '../../../src/domains/providers/postmark/postmark.ts';
import { newId } from '../../../src/lib/ids.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, aProject, plainly, queueMail } from '../../support/delivery-fixtures.ts';

let store: TestDatabase;
let api: TestApi;
let sandbox: Sandbox;
beforeAll(async () => {
  store = await testDatabase();
  api = await testApi(store);
  sandbox = await createSandbox({
    host: '127.0.0.1',
    port: 0,
    dataDir: null,
    webhookUrl: `${api.url}/webhooks/postmark`,
    webhookUser: api.config.POSTMARK_WEBHOOK_USER ?? '',
    webhookPassword: api.config.POSTMARK_WEBHOOK_PASSWORD ?? '',
    delayMs: 0,
  });
});
afterAll(async () => {
  await sandbox?.close();
  await api?.close();
  await store?.close();
});

test('what the provider reports of each kind of recipient ends in its mail, its contact and its events', async () => {
  const project = await aProject(store.db);
  const expected: Record<string, { status: string; subscribed: boolean; events: string[] }> = {
    delivered: { status: 'DELIVERED', subscribed: true, events: ['email.sent', 'email.delivery'] },
    open: { status: 'OPENED', subscribed: true, events: ['email.sent', 'email.delivery', 'email.open'] },
    click: {
      status: 'CLICKED',
      subscribed: true,
      events: ['email.sent', 'email.delivery', 'email.open', 'email.click'],
    },
    hardbounce: {
      status: 'BOUNCED',
      subscribed: false,
      events: ['email.sent', 'contact.unsubscribed', 'email.bounce'],
    },
    softbounce: { status: 'SENT', subscribed: true, events: ['email.sent', 'email.bounce'] },
    complaint: {
      status: 'COMPLAINED',
      subscribed: false,
      events: ['email.sent', 'email.delivery', 'contact.unsubscribed', 'email.complaint'],
    },
    unsubscribe: {
      status: 'DELIVERED',
      subscribed: false,
      events: ['email.sent', 'email.delivery', 'contact.unsubscribed'],
    },
    ooto: { status: 'DELIVERED', subscribed: true, events: ['email.sent', 'email.delivery', 'email.bounce'] },
    inactive: { status: 'BOUNCED', subscribed: false, events: ['contact.unsubscribed', 'email.bounce'] },
    invalid: { status: 'FAILED', subscribed: true, events: ['email.failed'] },
  };
  for (const local of Object.keys(expected)) {
    const contactId = await aContact(store.db, project.id, `${local}@example.com`);
    await queueMail(store.db, project, contactId, `${local}@example.com`, {
      content: { subject: 'Hi', body: '<a href="https://acme.test/start">Start</a>' },
    });
  }
  const silent = () => undefined;
  const mailer = createPostmarkMailer({
    serverToken: 'sandbox',
    apiUrl: sandbox.url,
    streams: { transactional: 'outbound', broadcast: 'broadcast' },
    log: { warn: silent },
  });
  const deps = { db: store.db, mailer, compose: plainly, log: { info: silent, warn: silent }, rate: 0, lagMs: 0 };
  const run = { projectId: project.id, prefix: `${newId()}/1/`, attempt: 1, stop: new AbortController().signal };
  await deliverPending(deps, run, { claims: 2, lingerMs: 0, longestMs: 600_000 });

  const seen = async () => {
    const rows = await store.db.rows<{ local: string; status: string; subscribed: boolean; events: string[] | null }>(
      `select split_part(e.to_address, '@', 1) as local, e.status, c.subscribed,
         (select array_agg(v.name order by v.name) from events v where v.contact_id = c.id) as events
       from emails e join contacts c on c.id = e.contact_id where e.project_id = $1`,
      [project.id],
    );
    return Object.fromEntries(rows.map(({ local, events, ...row }) => [local, { ...row, events: events ?? [] }]));
  };
  const wanted = Object.fromEntries(
    Object.entries(expected).map(([local, row]) => [local, { ...row, events: row.events.toSorted() }]),
  );
  await expect.poll(seen, { interval: 100 }).toEqual(wanted);
});

test('mail that is sent into the sandbox arrives as a contact, a RECEIVED mail and an event', async () => {
  const project = await aProject(store.db);
  const mail = {
    from: 'Bob Heron <bob@reader.test>',
    to: project.sender,
    subject: 'A heron',
    html: '<p>Look up<script>x</script></p>',
  };
  const answer = await fetch(`${sandbox.url}/api/inbound`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(mail),
  });
  expect(answer.ok).toBe(true);
  const seen = () =>
    store.db.row(
      `select e.status, e.subject, e.body, c.email, v.name, v.data ->> 'spamVerdict' as spam, v.data ->> 'spfVerdict' as spf
       from emails e join contacts c on c.id = e.contact_id join events v on v.email_id = e.id where e.project_id = $1`,
      [project.id],
    );
  await expect.poll(seen).toEqual({
    status: 'RECEIVED',
    subject: 'A heron',
    body: '<p>Look up</p>',
    email: 'bob@reader.test',
    name: 'email.received',
    spam: 'PASS',
    spf: 'PASS',
  });
});
