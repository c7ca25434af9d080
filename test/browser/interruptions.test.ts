import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sessionCookie } from '../../src/lib/enums.ts';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { followRequests, sharedBrowser } from '../support/browser.ts';
import { asOwner, builtDashboard, ownAddress } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let settings: Record<string, string>;
let api: TestApi;
let browser: Browser;
let project: TestProject;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  await builtDashboard();
  ({ settings } = await ownAddress());
  await start();
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  await api.call(project.secretKey, 'POST', '/contacts', { email: 'anna@kunde.example', data: { plan: 'pro' } });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

async function start(): Promise<void> {
  api = await testApi(database, settings);
}

const inDashboard = (work: (page: Page) => Promise<void>) => asOwner(browser, { api, database, project }, work);
const open = (page: Page, place: string) => page.goto(`${api.url}/app/${project.id}/${place}`);
const banner = (page: Page) => page.getByText('Your changes stay on this page');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('a service that stops is shown as such, and the page goes on without a reload, also to pages it had not loaded', async () => {
  await inDashboard(async (page) => {
    await open(page, 'contacts');
    await page.getByRole('link', { name: 'anna@kunde.example' }).waitFor();
    await page.evaluate('window.stayed = true');
    await api.close();
    await page.getByRole('link', { name: 'Segments', exact: true }).click();
    await banner(page).waitFor();
    await start();
    await banner(page).waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Segments' }).waitFor();
    await page.getByText('No segments yet').waitFor();
    expect(await page.evaluate('window.stayed')).toBe(true);
  });
});

test('what was typed while the service was away is still there, and saved once it is back', async () => {
  await inDashboard(async (page) => {
    await open(page, 'templates/new');
    await page.getByRole('textbox', { name: 'Body' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Welcome of new members');
    await page.getByLabel('From', { exact: true }).fill(project.sender);
    await api.close();
    await page.getByLabel('Subject').fill('Welcome to the reeds');
    await button(page, 'Save').click();
    await page.getByRole('alert').getByText('Fernpost can’t be reached.').first().waitFor();
    await start();
    await banner(page).waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('Welcome to the reeds');
    await button(page, 'Save').click();
    await page.getByText('Template saved').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });
  const { body } = await api.call(project.secretKey, 'GET', '/templates');
  expect(body.data).toMatchObject([{ name: 'Welcome of new members', subject: 'Welcome to the reeds' }]);
});

test('a session that ends while a condition is built is renewed in another window, and nothing of the condition is lost', async () => {
  await inDashboard(async (page) => {
    const isAnswered = followRequests(page);
    await open(page, 'segments/new');
    await page.getByLabel('Name', { exact: true }).fill('Members who pay');
    const filter = page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
    await filter.getByLabel('Filter by', { exact: true }).selectOption('data');
    await filter.getByLabel('Field name', { exact: true }).fill('plan');
    await filter.getByLabel('Value', { exact: true }).fill('free');
    const found = page.getByRole('region', { name: 'Matching contacts' });
    await found.getByText('0 contacts').waitFor();
    const session = (await page.context().cookies()).filter(({ name }) => name === sessionCookie);
    expect(session).toHaveLength(1);
    // What the form has asked for is answered before the session ends, so that it ends under the next edit and not before.
    await eventually(isAnswered);
    await page.context().clearCookies({ name: sessionCookie });
    // Counting whom it finds asks the service by itself.
    const comparison = filter.getByLabel('Operator', { exact: true });
    await comparison.selectOption('notEquals');

    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'I signed in in another window' }).click();
    await dialog.getByText('You’re not signed in yet.').waitFor();
    await page.context().addCookies(session);
    await dialog.getByRole('button', { name: 'I signed in in another window' }).click();
    await dialog.waitFor({ state: 'detached' });
    await found.getByText('1 contact').waitFor();
    await expect.poll(() => comparison.inputValue()).toBe('notEquals');
    await expect.poll(() => filter.getByLabel('Value', { exact: true }).inputValue()).toBe('free');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'Members who pay' }).waitFor();
  });
});
