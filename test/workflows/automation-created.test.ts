import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyTrash } from '../../src/contacts/trash-queries.ts';
import type { Database } from '../../src/store/sql.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { automationRuntime, enrolPending, runOf } from '../support/automation-fixtures.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { jobsWorker } from '../support/jobs.ts';
import { addresses, allOf, dataIs } from '../support/segments.ts';
import { jobDone, uploaded } from '../support/uploads.ts';
import type { TestWorker } from '../support/worker.ts';

let database: TestDatabase;
let db: Database;
let worker: TestWorker;
let api: TestApi;
let project: TestProject;
let own: AutomationHand;
let used = 0;
const anAddress = () => addresses(1, used++)[0] ?? '';

beforeAll(async () => {
  database = await testDatabase();
  db = database.db;
  worker = await jobsWorker(database);
  api = await testApi(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database);
  own = automationHand(api, project);
});
afterAll(async () => {
  await api.close();
  await worker.stop();
  await database.close();
});

async function started(triggerConfig: object | null = null, hand = own): Promise<string> {
  const { id } = await hand.automation({ triggerType: 'CONTACT_CREATED', triggerConfig });
  await hand.step(id, 'DELAY', { amount: 1, unit: 'days' });
  await hand.enable(id);
  return id;
}
const pending = async (automationId: string) => {
  const rows = await db.rows<{ contact: string; event: string }>(
    'select contact_id as contact, event_id as event from automation_arrivals where automation_id = $1 order by event_id',
    [automationId],
  );
  for (const { contact, event } of rows) expect(event).toBe(contact);
  return rows.map(({ contact }) => contact);
};
/** Those who have entered, by their addresses. */
const inside = async (automationId: string) => {
  await enrolPending(db);
  const rows = await db.rows<{ email: string }>(
    `select c.email from automation_runs r join contacts c on c.id = r.contact_id and r.source_event_id = c.id
     where r.automation_id = $1 order by r.id`,
    [automationId],
  );
  return rows.map(({ email }) => email).sort();
};

describe('a new contact starts a workflow once, however it is created', () => {
  const ways: [string, (email: string) => Promise<unknown>][] = [
    ['POST /contacts', (email) => own.done('POST', '/contacts', { email })],
    ['POST /v1/track', (email) => api.call(project.publicKey, 'POST', '/v1/track', { email, event: 'visited' })],
    [
      'POST /v1/send',
      (to) => own.done('POST', '/v1/send', { to, subject: 'Hello', body: '<p>Hello</p>', from: project.sender }),
    ],
    [
      'a member of a static segment',
      async (email) => {
        const segment = await own.done('POST', '/segments', { name: 'Guests', type: 'STATIC' });
        await own.done('POST', `/segments/${segment.id}/members`, { emails: [email], createMissing: true });
      },
    ],
  ];
  test.each(ways)('%s', async (_way, create) => {
    const id = await started();
    const email = anAddress();
    await create(email);
    expect(await pending(id)).toHaveLength(1);
    await create(email);
    expect(await pending(id)).toHaveLength(1);
    expect(await inside(id)).toEqual([email]);
    await create(email);
    expect(await pending(id)).toEqual([]);
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
  });

  test('many in one request, and none while the workflow is disabled', async () => {
    const id = await started();
    const emails = [anAddress(), anAddress(), anAddress()];
    const segment = await own.done('POST', '/segments', { name: 'Many', type: 'STATIC' });
    await own.done('POST', `/segments/${segment.id}/members`, { emails, createMissing: true });
    expect(await inside(id)).toEqual(emails.toSorted());
    await own.done('PATCH', `/workflows/${id}`, { enabled: false });
    await own.contact(anAddress());
    expect(await pending(id)).toEqual([]);
  });
});

test('a contact that comes back from the trash is not new; one that is created after a deletion is', async () => {
  const id = await started();
  const email = anAddress();
  const contact = await own.contact(email);
  expect(await inside(id)).toEqual([email]);
  await own.done('DELETE', `/contacts/${contact}?restorable=true`);
  await own.done('POST', `/contacts/${contact}/restore`);
  expect(await pending(id)).toEqual([]);
  await own.done('DELETE', `/contacts/${contact}`);
  await emptyTrash(db, 100);
  const again = await own.contact(email);
  expect(again).not.toBe(contact);
  expect(await pending(id)).toEqual([again]);
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
});

test('an import starts only workflows that ask for imports, and its undo and redo start none', async () => {
  const [without, withImports] = [await started(), await started({ imports: true })];
  const emails = [anAddress(), anAddress(), anAddress()];
  const jobId = await uploaded(api, project, `email\n${emails.join('\n')}\n`);
  await jobDone(api, project, `/contacts/import/${jobId}`);
  expect(await pending(without)).toEqual([]);
  expect(await inside(withImports)).toEqual(emails.toSorted());
  const undone = async (job: string) => {
    const kind = job.startsWith('import-') ? 'import' : 'bulk';
    const { jobId } = await own.done('POST', `/contacts/${kind}/${job}/undo`, {});
    await jobDone(api, project, `/contacts/bulk/${jobId}`);
    return jobId;
  };
  await undone(await undone(jobId));
  expect(await pending(withImports)).toEqual([]);
  for (const id of [without, withImports]) await own.done('PATCH', `/workflows/${id}`, { enabled: false });
});

test('a condition lets in only new contacts that match it, and nobody where it cannot be read', async () => {
  const id = await started({ audienceCondition: allOf(dataIs('plan', 'pro')) });
  const [pro, free] = [anAddress(), anAddress()];
  await own.contact(free, { plan: 'free' });
  await own.contact(pro, { plan: 'pro' });
  expect(await inside(id)).toEqual([pro]);
  const unreadable = JSON.stringify({ audienceCondition: { logic: 'AND', groups: [{ filters: [{ field: 'x' }] }] } });
  await db.count(`update automation_steps set config = $2 where automation_id = $1 and type = 'TRIGGER'`, [
    id,
    unreadable,
  ]);
  await own.contact(anAddress(), { plan: 'pro' });
  expect(await inside(id)).toEqual([pro]);
  expect(await pending(id)).toEqual([]);
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
});

test('contacts of another project start nothing here', async () => {
  const id = await started({ imports: true });
  await automationHand(api, await aProject(database)).contact(anAddress());
  expect(await pending(id)).toEqual([]);
  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
});

test('what is wrong with the trigger is named when the workflow is enabled, and by the list of issues', async () => {
  const { id } = await own.automation({ triggerType: 'CONTACT_CREATED' });
  const member = { field: `segment.${crypto.randomUUID()}`, operator: 'memberOfSegment' };
  const byTrigger = { field: 'trigger.plan', operator: 'equals', value: 'pro' };
  for (const [triggerConfig, field] of [
    [{ imports: 'yes' }, 'triggerConfig.imports'],
    [{ audienceCondition: [] }, 'triggerConfig.audienceCondition'],
    [{ audienceCondition: allOf({ field: 'data.x' }) }, 'triggerConfig.audienceCondition'],
    [{ audienceCondition: allOf(member) }, 'triggerConfig.audienceCondition'],
    [{ audienceCondition: allOf(byTrigger) }, 'triggerConfig.audienceCondition'],
  ] as const) {
    const { status, body } = await own.call('PATCH', `/workflows/${id}`, { triggerConfig, enabled: true });
    expect([status, body.error.errors[0].field]).toEqual([422, field]);
    await own.done('PATCH', `/workflows/${id}`, { triggerConfig });
    expect((await own.done('GET', `/workflows/${id}`)).issues[0].field).toBe(field);
  }
});

test('a test run says whether the contact would enter', async () => {
  const { id } = await own.automation({
    triggerType: 'CONTACT_CREATED',
    triggerConfig: { audienceCondition: allOf(dataIs('plan', 'pro')) },
  });
  const tried = async (plan: string) =>
    own.done('POST', `/workflows/${id}/test-run`, { contactId: await own.contact(anAddress(), { plan }) });
  expect(await tried('pro')).toMatchObject({ end: 'COMPLETED' });
  expect(await tried('free')).toMatchObject({ end: 'EXITED', reason: 'The contact does not match the trigger' });
});

test('the segments and fields of the condition are in use by the workflow', async () => {
  const segment = await own.done('POST', '/segments', {
    name: 'Newcomers',
    type: 'DYNAMIC',
    condition: allOf(dataIs('plan', 'pro')),
  });
  const member = { field: `segment.${segment.id}`, operator: 'memberOfSegment' };
  const { id } = await own.automation({
    triggerType: 'CONTACT_CREATED',
    triggerConfig: { audienceCondition: allOf(member, dataIs('origin', 'fair')) },
  });
  expect((await own.call('DELETE', `/segments/${segment.id}`)).status).toBe(409);
  const { usedInWorkflows } = await own.done('GET', '/contacts/fields/data.origin/usage');
  expect(usedInWorkflows).toMatchObject([{ id }]);
});

test('a run of a new contact goes to its end', async () => {
  await using _runtime = await automationRuntime(database);
  const { id } = await own.automation({ triggerType: 'CONTACT_CREATED' });
  await own.step(id, 'UPDATE_CONTACT', { updates: { welcomed: true } });
  await own.enable(id);
  const contact = await own.contact(anAddress());
  await expect.poll(() => runOf(db, id).catch(() => null), { timeout: 30_000 }).toMatchObject({ status: 'COMPLETED' });
  const { steps } = await runOf(db, id);
  expect(steps[0]?.output).toMatchObject({ triggered: true, eventName: 'contact.created' });
  expect((await own.done('GET', `/contacts/${contact}`)).data).toMatchObject({ welcomed: true });
});
