import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, testApi } from '../../support/api.ts';
import { type AutomationHand, automationHand } from '../../support/automations.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { addresses } from '../../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let hand: AutomationHand;
let workflow: string;
let names: Map<string, string>;
const [pro = '', free = '', gone = ''] = addresses(3);
const contacts: Record<string, string> = {};

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  hand = automationHand(api, await aProject(database));
  contacts.pro = await hand.contact(pro, { firstName: 'Anna', plan: 'pro' });
  contacts.free = await hand.contact(free, { firstName: 'Ben', plan: 'free' });
  contacts.gone = await hand.contact(gone, { plan: 'pro' });
  await hand.done('PATCH', `/contacts/${contacts.gone}`, { subscribed: false });
  await onboarding();
});
afterAll(async () => {
  await api.close();
  await database.close();
});

/** Asks for the plan, greets, mails, waits two days, then an hour for an order, and calls a webhook. */
async function onboarding(): Promise<void> {
  const { id, trigger } = await hand.automation();
  const step = (type: string, name: string, config = {}, more = {}) =>
    hand.step(id, type, config, { name, autoConnect: false, ...more });
  const asks = await step('CONDITION', 'Pro?', { field: 'data.plan', operator: 'equals', value: 'pro' });
  const greets = await step('UPDATE_CONTACT', 'Greet', { updates: { greeted: true, plan: null } });
  const checks = await step('CONDITION', 'Greeted?', { field: 'data.greeted', operator: 'equals', value: true });
  const templateId = await hand.template();
  const mails = await step('SEND_EMAIL', 'Welcome', {}, { templateId });
  const delays = await step('DELAY', 'Two days', { amount: 2, unit: 'days' });
  const waits = await step('WAIT_FOR_EVENT', 'Order', { eventName: 'order.placed', timeout: 3600 });
  const calls = await step('WEBHOOK', 'CRM', { url: 'https://crm.example.com/{{ total }}', method: 'PUT' });
  const exits = await step('EXIT', 'Too late', { reason: 'no_order' });
  await hand.connect(id, trigger, asks);
  await hand.connect(id, asks, greets, { condition: { branch: 'yes' } });
  await hand.connect(id, greets, checks);
  await hand.connect(id, checks, mails, { condition: { branch: 'yes' } });
  await hand.connect(id, mails, delays);
  await hand.connect(id, delays, waits);
  await hand.connect(id, waits, calls, { waitOutcome: 'EVENT' });
  await hand.connect(id, waits, exits, { waitOutcome: 'TIMEOUT' });
  workflow = id;
  const { steps } = await hand.done('GET', `/workflows/${id}`);
  names = new Map(steps.map((one: { id: string; name: string }) => [one.id, one.name]));
}

const tried = (body: object) => hand.call('POST', `/workflows/${workflow}/test-run`, body);
/** Everything that a run could leave. */
const traces = () =>
  database.db.rows(`select (select count(*)::int from automation_runs) as runs, (select count(*)::int from emails) as emails,
    (select count(*)::int from events) as events, (select count(*)::int from outbox) as calls,
    (select jsonb_agg(data order by id) from contacts) as contacts`);

test('follows a contact to the end, in the time that it would take, and leaves nothing behind', async () => {
  const before = await traces();
  const { status, body } = await tried({ contactId: contacts.pro, waitData: { total: 620 } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ end: 'COMPLETED', reason: null });
  const [first] = body.steps;
  expect(body.steps.map((step: { stepId: string; outcome: string }) => [names.get(step.stepId), step.outcome])).toEqual(
    [first.name, 'Pro?', 'Greet', 'Greeted?', 'Welcome', 'Two days', 'Order', 'CRM'].map((name) => [name, 'COMPLETED']),
  );
  const outputOf = (name: string) => body.steps.find((step: { name: string }) => step.name === name).output;
  expect(outputOf('Pro?')).toMatchObject({ actualValue: 'pro', expectedValue: 'pro', branch: 'yes' });
  expect(outputOf('Greet')).toMatchObject({ newData: { firstName: 'Anna', greeted: true } });
  expect(outputOf('Greet').newData).not.toHaveProperty('plan');
  expect(outputOf('Welcome')).toMatchObject({ subject: 'Hi Anna', recipientEmail: pro });
  expect(outputOf('Order')).toEqual({ eventName: 'order.placed', waitOutcome: 'EVENT' });
  expect(outputOf('CRM')).toEqual({ method: 'PUT', url: 'https://crm.example.com/620' });
  expect(Date.parse(body.endsAt) - Date.parse(first.at)).toBe(2 * 86_400_000);
  expect(await traces()).toEqual(before);
});

test('waits that time out take their path, an hour later', async () => {
  const { body } = await tried({ contactId: contacts.pro, waits: 'TIMEOUT' });
  expect(body).toMatchObject({ end: 'EXITED', reason: 'no_order' });
  expect(body.steps.at(-1).name).toBe('Too late');
  expect(Date.parse(body.endsAt) - Date.parse(body.steps[0].at)).toBe(2 * 86_400_000 + 3_600_000);
});

test('ends where a condition has no path for a contact', async () => {
  const { body } = await tried({ contactId: contacts.free });
  expect(body.end).toBe('COMPLETED');
  expect(body.steps).toHaveLength(2);
  expect(body.steps[1].output).toMatchObject({ actualValue: 'free', branch: 'no' });
});

test('says that an unsubscribed contact gets no marketing email, and what a template lacks', async () => {
  const { body } = await tried({ contactId: contacts.gone });
  const mail = body.steps.find((step: { name: string }) => step.name === 'Welcome');
  expect(mail).toMatchObject({ outcome: 'SKIPPED', output: { skipped: 'unsubscribed', recipientEmail: gone } });
  await hand.done('PATCH', `/contacts/${contacts.gone}`, { subscribed: true, reason: 'asked by phone' });
  const again = (await tried({ contactId: contacts.gone })).body;
  const sent = again.steps.find((step: { name: string }) => step.name === 'Welcome');
  expect(sent).toMatchObject({ outcome: 'COMPLETED', output: { missing: ['firstName'] } });
});

test('takes a graph that is not saved, names its new steps as the request does, and stops at a step that cannot work', async () => {
  const [trigger] = [...names.keys()];
  const position = { x: 0, y: 0 };
  const steps = [
    { id: trigger, type: 'TRIGGER', name: 'Signed up', position, config: { eventName: 'user.signup' } },
    {
      id: 'asks',
      type: 'CONDITION',
      name: 'Large?',
      position,
      config: { field: 'event.total', operator: 'greaterThan', value: 5 },
    },
    { id: 'mails', type: 'SEND_EMAIL', name: 'Nothing to send', position, config: {} },
  ];
  const transitions = [
    { fromStepId: trigger, toStepId: 'asks' },
    { fromStepId: 'asks', toStepId: 'mails', condition: { branch: 'yes' } },
  ];
  const graph = { steps, transitions };
  const { body } = await tried({ contactId: contacts.pro, data: { total: 7 }, graph });
  expect(body).toMatchObject({ end: 'FAILED', reason: 'The step has no template' });
  expect(body.steps.map(({ stepId }: { stepId: string }) => stepId)).toEqual([trigger, 'asks', 'mails']);
  expect((await tried({ contactId: contacts.pro, data: { total: 3 }, graph })).body.end).toBe('COMPLETED');
  expect((await hand.done('GET', `/workflows/${workflow}`)).steps).toHaveLength(names.size);

  const circle = [...transitions, { fromStepId: 'mails', toStepId: 'asks' }];
  const refused = await tried({ contactId: contacts.pro, graph: { steps, transitions: circle } });
  expect(refused.status).toBe(422);
  expect(refused.body.error.errors[0].field).toBe('graph.transitions');
});

test('is refused without a contact, for one that is not there, and for a graph without its paths', async () => {
  expect((await tried({})).status).toBe(422);
  expect((await tried({ contactId: workflow })).status).toBe(404);
  expect((await tried({ contactId: contacts.pro, waits: 'NEVER' })).status).toBe(422);
  expect((await tried({ contactId: contacts.pro, graph: { steps: [] } })).status).toBe(422);
});
