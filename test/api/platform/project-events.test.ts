import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeMovedRuns } from '../../../src/automations/migrating/queries.ts';
import { lockRun, saveRun } from '../../../src/automations/runtime/run-queries.ts';
import { finishSend, revertToDraft } from '../../../src/campaigns/delivery/completion.ts';
import { cancelSend, setPaused, unscheduleSend } from '../../../src/campaigns/state.ts';
import { settleCheck, takeDomain } from '../../../src/domains/queries.ts';
import { finishJob } from '../../../src/imports/queries.ts';
import { feedEndpoint } from '../../../src/insight/webhooks/feed.ts';
import { newId } from '../../../src/lib/ids.ts';
import { noteCall } from '../../../src/mail/engine/breaker.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { anAutomation, letIn } from '../../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact } from '../../support/delivery-fixtures.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
});
afterAll(async () => {
  await api.close();
  await database.close();
});

const run = (text: string, ...values: unknown[]) => database.db.count(text, values);

/** Names and data of the events that an endpoint of the project gets, in their order. */
async function delivered(project: TestProject, endpointId: string): Promise<[string, Record<string, unknown>][]> {
  // What was written is behind the horizon when nobody is writing any more.
  await expect
    .poll(async () => {
      await feedEndpoint(database.db, endpointId);
      const row = await database.db.row<{ behind: boolean }>(
        `select exists (select from events v join webhook_endpoints w on w.project_id = v.project_id
           where w.id = $1 and v.created_at >= w.cursor_at) as behind`,
        [endpointId],
      );
      return row?.behind;
    })
    .toBe(false);
  const rows = await database.db.rows<{ name: string; data: Record<string, unknown>; contact: string | null }>(
    `select d.event_name as name, v.data, v.contact_id as contact from webhook_deliveries d join events v on v.id = d.event_id
     where d.endpoint_id = $1 and v.project_id = $2 order by d.sequence`,
    [endpointId, project.id],
  );
  expect(rows.filter(({ contact }) => contact !== null)).toEqual([]);
  return rows.map(({ name, data }) => [name, data]);
}

async function anEndpoint(project: TestProject, events: string[]): Promise<string> {
  const url = 'http://127.0.0.1:9/';
  const { body } = await api.call(project.secretKey, 'POST', '/webhook-endpoints', { url, events });
  return body.id;
}

async function aCampaign(project: TestProject, status: string): Promise<string> {
  const { body } = await api.call(project.secretKey, 'POST', '/campaigns', {
    name: 'News',
    subject: 'News',
    body: '<p>News</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const id: string = body.data.id;
  await run(
    'update campaigns set status = $2, send_seq = 1, total_recipients = 5, sent_count = 3 where id = $1',
    id,
    status,
  );
  await run(
    'insert into campaign_sends (campaign_id, send_seq, project_id, expanded) values ($1, 1, $2, true)',
    id,
    project.id,
  );
  return id;
}

test('campaigns tell when they are sent, paused, held by the provider and cancelled', async () => {
  const project = await aProject(database);
  const endpoint = await anEndpoint(project, ['campaign.*']);
  const id = await aCampaign(project, 'SENDING');
  for (const paused of [true, true, false]) await setPaused(database.db, id, 1, paused, paused ? 'reputation' : null);
  const provider = `held-${newId()}`;
  for (const _ of [1, 2])
    await noteCall(database.db, provider, { ok: false, reason: 'refused', afterMs: null, account: true }, true);
  await run(`update campaigns set sent_count = 5 where id = $1`, id);
  expect(await finishSend(database.db, id, 1)).toBe(true);
  expect(await finishSend(database.db, id, 1)).toBe(false);
  const cancelled = await aCampaign(project, 'SENDING');
  for (const _ of [1, 2]) await cancelSend(database.db, cancelled, 1);
  await revertToDraft(database.db, cancelled, 1);
  const [unscheduled, reverted] = [await aCampaign(project, 'SCHEDULED'), await aCampaign(project, 'SCHEDULED')];
  await unscheduleSend(database.db, unscheduled, 1);
  await unscheduleSend(database.db, reverted, 1, 'No domain');
  const events = await delivered(project, endpoint);
  const counts = { campaignName: 'News', recipients: 5, skipped: 0, failed: 0 };
  expect(events).toEqual([
    ['campaign.paused', { campaignId: id, sent: 3, ...counts, reason: 'reputation' }],
    ['campaign.held', { campaignId: id, sent: 3, ...counts, provider, reason: 'refused' }],
    ['campaign.sent', { campaignId: id, ...counts, recipients: 0, sent: 0 }],
    ['campaign.cancelled', { campaignId: cancelled, sent: 3, ...counts }],
    ['campaign.cancelled', { campaignId: unscheduled, sent: 3, ...counts }],
    ['campaign.reverted', { campaignId: reverted, campaignName: 'News', reason: 'No domain' }],
  ]);
});

test('imports tell when they finish, and domains when they are verified or lost', async () => {
  const project = await aProject(database);
  const endpoint = await anEndpoint(project, ['import.finished', 'domain.verified', 'domain.lost']);
  const [jobId, bulkId] = [`import-${newId()}`, `bulk-subscribe-${newId()}`];
  await run(
    `insert into jobs (id, project_id, kind, spec) values ($1, $3, 'import', '{"filename": "a.csv"}'), ($2, $3, 'bulk', '{}')`,
    jobId,
    bulkId,
    project.id,
  );
  await run('update jobs set total_count = 2, created_count = 2 where project_id = $1', project.id);
  for (const id of [jobId, jobId, bulkId]) await finishJob(database.db, id, null);
  const domain = await database.db.row<{ id: string }>('select id from domains where project_id = $1', [project.id]);
  for (const verified of [false, false, true]) {
    const before = await takeDomain(database.db, domain?.id ?? '', 0);
    if (before !== null) await database.db.transaction((tx) => settleCheck(tx, before, { ...before, verified }));
  }
  const counts = { total: 2, created: 2, updated: 0, failed: 0 };
  expect(await delivered(project, endpoint)).toEqual([
    ['import.finished', { importId: jobId, filename: 'a.csv', state: 'completed', error: null, ...counts }],
    ['domain.lost', { domainId: domain?.id, domain: project.domain }],
    ['domain.verified', { domainId: domain?.id, domain: project.domain }],
  ]);
});

test('workflow executions tell how they ended while an endpoint listens, and cost nothing before', async () => {
  const project = await aProject(database);
  const automation = await anAutomation(database.db, project.id, {
    steps: { pause: ['DELAY', { amount: 1, unit: 'days' }] },
  });
  const people = await Promise.all(
    [1, 2, 3, 4].map((n) => aContact(database.db, project.id, `p${n}-${newId()}@example.org`)),
  );
  const [silent, finished, failed, waiting] = (await letIn(database.db, automation, people)).map(({ id }) => id);
  const end = (id: string | undefined, status: 'COMPLETED' | 'FAILED') =>
    database.db.transaction(async (tx) => {
      const run = await lockRun(tx, id ?? '');
      if (run === null) throw new Error(`The run ${id} is gone`);
      await saveRun(tx, { ...run, status, exitReason: 'done', dueAt: null, completedAt: run.now }, []);
    });
  await end(silent, 'COMPLETED');
  const endpoint = await anEndpoint(project, ['workflow.*']);
  await writeMovedRuns(database.db, [
    { id: finished ?? '', status: 'EXITED', reason: 'done' },
    { id: waiting ?? '', status: 'RUNNING' },
  ]);
  await end(failed, 'FAILED');
  const facts = {
    workflowId: automation.id,
    reason: 'done',
    workflowName: expect.any(String),
    contactId: expect.any(String),
  };
  expect(await delivered(project, endpoint)).toEqual([
    ['workflow.finished', { executionId: finished, status: 'EXITED', ...facts }],
    ['workflow.failed', { executionId: failed, status: 'FAILED', ...facts }],
  ]);
  expect(
    await database.db.rows(`select id from events where project_id = $1 and name like 'workflow.%'`, [project.id]),
  ).toHaveLength(2);
});
