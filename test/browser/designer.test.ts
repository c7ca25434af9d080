import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { accessibilityProblems } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;
let own: AutomationHand;
const people = audience();

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
  own = automationHand(world.api, project);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const inDashboard = (work: (page: Page) => Promise<void>) =>
  world.inPage({}, async (page) => {
    await page.goto(`${world.url}/app`);
    await page.getByLabel('Email address').fill(person.email);
    await page.getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`**/app/${project.id}**`);
    await work(page);
  });
const open = (page: Page, place: string) => page.goto(`${world.url}/app/${project.id}/${place}`);
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const type = (page: Page, label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
const pick = (page: Page, label: string, option: string) =>
  page.getByLabel(label, { exact: true }).selectOption(option);
const stepOn = (page: Page, name: string) => page.locator('.react-flow__node', { hasText: name });
const saved = (page: Page) => page.getByText('All edits of the graph are saved').waitFor();

/** Adds a step of a type behind the selected one and opens its form. */
async function add(page: Page, what: string): Promise<void> {
  await press(page, `Add ${what}`);
  await page.getByRole('heading', { level: 2, name: new RegExp(`^${what}`, 'i') }).waitFor();
  await saved(page);
}

/** Names the selected step and saves its form. */
async function save(page: Page, name: string): Promise<void> {
  await type(page, 'Name', name);
  await press(page, 'Save the step');
  await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
  await saved(page);
}

test('an automation with every step type is drawn, enabled, run for a contact and watched to its end', async () => {
  await own.template('Willkommen bei den Vogelfreunden');
  const email = people[0]?.email ?? '';
  await own.contact(email, { plan: 'pro' });
  await inDashboard(async (page) => {
    await open(page, 'workflows');
    await page.getByRole('button', { name: 'New workflow' }).first().click();
    await type(page, 'Name', 'Willkommen');
    await type(page, 'Starts with the event', 'user.signup');
    await press(page, 'Create');
    await page.getByRole('heading', { level: 1, name: 'Willkommen' }).waitFor();
    await stepOn(page, 'Trigger').click();

    await add(page, 'update contact');
    await press(page, 'Add field');
    await type(page, 'Field 1', 'stage');
    await type(page, 'Value of field 1', 'invited');
    await save(page, 'Mark as invited');

    await add(page, 'condition');
    await type(page, 'Field', 'data.plan');
    await type(page, 'Value', 'pro');
    await save(page, 'Has a paid plan');

    await add(page, 'send email');
    await pick(page, 'Template', 'Willkommen bei den Vogelfreunden');
    await save(page, 'Welcome mail');

    await add(page, 'delay');
    await type(page, 'How long', '0.001');
    await pick(page, 'Unit', 'minutes');
    await save(page, 'A moment');

    await add(page, 'wait for event');
    await type(page, 'Event', 'order.paid');
    await page.getByLabel('Wait only for a time').check();
    await type(page, 'At most', '0.02');
    await pick(page, 'Unit', 'minutes');
    await type(page, 'At most', '0.02');
    await save(page, 'Wait for an order');

    await add(page, 'webhook');
    await type(page, 'Address', 'https://127.0.0.1/none');
    await save(page, 'Tell the shop');

    await stepOn(page, 'Wait for an order').click();
    await add(page, 'exit');
    await type(page, 'Reason', 'no order yet');
    await save(page, 'Gave up');

    await press(page, 'Arrange');
    await saved(page);
    await press(page, 'Enable Willkommen');
    await page.getByRole('button', { name: 'Disable Willkommen' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByRole('link', { name: 'Executions', exact: true }).click();
    await press(page, 'Start for a contact');
    await type(page, 'Find the contact', email);
    await page.getByRole('radio', { name: email }).check();
    await press(page, 'Start');
    await page.getByRole('heading', { level: 1, name: email }).waitFor();
    await page.getByText('no order yet').first().waitFor();
    await page.locator('.react-flow__node', { hasText: 'Has a paid plan' }).getByText('completed: yes').waitFor();
    await page.locator('.react-flow__node', { hasText: 'Wait for an order' }).getByText('completed: TIMEOUT').waitFor();
    const link = await page.getByRole('link', { name: 'Open in Temporal' }).getAttribute('href');
    expect(link).toContain('/namespaces/default/workflows/automation%2F');
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  const { data } = await own.done('GET', '/workflows?search=Willkommen');
  expect(await own.ways(data[0].id)).toEqual([
    'A moment → Wait for an order',
    'Has a paid plan → Welcome mail (yes)',
    'Mark as invited → Has a paid plan',
    'Trigger: user.signup → Mark as invited',
    'Wait for an order → Gave up (TIMEOUT)',
    'Wait for an order → Tell the shop (EVENT)',
    'Welcome mail → A moment',
  ]);
  const runs = await own.done('GET', `/workflows/${data[0].id}/executions`);
  expect(runs.data).toMatchObject([{ status: 'EXITED', exitReason: 'no order yet', contact: { email } }]);
});

/** Wait and exit; enabled. */
async function waiting(name: string) {
  const { id } = await own.automation({ name });
  const wait = await own.step(id, 'DELAY', { amount: 30, unit: 'days' }, { name: 'Wait a month' });
  await own.step(id, 'EXIT', {}, { name: 'Done', position: { x: 100, y: 400 } });
  await own.enable(id);
  return { id, wait };
}

test('a step goes and comes back by undo and redo, taken out, put into a way and by keyboard', async () => {
  const { id } = await waiting('Rundbrief');
  const before = await own.ways(id);
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Wait a month' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { level: 2, name: 'Done' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('heading', { level: 2, name: 'Wait a month' }).waitFor();
    await page.keyboard.press('Delete');
    await press(page, 'Take it out alone');
    // What lies behind a dialog is hidden from everybody who asks for it by its role.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await stepOn(page, 'Wait a month').waitFor({ state: 'detached' });
    await saved(page);
    expect(await own.ways(id)).toEqual(['Trigger: user.signup → Done']);
    await press(page, 'Undo');
    await stepOn(page, 'Wait a month').waitFor();
    await saved(page);
    expect(await own.ways(id)).toEqual(before);
    await press(page, 'Redo');
    await stepOn(page, 'Wait a month').waitFor({ state: 'detached' });
    await saved(page);
    await page.locator('.react-flow__edge').first().focus();
    await page.keyboard.press('Enter');
    await press(page, 'Insert webhook');
    await page.getByRole('heading', { level: 2, name: 'Webhook' }).waitFor();
    await saved(page);
  });
  expect(await own.ways(id)).toEqual(['Trigger: user.signup → Webhook', 'Webhook → Done']);
});

test('two people who edit one automation get told, not overwritten', async () => {
  const { id, wait } = await waiting('Spenden');
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').click();
    await type(page, 'Name', 'What I was typing');
    await own.done('PATCH', `/workflows/${id}/steps/${wait}`, { name: 'What they saved' });
    await press(page, 'Save the step');
    await page.getByText('Somebody else has').first().waitFor();
    expect((await own.done('GET', `/workflows/${id}`)).steps[1].name).toBe('What they saved');
    await page.getByText('Your text is kept here').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('What I was typing');
    await press(page, 'Go on with mine');
    await press(page, 'Save the step');
    await page.getByRole('heading', { level: 2, name: 'What I was typing' }).waitFor();
  });
  expect((await own.done('GET', `/workflows/${id}`)).steps[1].name).toBe('What I was typing');
});

test('what keeps an automation from being enabled is shown on the step it concerns', async () => {
  const { id } = await own.automation({ name: 'Unfertig' });
  await own.step(id, 'WAIT_FOR_EVENT', {}, { name: 'Wait for what' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'Enable Unfertig');
    await page.getByRole('alert').getByText('eventName').first().waitFor();
    await stepOn(page, 'Wait for what').getByText('1 problem').waitFor();
  });
});

test('people inside are seen at their step, and moved by a plan after an edit', async () => {
  const { id } = await waiting('Jahresbeitrag');
  const email = people[1]?.email ?? '';
  const contactId = await own.contact(email);
  const run = await own.done('POST', `/workflows/${id}/executions`, { contactId });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').getByText('1 here, 1 waiting').waitFor();
    await stepOn(page, 'Wait a month').click();
    await press(page, 'Who is here');
    await page.getByRole('dialog').getByRole('link', { name: email }).waitFor();
    await page.keyboard.press('Escape');
    await stepOn(page, 'Done').click();
    await type(page, 'Reason', 'member');
    await press(page, 'Save the step');
    await page.getByRole('alert').getByText('cannot change while the workflow is enabled').waitFor();
    await press(page, 'Disable Jahresbeitrag');
    await page.getByRole('button', { name: 'Enable Jahresbeitrag' }).waitFor();
    await press(page, 'Save the step');
    await saved(page);
    await press(page, 'Move people inside …');
    await pick(page, 'What they do (Wait a month)', 'moveAtNextStep');
    await press(page, 'See what it does');
    await page.getByText('1 at Wait a month: follow the new graph from their next step').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Move them');
    await page.getByRole('heading', { name: 'Moving people' }).waitFor();
    await page.getByText('1 follow the new graph from their next step').waitFor();
    await page.getByRole('dialog').getByText('completed', { exact: true }).waitFor();
  });
  const story = await own.done('GET', `/workflows/${id}/executions/${run.id}`);
  expect(story).toMatchObject({ status: 'WAITING', version: 1, nextVersion: 2 });
});
