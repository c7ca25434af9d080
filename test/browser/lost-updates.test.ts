import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { accessibilityProblems, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const call = async (method: string, path: string, body?: object) =>
  (await api.call(project.secretKey, method, path, body)).body;
const message = () => ({ name: 'Herons', subject: 'The herons', body: '<p>Herons</p>', from: project.sender });

/** The same page in two windows of one person. */
function inTwoTabs(place: string, work: (one: Page, other: Page) => Promise<void>): Promise<void> {
  return asOwner(browser, { api, database, project }, async (one) => {
    const other = await one.context().newPage();
    for (const page of [one, other]) await page.goto(`${api.url}/app/${project.id}/${place}`);
    await work(one, other);
  });
}

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();
const row = (page: Page, name: string) => page.getByRole('dialog').getByRole('row', { name: new RegExp(`^${name}`) });

/** Both windows change the same field, the second of them another one too, and the first saves first. */
async function collide(one: Page, other: Page, saved: string, second: string): Promise<void> {
  await field(one, 'Name').fill('Saved first');
  await field(other, 'Name').fill('Saved second');
  await field(one, second).fill('Only in the first window');
  await save(one);
  await one.getByText(saved).waitFor();
  await save(other);
  await other.getByRole('dialog').getByText('changed while you were editing').waitFor();
  await row(other, 'Name').getByText('Saved first').waitFor();
  await row(other, 'Name').getByText('Saved second').waitFor();
  expect(await accessibilityProblems(other)).toEqual([]);
}

test('the second window that saves a template sees the difference and keeps its own on top of theirs', async () => {
  const { id } = await call('POST', '/templates', message());
  const stored = () => call('GET', `/templates/${id}`);
  await inTwoTabs(`templates/${id}`, async (one, other) => {
    await collide(one, other, 'Template saved', 'Subject');
    expect(await stored()).toMatchObject({ name: 'Saved first', subject: 'Only in the first window' });
    await other.getByRole('button', { name: 'Decide later' }).click();
    await expect.poll(() => field(other, 'Name').inputValue()).toBe('Saved second');
    await save(other);
    await other.getByRole('button', { name: 'Keep my version' }).click();
    await other.getByText('Template saved').waitFor();
    expect(await stored()).toMatchObject({ name: 'Saved second', subject: 'Only in the first window' });

    // The first window has not heard of it, and is asked in its turn.
    await field(one, 'Name').fill('Saved third');
    await save(one);
    await one.getByRole('button', { name: 'Use their version' }).click();
    await one.getByRole('heading', { name: 'Saved second', level: 1 }).waitFor();
    expect(await stored()).toMatchObject({ name: 'Saved second', revision: 3 });
  });
});

test('the second window that saves a campaign is asked as well, by keyboard', async () => {
  const { id } = (await call('POST', '/campaigns', { ...message(), audienceType: 'ALL' })).data;
  const stored = async () => (await call('GET', `/campaigns/${id}`)).data;
  await inTwoTabs(`campaigns/${id}`, async (one, other) => {
    await collide(one, other, 'Campaign saved', 'Subject');
    await other.getByRole('button', { name: 'Keep my version' }).focus();
    await other.keyboard.press('Enter');
    await other.getByText('Campaign saved').waitFor();
    expect(await stored()).toMatchObject({ name: 'Saved second', subject: 'Only in the first window' });
  });
});

test('the second window that saves a segment is asked as well, with the conditions of both in words', async () => {
  const tree = (value: string) => ({
    logic: 'AND',
    groups: [{ filters: [{ field: 'email', operator: 'contains', value }] }],
  });
  const { id } = await call('POST', '/segments', { name: 'Members', condition: tree('@first.test') });
  const stored = () => call('GET', `/segments/${id}`);
  await inTwoTabs(`segments/${id}/edit`, async (one, other) => {
    await one.getByRole('group', { name: 'Filter 1 of group 1', exact: true }).getByLabel('Value').fill('@theirs.test');
    await collide(one, other, 'Segment saved', 'Description');
    await row(other, 'Conditions').getByText('Contacts whose email address contains “@theirs.test”.').waitFor();
    await other.getByRole('button', { name: 'Use their version' }).click();
    await other.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => field(other, 'Name').inputValue()).toBe('Saved first');
    const value = other.getByRole('group', { name: 'Filter 1 of group 1', exact: true }).getByLabel('Value');
    await expect.poll(() => value.inputValue()).toBe('@theirs.test');
    await field(other, 'Description').fill('Afterwards');
    await save(other);
    await other.getByText('Segment saved').waitFor();
    expect(await stored()).toMatchObject({
      name: 'Saved first',
      description: 'Afterwards',
      condition: tree('@theirs.test'),
    });
  });
});
