import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { accessibilityProblems, phone, problemsInBothThemes, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { jobsWorker } from '../support/jobs.ts';
import { addresses, type SegmentHand, segmentHand } from '../support/segments.ts';
import type { TestWorker } from '../support/worker.ts';

let database: TestDatabase;
let worker: TestWorker;
let api: TestApi;
let browser: Browser;
let project: TestProject;
let own: SegmentHand;
const people = addresses(12);
const pros = people.filter((_, index) => index % 3 === 0);

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  worker = await jobsWorker(database);
  api = await apiWithDashboard(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  own = segmentHand(api, database, project);
  for (const [index, email] of people.entries())
    await own.contact(email, { plan: index % 3 === 0 ? 'pro' : 'free', city: ['Hooge', 'Husum'][index % 2] });
});
afterAll(async () => {
  await api?.close();
  await worker?.stop();
  await database?.close();
});

const inDashboard = (work: (page: Page) => Promise<void>, options?: BrowserContextOptions) =>
  asOwner(browser, { api, database, project }, work, options);
const open = (page: Page, place = '') => page.goto(`${api.url}/app/${project.id}/contacts${place}`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const listed = (page: Page) => page.getByRole('region', { name: 'Contacts', exact: true }).getByRole('listitem');
const shown = (page: Page) => listed(page).getByRole('link').allTextContents();

test('columns are chosen, stay chosen, and the list is sorted by them', async () => {
  await inDashboard(async (page) => {
    await open(page);
    await page.getByText('12 contacts').waitFor();
    await button(page, 'Columns').click();
    await page.getByRole('menuitemcheckbox', { name: 'plan' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Subscription' }).click();
    await page.keyboard.press('Escape');
    expect(await accessibilityProblems(page)).toEqual([]);
    await listed(page).filter({ hasText: 'pro' }).first().waitFor();
    await button(page, 'Sort by email').click();
    await button(page, 'Sort by email, ascending').waitFor();
    await expect.poll(() => shown(page)).toEqual([...people].sort());
    await button(page, 'Sort by email, ascending').press('Enter');
    await expect.poll(() => shown(page)).toEqual([...people].sort().reverse());
    const address = page.url();
    await open(page);
    await listed(page).filter({ hasText: 'pro' }).first().waitFor();
    await expect.poll(() => listed(page).getByText('Subscribed').count()).toBe(0);
    await page.goto(address);
    await expect.poll(() => shown(page)).toEqual([...people].sort().reverse());
    await button(page, 'Columns').click();
    await page.getByRole('menuitem', { name: 'Reset columns' }).click();
    await listed(page).getByText('Subscribed').first().waitFor();
  });
});

test('contacts lead with their names, with the address below', async () => {
  const birds = await aProject(database, 'Storchenhof');
  const { call } = segmentHand(api, database, birds);
  for (const [email, data] of [
    ['ida@example.com', { 'First Name': 'Ida', last_name: 'Lund' }],
    ['ole@example.com', { name: 'Ole Janssen' }],
    ['per@example.com', { plan: 'pro' }],
  ] as const)
    await call('POST', '/contacts', { email, data });
  await asOwner(browser, { api, database, project: birds }, async (page) => {
    await page.goto(`${api.url}/app/${birds.id}/contacts?sort=email&dir=asc`);
    await expect
      .poll(() => listed(page).getByRole('link').allInnerTexts())
      .toEqual(['Ida Lund\nida@example.com', 'Ole Janssen\nole@example.com', 'per@example.com']);
  });
});

test('the search finds in text fields, with a filter and for all that match, and a view keeps it as text', async () => {
  const birds = await aProject(database, 'Kranichhof');
  const { call } = segmentHand(api, database, birds);
  for (const [email, data] of [
    ['one@example.com', { firstName: 'Ida', lastName: 'Lund', plan: 'pro' }],
    ['two@example.com', { firstName: 'Ida', lastName: 'Berg', plan: 'free' }],
    ['frida@example.com', { firstName: 'Frida', lastName: 'Lund', plan: 'pro' }],
    ['four@example.com', { firstName: 'Ole', lastName: '50%_off', plan: 'pro' }],
    ['five@example.com', { firstName: 'Per', lastName: '50 off', plan: 'pro' }],
  ] as const)
    await call('POST', '/contacts', { email, data, subscribed: true });
  const open = (page: Page, params: Record<string, string>) =>
    page.goto(`${api.url}/app/${birds.id}/contacts?${new URLSearchParams({ sort: 'email', dir: 'asc', ...params })}`);
  const addresses = (page: Page) =>
    expect.poll(async () => (await listed(page).getByRole('link').allInnerTexts()).map((text) => text.split('\n')[1]));
  const pros = JSON.stringify({
    logic: 'OR',
    groups: ['pro', 'gold'].map((value) => ({ filters: [{ field: 'data.plan', operator: 'equals', value }] })),
  });
  await asOwner(browser, { api, database, project: birds }, async (page) => {
    await open(page, {});
    const search = page.getByLabel('Search contacts');
    await search.fill('ida');
    await addresses(page).toEqual(['frida@example.com', 'one@example.com', 'two@example.com']);
    await page.getByText('3 contacts match').waitFor();
    expect(new URL(page.url()).searchParams.get('search')).toBe('ida');
    expect(new URL(page.url()).searchParams.get('where')).toBeNull();
    expect(await accessibilityProblems(page)).toEqual([]);
    await search.fill('lund ida');
    await addresses(page).toEqual(['frida@example.com', 'one@example.com']);
    await search.fill('%_o');
    await addresses(page).toEqual(['four@example.com']);
    await search.fill('ida@');
    await addresses(page).toEqual(['frida@example.com']);

    // The address has texts that are JSON in quotes.
    await open(page, { search: 'ida', where: JSON.stringify(pros) });
    await addresses(page).toEqual(['frida@example.com', 'one@example.com']);
    await button(page, 'Filter: 2 fields').waitFor();
    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Save as new view' }).click();
    await page.getByLabel('Name of the view').fill('Ida');
    await page.getByLabel('Name of the view').press('Enter');
    await button(page, 'Ida').waitFor();

    await page.getByRole('checkbox', { name: 'Select one@example.com' }).click();
    const bar = page.getByRole('region', { name: 'Selected contacts' });
    await bar.getByRole('button', { name: 'Select all 2 contacts' }).click();
    await bar.getByText('All 2 contacts selected').waitFor();
    await bar.getByRole('button', { name: 'Export selected' }).click();
    const waiting = page.waitForEvent('download');
    await button(page, 'Download CSV').click();
    const lines = readFileSync(await (await waiting).path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(
      lines
        .slice(1)
        .map((line) => line.split(',')[0])
        .sort(),
    ).toEqual(['frida@example.com', 'one@example.com']);
    await bar.getByRole('button', { name: 'Unsubscribe', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Unsubscribe 2 contacts' }).click();
    await page.getByText('2 changed, 0 unchanged, 0 failed.').waitFor();
  });
  const { data } = (await call('POST', '/contacts/search', { filter: { subscribed: false } })).body;
  expect(data.map(({ email }: { email: string }) => email).sort()).toEqual(['frida@example.com', 'one@example.com']);
  const [view] = (await call('GET', '/contacts/views')).body.data;
  expect(view.filter).toEqual({ search: 'ida', condition: JSON.parse(pros) });
});

test('a filter by any field is in the address, and a saved view is shared, changed and deleted', async () => {
  await inDashboard(async (page) => {
    await open(page);
    await button(page, 'Filter').click();
    const filter = page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
    await filter.getByLabel('Filter by', { exact: true }).selectOption('data');
    await filter.getByLabel('Field name', { exact: true }).fill('plan');
    await page.getByText('Complete the filter to apply it.').waitFor({ state: 'detached' });
    await filter.getByLabel('Value', { exact: true }).fill('pro');
    await page.getByText(`${pros.length} contacts match`).waitFor();
    expect(new URL(page.url()).searchParams.get('where')).toContain('data.plan');
    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Save as new view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the view').fill('Pro customers');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByLabel('Name of the view').press('Enter');
    await button(page, 'Pro customers').waitFor();

    await open(page);
    await page.getByText('12 contacts').waitFor();
    await button(page, 'Views').click();
    await page.getByRole('menuitemradio', { name: 'Pro customers' }).click();
    await page.getByText(`${pros.length} contacts match`).waitFor();
    await button(page, 'Sort by email').click();
    await page.getByRole('button', { name: 'Pro customers (edited)' }).click();
    await page.getByRole('menuitem', { name: 'Save changes to view' }).click();
    await page.getByText('View “Pro customers” updated').waitFor();
    await button(page, 'Pro customers').click();
    await page.getByRole('menuitem', { name: 'Delete view' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete view' }).click();
    await button(page, 'Views').waitFor();
  });
  expect((await own.call('GET', '/contacts/views')).body.data).toEqual([]);
});

test('a saved view with parts that the service ignores is called edited only while it is', async () => {
  const filters = [{ value: 'ignored', operator: 'exists', field: 'data.plan' }];
  const condition = { groups: [{ conditions: null, filters }], logic: 'AND' };
  const { status, body: view } = await own.call('POST', '/contacts/views', { name: 'Planned', filter: { condition } });
  expect(status).toBe(201);
  await inDashboard(async (page) => {
    await open(page);
    await button(page, 'Views').click();
    await page.getByRole('menuitemradio', { name: 'Planned' }).click();
    await button(page, 'Planned').waitFor();
    await button(page, 'Filter: 1 field').click();
    const name = page.getByLabel('Field name', { exact: true });
    await name.fill('plans');
    await button(page, 'Planned (edited)').waitFor();
    await name.fill('plan');
    await button(page, 'Planned').waitFor();
  });
  expect((await own.call('GET', '/contacts/views')).body.data[0].filter).toEqual({ condition });
  await own.call('DELETE', `/contacts/views/${view.id}`);
});

test('contacts are selected by keyboard and by ranges, put into a segment, exported and unsubscribed', async () => {
  await inDashboard(async (page) => {
    await open(page, '?sort=email&dir=asc');
    const sorted = [...people].sort();
    const box = (index: number) => page.getByRole('checkbox', { name: `Select ${sorted[index]}`, exact: true });
    await box(0).focus();
    await page.keyboard.press('Space');
    const bar = page.getByRole('region', { name: 'Selected contacts' });
    await bar.getByText('1 selected').waitFor();
    await box(3).click({ modifiers: ['Shift'] });
    await bar.getByText('4 selected').waitFor();
    await box(1).click();
    await bar.getByText('3 selected').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await bar.getByRole('button', { name: 'Add to segment' }).click();
    await page.getByLabel('Name of the new segment').fill('Speakers');
    await page.getByRole('dialog').getByRole('button', { name: 'Add contacts' }).click();
    await page.getByText('3 changed, 0 unchanged, 0 failed.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    await bar.getByRole('button', { name: 'Export selected' }).click();
    await page.getByRole('checkbox', { name: 'plan', exact: true }).check();
    await page.getByRole('checkbox', { name: 'Created', exact: true }).uncheck();
    expect(await accessibilityProblems(page)).toEqual([]);
    const waiting = page.waitForEvent('download');
    await button(page, 'Download CSV').click();
    const lines = readFileSync(await (await waiting).path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toBe('email,subscribed,data.plan');
    expect(
      lines
        .slice(1)
        .map((line) => line.split(',')[0])
        .sort(),
    ).toEqual([sorted[0], sorted[2], sorted[3]].sort());

    await bar.getByRole('button', { name: 'Select all 12 contacts' }).click();
    await bar.getByText('All 12 contacts selected').waitFor();
    await box(0).click();
    await bar.getByText('11 selected').waitFor();
    await bar.getByRole('button', { name: 'Unsubscribe', exact: true }).click();
    const asked = page.getByRole('alertdialog', { name: 'Unsubscribe 11 contacts?' });
    await asked.getByRole('button', { name: 'Unsubscribe 11 contacts' }).click();
    await page.getByText('11 changed, 0 unchanged, 0 failed.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    // Of everybody, only those who are not subscribed are concerned.
    await bar.getByRole('button', { name: 'Select all 12 contacts' }).click();
    await bar.getByRole('button', { name: 'Subscribe', exact: true }).click();
    const subscribe = page.getByRole('alertdialog', { name: 'Subscribe 11 contacts?' });
    await subscribe.getByText('Contacts who unsubscribed themselves are included.').waitFor();
    await subscribe.getByRole('button', { name: 'Cancel' }).click();
    await button(page, 'Clear selection').click();
    await bar.waitFor({ state: 'detached' });
  });
  const [speakers] = (await own.call('GET', '/segments')).body;
  expect(await own.members(speakers.id)).toHaveLength(3);
});

test('on a phone the list stacks, and filters, selection and dialogs are accessible in both themes', async () => {
  await inDashboard(
    async (page) => {
      await open(page, `?columns=${encodeURIComponent('["email","subscribed","data.plan","createdAt"]')}`);
      await listed(page).first().waitFor();
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(phone.width);
      await page.getByRole('checkbox', { name: `Select ${people[0]}`, exact: true }).click();
      await button(page, 'Filter').click();
      expect(await problemsInBothThemes(page)).toEqual([]);
      await page.getByRole('region', { name: 'Selected contacts' }).getByRole('button', { name: 'Delete' }).click();
      expect(await problemsInBothThemes(page)).toEqual([]);
      await expect
        .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
        .toBeLessThanOrEqual(phone.width);
    },
    { viewport: phone },
  );
});
