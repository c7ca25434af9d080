import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { accessibilityProblems, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { jobsWorker } from '../support/jobs.ts';
import { jobDone, uploaded } from '../support/uploads.ts';
import type { TestWorker } from '../support/worker.ts';

let database: TestDatabase;
let worker: TestWorker;
let api: TestApi;
let browser: Browser;
let project: TestProject;
const file = fileURLToPath(new URL('../data/audience.csv', import.meta.url));

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  worker = await jobsWorker(database);
  api = await apiWithDashboard(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
});
afterAll(async () => {
  await api?.close();
  await worker?.stop();
  await database?.close();
});

test('a file of an audience is mapped, previewed, imported into a segment with progress, counted, and its failed rows are downloaded', async () => {
  await asOwner(
    browser,
    { api, database, project },
    async (page) => {
      await page.goto(`${api.url}/app/${project.id}/contacts`);
      await page.getByText('No contacts yet').waitFor();
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('File').setInputFiles(file);
      const columns = dialog.getByRole('region', { name: 'File columns' });
      await columns.waitFor();
      await dialog.getByText('x.0.lee@example.com').waitFor();
      const fieldOf = (name: string) => dialog.getByLabel(`Import ${name} as`, { exact: true });
      await expect.poll(() => fieldOf('Email Address').inputValue()).toBe('email');
      await fieldOf('Notes').selectOption({ label: 'Skip this column' });
      await expect.poll(() => fieldOf('Newsletter').inputValue()).toBe('subscribed');
      await dialog.getByLabel('Name of the field for First Name').fill('firstName');
      await dialog.getByLabel('Type of Score').selectOption({ label: 'Number' });
      expect(await accessibilityProblems(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Preview changes' }).press('Enter');

      await dialog.getByText('is not a number').waitFor();
      const told = async (name: string) =>
        Number(
          (await dialog.locator('[data-slot=figure]', { hasText: name }).locator('dd').textContent())?.replace(
            /\D/g,
            '',
          ),
        );
      const [created, invalid] = [await told('New'), await told('Invalid')];
      expect((await api.call(project.secretKey, 'GET', '/contacts?limit=1')).body.total).toBe(0);
      await dialog.getByLabel('Add to segment').selectOption({ label: 'New segment' });
      await dialog.getByLabel('Name of the new segment').fill('Fair 2026');
      expect(await accessibilityProblems(page)).toEqual([]);
      await dialog.getByRole('button', { name: /^Import [\d,]+ rows$/ }).click();
      await dialog.getByText('Created', { exact: true }).waitFor();
      const figure = async (name: string) =>
        Number(
          (await dialog.locator('[data-slot=figure]', { hasText: name }).locator('dd').textContent())?.replace(
            /\D/g,
            '',
          ),
        );
      await expect.poll(() => figure('Created')).toBe(created);
      const failed = await figure('Failed');
      expect(failed).toBe(invalid);
      expect(failed).toBeGreaterThan(0);
      expect((await figure('Created')) + (await figure('Updated')) + (await figure('Unchanged')) + failed).toBe(
        await figure('Rows'),
      );

      const waiting = page.waitForEvent('download');
      await dialog.getByRole('button', { name: 'Download failed rows' }).click();
      const download = await waiting;
      expect(download.suggestedFilename()).toBe('failed-rows.csv');
      const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
      expect(lines[0]).toBe('row,email,error');
      expect(lines.length - 1).toBe(failed);
      for (const line of lines.slice(1)) expect(line).toMatch(/^\d+,".*",".+"$/s);

      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByText(`${new Intl.NumberFormat('en-US').format(created)} contacts`).waitFor();
    },
    { locale: 'en-US' },
  );
  const { body } = await api.call(project.secretKey, 'GET', '/contacts?limit=1');
  const [segment] = (await api.call(project.secretKey, 'GET', '/segments')).body;
  expect(segment).toMatchObject({ name: 'Fair 2026', type: 'STATIC', memberCount: body.total });
  const { fields } = (await api.call(project.secretKey, 'GET', '/contacts/fields')).body;
  const custom = fields.filter(({ isCustom }: { isCustom: boolean }) => isCustom);
  const score = custom.find(({ field }: { field: string }) => field === 'data.score');
  expect(score).toMatchObject({ type: 'number' });
  expect(custom.map(({ field }: { field: string }) => field)).toContain('data.firstName');
  expect(custom.map(({ field }: { field: string }) => field)).not.toContain('data.notes');
});

/** Opens the import of a project's contacts and chooses a file. */
async function withFile(page: Page, projectId: string, name: string, content: string) {
  await page.goto(`${api.url}/app/${projectId}/contacts`);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('File').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
  return dialog;
}

test('columns become the fields that they are in other letters, and variables find those that an import wrote', async () => {
  const own = await aProject(database, 'Names');
  const call = (method: string, path: string, body?: object) => api.call(own.secretKey, method, path, body);
  await call('POST', '/contacts', { email: 'enno@example.org', data: { first_name: 'Enno' } });
  const content = 'E-Mail,First Name,FAVORITE BIRD\nenno@example.org,Enno,Tern\nokke@example.org,Okke,Eider\n';
  await asOwner(browser, { api, database, project: own }, async (page) => {
    const dialog = await withFile(page, own.id, 'fair.csv', content);
    const chosen = (name: string) => dialog.getByLabel(`Import ${name} as`, { exact: true }).locator('option:checked');
    await expect.poll(() => chosen('First Name').textContent()).toBe('first_name');
    await expect.poll(() => chosen('FAVORITE BIRD').textContent()).toBe('New field');
    const name = dialog.getByLabel('Name of the field for FAVORITE BIRD');
    await expect.poll(() => name.inputValue()).toBe('favoriteBird');
    await dialog.getByRole('button', { name: 'Preview changes' }).click();
    await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
    await dialog.getByText('Created', { exact: true }).waitFor();
  });
  const { data } = (await call('GET', '/contacts?search=okke')).body;
  expect(data[0].data).toEqual({ first_name: 'Okke', favoriteBird: 'Eider' });
  // What starters say is found in the field that an import wrote.
  const letter = { subject: 'Hi {{firstName}}', body: '<p>The {{favorite_bird}}</p>', contactId: data[0].id };
  const preview = (await call('POST', '/templates/preview', letter)).body;
  expect(preview).toMatchObject({ subject: 'Hi Okke', html: expect.stringContaining('The Eider') });
});

test('an import asks whether to subscribe new contacts, says how many that are, and keeps the source of their consent', async () => {
  const own = await aProject(database, 'Consent');
  const call = (method: string, path: string, body?: object) => api.call(own.secretKey, method, path, body);
  await call('POST', '/contacts', { email: 'left@example.org', subscribed: false });
  const content = 'email,opt-in\nenno@example.org,\nokke@example.org,yes\nleft@example.org,yes\n';
  await asOwner(browser, { api, database, project: own }, async (page) => {
    const dialog = await withFile(page, own.id, 'fair.csv', content);
    await dialog.getByRole('button', { name: 'Preview changes' }).click();
    await dialog.getByText('This subscribes 2 new contacts and 1 unsubscribed contact.').waitFor();
    await dialog.getByLabel('Subscribe new contacts').uncheck();
    await dialog.getByText('This subscribes 1 new contact and 1 unsubscribed contact.').waitFor();
    await dialog.getByLabel('Source of consent').fill('Fair in Husum');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Import 3 rows' }).click();
    await dialog.getByText('Created', { exact: true }).waitFor();
  });
  const { data } = (await call('GET', '/contacts?limit=10')).body;
  expect(
    Object.fromEntries(
      data.map(({ email, ...each }: { email: string; subscribed: boolean; data: object }) => [
        email,
        [each.subscribed, each.data],
      ]),
    ),
  ).toEqual({
    'enno@example.org': [false, {}],
    'okke@example.org': [true, { consentSource: 'Fair in Husum' }],
    'left@example.org': [true, { consentSource: 'Fair in Husum' }],
  });
});

test('rows that repeat an address are called that, and an undo from the dialog is followed and shown in the list', async () => {
  const own = await aProject(database, 'Repeated');
  const content = 'email,plan\nenno@example.org,free\nenno@example.org,pro\nenno@example.org,pro\n';
  await asOwner(browser, { api, database, project: own }, async (page) => {
    const dialog = await withFile(page, own.id, 'fair.csv', content);
    await dialog.getByRole('button', { name: 'Preview changes' }).click();
    await dialog.getByText('2 rows repeat an address of the file.').waitFor();
    const updated = dialog.locator('[data-slot=figure]', { hasText: 'Updated' }).locator('dd');
    await expect.poll(() => updated.textContent()).toBe('0');
    await dialog.getByRole('button', { name: 'Import 3 rows' }).click();
    await dialog.getByText('2 rows repeat an address of the file: counted as updated or unchanged.').waitFor();
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'Undo this import?' });
    await confirmation.getByRole('button', { name: 'Undo import', exact: true }).click();
    await dialog.getByText('Undone: 1 contact changed.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('No contacts yet').waitFor();
  });
});

test('a file without a column of addresses cannot be sent', async () => {
  await asOwner(browser, { api, database, project }, async (page) => {
    const dialog = await withFile(page, project.id, 'birds.csv', 'Vogel,Ort\nRingelgans,Hooge\n');
    await dialog.getByText('Choose the column with the email addresses.').waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: 'Preview changes' }).isDisabled()).toBe(true);
  });
});

test('an import is undone from the list of jobs, with what was changed since named first', async () => {
  const own = await aProject(database, 'Undo');
  const call = (method: string, path: string, body?: object) => api.call(own.secretKey, method, path, body);
  const { id } = (await call('POST', '/contacts', { email: 'enno@example.org', data: { plan: 'free' } })).body;
  const jobId = await uploaded(api, own, 'email,plan,city\nenno@example.org,pro,Husum\nokke@example.org,pro,Husum\n');
  await jobDone(api, own, `/contacts/import/${jobId}`);
  await call('PATCH', `/contacts/${id}`, { data: { plan: 'team' } });
  await asOwner(browser, { api, database, project: own }, async (page) => {
    await page.goto(`${api.url}/app/${own.id}/contacts`);
    await page.getByRole('button', { name: 'More about contacts', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Imports and bulk changes', exact: true }).click();
    const jobs = page.getByRole('region', { name: 'Imports and bulk changes' });
    await jobs.getByText('1 contact created · 1 row updated').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await jobs.getByRole('button', { name: 'Undo list.csv', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Undo this import?' });
    await dialog.getByText('1 contact restored').waitFor();
    await dialog.getByText('1 contact deleted').waitFor();
    await dialog.getByText('“plan” changed since on 1 contact: stays as it is').waitFor();
    await dialog.getByLabel('Also restore fields that were changed since').check();
    await dialog.getByText('“plan” changed since on 1 contact: restored as well').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByLabel('Also restore fields that were changed since').uncheck();
    await dialog.getByText('“plan” changed since on 1 contact: stays as it is').waitFor();
    await dialog.getByRole('button', { name: 'Undo import', exact: true }).click();
    // The undo is a job of the list, which can be undone itself.
    await jobs.getByText('Undone', { exact: true }).waitFor();
    await jobs.getByRole('button', { name: 'Undo Undo', exact: true }).waitFor();
    await expect.poll(() => jobs.getByRole('button', { name: 'Undo list.csv', exact: true }).count()).toBe(0);
  });
  expect((await call('GET', `/contacts/${id}`)).body.data).toEqual({ plan: 'team' });
  expect((await call('GET', '/contacts?limit=1')).body.total).toBe(1);
});

test('the preview of an undo that takes several requests is asked for until it is complete, and so is the undo', async () => {
  const own = await aProject(database, 'Undo of many');
  const jobId = await uploaded(api, own, 'email,plan\nenno@example.org,pro\nokke@example.org,pro\n');
  await jobDone(api, own, `/contacts/import/${jobId}`);
  await asOwner(browser, { api, database, project: own }, async (page) => {
    // What the service answers while it counts millions: two times for the preview, and once more when the undo itself is asked for.
    const asked: boolean[] = [];
    const unfinishedAt = [1, 2, 4];
    await page.route('**/contacts/import/*/undo', async (route) => {
      asked.push(route.request().postDataJSON().dryRun);
      if (!unfinishedAt.includes(asked.length)) return route.continue();
      const error = { code: 'PREVIEW_UNFINISHED', message: 'What the undo would do is not known yet' };
      await route.fulfill({ status: 409, json: { success: false, error } });
    });
    await page.goto(`${api.url}/app/${own.id}/contact-jobs`);
    await page.getByRole('button', { name: 'Undo list.csv', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Undo this import?' });
    await dialog.getByText('2 contacts deleted').waitFor();
    expect(asked).toEqual([true, true, true]);
    await dialog.getByRole('button', { name: 'Undo import', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(asked).toEqual([true, true, true, false, false]);
    await page.getByRole('button', { name: 'Undo Undo', exact: true }).waitFor();
  });
  expect((await api.call(own.secretKey, 'GET', '/contacts?limit=1')).body.total).toBe(0);
});
