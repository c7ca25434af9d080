import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { anAutomation, letIn } from '../../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { allOf, dataIs, type SegmentHand, segmentHand } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let own: SegmentHand;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
  own = segmentHand(api, database, project);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

test('the segments of a contact are those it is in now, also of more than one query', async () => {
  const contact = await own.contact('anna@kunde.example', { plan: 'pro' });
  const pro = await own.segment({ name: 'A pro', condition: allOf(dataIs('plan', 'pro')) });
  await own.segment({ name: 'B free', condition: allOf(dataIs('plan', 'free')) });
  const tracked = await own.segment({
    name: 'C tracked',
    trackMembership: true,
    condition: allOf(dataIs('plan', 'pro')),
  });
  await own.call('POST', `/segments/${tracked.id}/compute`);
  const hand = await own.segment({ name: 'D by hand', type: 'STATIC' });
  await own.call('POST', `/segments/${hand.id}/members`, { emails: ['anna@kunde.example'] });
  const left = await own.segment({ name: 'E left', type: 'STATIC' });
  await own.call('POST', `/segments/${left.id}/members`, { emails: ['anna@kunde.example'] });
  await own.call('DELETE', `/segments/${left.id}/members`, { emails: ['anna@kunde.example'] });
  const outside = allOf({ field: `segment.${pro.id}`, operator: 'notMemberOfSegment' });
  await own.segment({ name: 'F outside', condition: outside });
  for (const index of Array.from({ length: 55 }).keys())
    await own.segment({ name: `X ${index}`, condition: allOf(dataIs('plan', index === 54 ? 'pro' : 'none')) });
  const { body } = await own.call('GET', `/contacts/${contact}/segments`);
  expect(body.data).toEqual([
    { id: pro.id, name: 'A pro', type: 'DYNAMIC', enteredAt: null },
    { id: tracked.id, name: 'C tracked', type: 'DYNAMIC', enteredAt: expect.any(String) },
    { id: hand.id, name: 'D by hand', type: 'STATIC', enteredAt: expect.any(String) },
    expect.objectContaining({ name: 'X 54' }),
  ]);
});

test('the executions of a contact are those of any workflow, the latest first', async () => {
  const contact = await own.contact('ben@kunde.example');
  const other = await own.contact('cleo@kunde.example');
  const first = await anAutomation(database.db, project.id, {
    steps: { pause: ['DELAY', { amount: 1, unit: 'days' }] },
  });
  const second = await anAutomation(database.db, project.id, {
    steps: { pause: ['DELAY', { amount: 1, unit: 'days' }] },
  });
  const [one] = await letIn(database.db, first, [contact]);
  const [two] = await letIn(database.db, second, [contact]);
  await letIn(database.db, second, [other]);
  await database.db.count(`update automation_runs set started_at = started_at - interval '1 hour' where id = $1`, [
    one?.id,
  ]);
  const { body } = await own.call('GET', `/contacts/${contact}/executions`);
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual([two?.id, one?.id]);
  expect(body.data[1]).toMatchObject({ contactId: contact, workflow: { id: first.id, name: expect.any(String) } });
});
