import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emailActivities } from '../../activities/mail.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import { composeQueued, createComposer } from '../../src/mail/engine/compose.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { deliveryDeps } from '../support/delivery-fixtures.ts';
import { FakeMailer } from '../support/mailer.ts';
import { testWorker } from '../support/worker.ts';

let store: TestDatabase;
let api: TestApi;
beforeAll(async () => {
  store = await testDatabase();
  api = await testApi(store);
});
afterAll(async () => {
  await api.close();
  await store.close();
});

const pace = { claims: 4, lingerMs: 100, longestMs: 5000 };

// Asks for more steps than a template has, and is another one for each number.
const endless = (n: number) =>
  `${n}{% for a in (1..1000) %}{% for b in (1..1000) %}{{ b | times: a }}{% endfor %}{% endfor %}`;

async function send(project: TestProject, to: string, body: string): Promise<string> {
  const answer = await api.call(project.secretKey, 'POST', '/v1/send', {
    to,
    from: project.sender,
    subject: 'A heron',
    body,
  });
  expect(answer.status).toBe(200);
  return answer.body.data.emails[0].email;
}

const rowOf = (id: string) =>
  store.db.row<{ status: string; error: string | null }>(
    'select status, mail_reason_text(reason) as error from emails where id = $1',
    [id],
  );

test('hostile templates sent by POST /v1/send end as FAILED with the reason, and other projects’ mail is delivered', async () => {
  const [hostile, quiet] = [await aProject(store, 'Hostile'), await aProject(store, 'Quiet')];
  const mailer = new FakeMailer({ name: 'hostile' });
  const composer = createComposer(readConfig({}), { warn: () => undefined });
  const deps = deliveryDeps(store.db, mailer, { compose: (mail) => composeQueued(composer, mail) });
  await using _worker = await testWorker({
    activities: emailActivities({ ...deps, stopping: new AbortController().signal, pace }),
    queues: ['mail'],
    queuePrefix: api.config.TEMPORAL_TASK_QUEUE,
  });
  const bad: string[] = [];
  for (let n = 0; n < 4; n += 1) bad.push(await send(hostile, `victim-${n}@example.com`, endless(n)));
  const good = await send(quiet, 'ada@example.com', 'Look up.');
  const open = async () =>
    (await store.db.row('select from email_queue where project_id = any($1::uuid[]) limit 1', [
      [hostile.id, quiet.id],
    ])) !== null;
  while (await open()) await sleep(50);

  expect(await rowOf(good)).toEqual({ status: 'SENT', error: null });
  expect(mailer.recipients).toEqual(['ada@example.com']);
  for (const id of bad)
    expect(await rowOf(id)).toEqual({
      status: 'FAILED',
      error: expect.stringMatching(
        /^The message could not be rendered: The template takes more than [\d,]+ steps to render$/,
      ),
    });
});
