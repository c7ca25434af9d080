import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { accessibilityProblems, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { addresses, allOf, dataIs, type SegmentHand, segmentHand } from '../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;
let own: SegmentHand;
const people = addresses(4);

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  own = segmentHand(api, database, project);
  for (const [index, email] of people.entries())
    await own.contact(email, index === 0 ? { plan: 'pro', nest: 7 } : { plan: 'pro' });
  await own.segment({ name: 'Members who pay', condition: allOf(dataIs('plan', 'pro')) });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const inDashboard = (work: (page: Page) => Promise<void>) => asOwner(browser, { api, database, project }, work);
const open = (page: Page, place: string) => page.goto(`${api.url}/app/${project.id}/${place}`);

test('a field tells its type, coverage and users; one that nobody uses is removed after its name was typed', async () => {
  await inDashboard(async (page) => {
    await open(page, 'contact-fields');
    const row = page.getByRole('row', { name: 'data.nest' });
    await row.waitFor();
    await expect
      .poll(() => row.getByRole('cell').allTextContents())
      .toEqual(['data.nest', 'Number', '25%', 'View usage']);
    await page.getByRole('button', { name: 'View usage of data.plan' }).click();
    await page.getByText('Members who pay').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Delete from all contacts' }).count()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'View usage of data.nest' }).click();
    await page.getByRole('button', { name: 'Delete from all contacts' }).click();
    const remove = page.getByRole('button', { name: 'Delete from 1 contact' });
    await expect.poll(() => remove.isDisabled()).toBe(true);
    await page.getByLabel('Type “data.nest” to confirm').fill('data.nest');
    await remove.click();
    // What lies behind a dialog is hidden from everybody who asks for it by its role.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
  });
  const { body } = await own.call('GET', '/contacts/fields');
  expect(body.fields.map(({ field }: { field: string }) => field)).not.toContain('data.nest');
});

test('a rule is written, asked about, changed and turned off, and what it caught is shown', async () => {
  await inDashboard(async (page) => {
    await open(page, 'suppressions');
    await page.getByText('No rules yet').waitFor();
    await page.getByRole('button', { name: 'New rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Quality checks');
    await dialog.getByLabel('Suppresses').selectOption('DOMAIN');
    await dialog.getByLabel('Pattern').fill('no domain');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/does not fit the kind of the rule/).waitFor();
    await dialog.getByLabel('Pattern').fill('qa.vogel.example');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('qa.vogel.example').waitFor();
    await page.getByLabel('Address').fill('anna@qa.vogel.example');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('is suppressed by “Quality checks”').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    const sent = await own.call('POST', '/v1/send', {
      to: 'anna@qa.vogel.example',
      from: project.sender,
      subject: 'Die Ringelgänse sind da',
      body: '<p>Moin!</p>',
    });
    expect(sent.status).toBe(200);
    await page.getByRole('tab', { name: 'Suppressed email' }).click();
    await page.getByText('Die Ringelgänse sind da').waitFor();
    await page.getByRole('button', { name: 'Show the email to anna@qa.vogel.example' }).click();
    await page.frameLocator('iframe[title="Body of the email"]').getByText('Moin!').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Edit Quality checks' }).click();
    await dialog.getByLabel('Name').fill('Checks');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Turn off Checks' }).click();
    await page.getByRole('button', { name: 'Turn off rule' }).click();
    await page.getByRole('cell', { name: 'Off', exact: true }).waitFor();

    await own.call('POST', '/suppressions', { name: 'Old addresses', kind: 'PREFIX', pattern: 'alt-' });
    await open(page, 'suppressions');
    await page.getByRole('button', { name: 'Delete Old addresses' }).click();
    const asked = page.getByRole('alertdialog');
    await asked.getByText('alt-').waitFor();
    await asked.getByRole('button', { name: 'Delete rule' }).click();
    await asked.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete Old addresses' }).waitFor({ state: 'detached' });
  });
  expect((await own.call('GET', '/suppressions')).body).toMatchObject([
    { name: 'Checks', kind: 'DOMAIN', pattern: 'qa.vogel.example', enabled: false },
  ]);
});
