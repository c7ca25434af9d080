import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { accessibilityProblems, startBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { jobsWorker } from '../support/jobs.ts';
import type { TestWorker } from '../support/worker.ts';

let database: TestDatabase;
let worker: TestWorker;
let api: TestApi;
let browser: Browser;
let project: TestProject;
const file = fileURLToPath(new URL('../data/audience.csv', import.meta.url));

beforeAll(async () => {
  browser = await startBrowser();
  database = await testDatabase();
  worker = await jobsWorker(database);
  api = await apiWithDashboard(database, { TEMPORAL_TASK_QUEUE: worker.queuePrefix });
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
});
afterAll(async () => {
  await browser?.close();
  await api?.close();
  await worker?.stop();
  await database?.close();
});

test('a file of an audience is previewed, imported with progress, counted, and its failed rows are downloaded', async () => {
  await asOwner(
    browser,
    { api, database, project },
    async (page) => {
      await page.goto(`${api.url}/app/${project.id}/contacts`);
      await page.getByText('No contacts yet').waitFor();
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('File').setInputFiles(file);
      const preview = dialog.getByRole('table');
      await preview.waitFor();
      expect(await preview.getByRole('columnheader').allTextContents()).toEqual([
        'email',
        ...['first name', 'last name', 'company', 'plan', 'score', 'signed up', 'newsletter', 'country', 'notes'].map(
          (name) => `data.${name}`,
        ),
      ]);
      expect(await preview.getByRole('row').nth(1).getByRole('cell').first().textContent()).toBe('x.0.lee@example.com');
      expect(await accessibilityProblems(page)).toEqual([]);

      await dialog.getByRole('button', { name: 'Import' }).click();
      await dialog.getByText('Created', { exact: true }).waitFor();
      const figure = async (name: string) =>
        Number(
          (await dialog.locator('[data-slot=figure]', { hasText: name }).locator('dd').textContent())?.replace(
            /\D/g,
            '',
          ),
        );
      expect(await figure('Created')).toBe(audience().length);
      const failed = await figure('Failed');
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
      await page.getByText(`${new Intl.NumberFormat('en-US').format(audience().length)} contacts`).waitFor();
    },
    { locale: 'en-US' },
  );
  const { body } = await api.call(project.secretKey, 'GET', '/contacts?limit=1');
  expect(body.total).toBe(audience().length);
});

test('a file without a column of addresses cannot be sent', async () => {
  await asOwner(browser, { api, database, project }, async (page) => {
    await page.goto(`${api.url}/app/${project.id}/contacts`);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByLabel('File')
      .setInputFiles({ name: 'birds.csv', mimeType: 'text/csv', buffer: Buffer.from('Vogel,Ort\nRingelgans,Hooge\n') });
    await dialog.getByText('The first row has no “email” column.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Import' }).isDisabled()).toBe(true);
  });
});
