import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { anAutomation } from '../support/automation-fixtures.ts';
import { accessibilityProblems, phone, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { allOf, dataIs, type SegmentHand, segmentHand } from '../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;
let own: SegmentHand;
let contact: string;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  own = segmentHand(api, database, project);
  contact = await own.contact('enno@wattenmeer.test', { plan: 'pro', zip: '25859' });
  await own.segment({ name: 'On Pro', condition: allOf(dataIs('plan', 'pro')) });
  await own.segment({ name: 'Speakers', type: 'STATIC' });
  await own.call('POST', '/events/track', {
    email: 'enno@wattenmeer.test',
    event: 'bird seen',
    data: { bird: 'tern' },
  });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const inDashboard = (work: (page: Page) => Promise<void>, options?: BrowserContextOptions) =>
  asOwner(browser, { api, database, project }, work, options);
const open = (page: Page, tab = '') =>
  page.goto(`${api.url}/app/${project.id}/contacts/${contact}${tab ? `?tab=${tab}` : ''}`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('values and the address are edited in place, by keyboard, and a taken address is said', async () => {
  await own.contact('okke@wattenmeer.test');
  await inDashboard(async (page) => {
    await open(page);
    await button(page, 'Edit plan').press('Enter');
    await page.getByLabel('plan', { exact: true }).fill('team');
    await page.keyboard.press('Enter');
    await button(page, 'Edit plan').waitFor();
    await button(page, 'Edit zip').click();
    await page.getByLabel('zip', { exact: true }).fill('25860');
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Save zip').click();
    await button(page, 'Edit zip').waitFor();
    await button(page, 'Edit zip').click();
    await page.getByLabel('zip', { exact: true }).fill('nothing of this');
    await page.keyboard.press('Escape');
    await page.getByText('25860').waitFor();
    await button(page, 'Edit email address').click();
    await page.getByLabel('Email address', { exact: true }).fill('okke@wattenmeer.test');
    await page.keyboard.press('Enter');
    await page.getByText('Another contact of this project has this address').waitFor();
    await page.getByLabel('Email address', { exact: true }).fill('enno@watt.test');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'enno@watt.test', level: 1 }).waitFor();
  });
  const { body } = await own.call('GET', `/contacts/${contact}`);
  // What was text stays text, although it looks like a number.
  expect(body).toMatchObject({ email: 'enno@watt.test', data: { plan: 'team', zip: '25860' } });
  await own.call('PATCH', `/contacts/${contact}`, { data: { plan: 'pro' } });
});

test('a page leads with the name of its contact, the address below, and with the address where there is no name', async () => {
  const id = await own.contact('frauke@wattenmeer.test', { firstName: 'Frauke', lastName: 'Harms', plan: 'none' });
  await inDashboard(async (page) => {
    await page.goto(`${api.url}/app/${project.id}/contacts/${id}`);
    await page.getByRole('heading', { name: 'Frauke Harms', level: 1 }).waitFor();
    const head = page.locator('header', { has: page.getByRole('heading', { level: 1 }) });
    await head.getByText('frauke@wattenmeer.test', { exact: true }).waitFor();
    expect(await page.title()).toBe('Frauke Harms · Fernpost');
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  const nameless = await own.contact('no.name@wattenmeer.test', { plan: 'none' });
  await inDashboard(async (page) => {
    await page.goto(`${api.url}/app/${project.id}/contacts/${nameless}`);
    await page.getByRole('heading', { name: 'no.name@wattenmeer.test', level: 1 }).waitFor();
  });
});

test('static segments are joined and left, and dynamic ones are named', async () => {
  await inDashboard(async (page) => {
    await open(page, 'segments');
    const rows = page.getByRole('region', { name: 'Segments of this contact' });
    await rows.getByRole('link', { name: 'On Pro' }).waitFor();
    await rows.getByText('By conditions').waitFor();
    await page.getByLabel('Static segment').selectOption({ label: 'Speakers' });
    await button(page, 'Add to segment').click();
    await rows.getByRole('link', { name: 'Speakers' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Remove from Speakers').press('Enter');
    await rows.getByRole('link', { name: 'Speakers' }).waitFor({ state: 'detached' });
  });
});

test('a workflow is started by hand and stopped', async () => {
  const { id } = await anAutomation(database.db, project.id, {
    steps: { pause: ['DELAY', { amount: 7, unit: 'days' }] },
  });
  await database.db.count(`update automations set name = 'Bird letters' where id = $1`, [id]);
  await inDashboard(async (page) => {
    await open(page, 'workflows');
    await page.getByText('In no workflow yet').waitFor();
    await page.getByLabel('Workflow', { exact: true }).selectOption({ label: 'Bird letters' });
    await button(page, 'Start workflow').click();
    const rows = page.getByRole('region', { name: 'Workflows of this contact' });
    await rows.getByRole('link', { name: 'Bird letters' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Stop Bird letters').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop workflow' }).click();
    await rows.getByText('Canceled').waitFor();
    await rows.getByText('Ended').waitFor();
  });
});

test('the history shows the contact as it was after a change', async () => {
  const id = await own.contact('wiebke@wattenmeer.test', { plan: 'free' });
  await own.call('PATCH', `/contacts/${id}`, { data: { plan: 'pro' } });
  await inDashboard(async (page) => {
    await page.goto(`${api.url}/app/${project.id}/contacts/${id}?tab=history`);
    const changes = page.getByRole('region', { name: 'Contact changes' });
    await changes.getByText('Created').waitFor();
    await changes.getByRole('button', { name: 'View contact at that time', exact: true }).last().click();
    await page.getByRole('heading', { name: /^As of / }).waitFor();
    const former = page.locator('section, div', { has: page.getByRole('heading', { name: /^As of / }) }).last();
    await former.getByText('free', { exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Back to now').click();
    await page.getByRole('heading', { name: /^As of / }).waitFor({ state: 'detached' });
  });
});

test('a contact that was deleted is restored from the message about it', async () => {
  const id = await own.contact('geeske@wattenmeer.test', { plan: 'free' });
  await inDashboard(async (page) => {
    await page.goto(`${api.url}/app/${project.id}/contacts/${id}`);
    await button(page, 'Delete').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete contact', exact: true }).click();
    await page.getByText('geeske@wattenmeer.test deleted').waitFor();
    expect((await own.call('GET', `/contacts/${id}`)).status).toBe(404);
    await button(page, 'Undo').click();
    await page.getByText('geeske@wattenmeer.test restored').waitFor();
    await page.getByRole('heading', { name: 'geeske@wattenmeer.test', level: 1 }).waitFor();
  });
  expect((await own.call('GET', `/contacts/${id}`)).body).toMatchObject({ id, data: { plan: 'free' } });
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`every section is accessible on a phone, ${colorScheme}`, async () => {
    await own.call('PATCH', `/contacts/${contact}`, { subscribed: colorScheme === 'dark' });
    await inDashboard(
      async (page) => {
        await open(page);
        for (const name of ['Emails', 'Events', 'Segments', 'Workflows', 'Subscription', 'History', 'Activity']) {
          await page.getByRole('tab', { name, exact: true }).click();
          if (name === 'Events') await page.getByText('bird seen').waitFor();
          if (name === 'Subscription') await page.getByRole('region', { name: 'Subscription changes' }).waitFor();
          await page.locator('[data-slot=loading]').first().waitFor({ state: 'detached' });
          expect(await accessibilityProblems(page), name).toEqual([]);
          await expect
            .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
            .toBeLessThanOrEqual(phone.width);
        }
      },
      { viewport: phone, colorScheme },
    );
  });
