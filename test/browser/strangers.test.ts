import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi } from '../support/api.ts';
import { accessibilityProblems, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database, { MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://mail.provider.example' });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

test('a project that no operator approved sees that its domain waits, what to do, and its daily limit', async () => {
  const project = await aProject(database);
  await database.db.count('update projects set trusted = false where id = $1', [project.id]);
  const added = await api.call(project.secretKey, 'POST', '/domains', { domain: 'reeds.example' });
  expect(added.status).toBe(201);
  await asOwner(
    browser,
    { api, database, project },
    async (page) => {
      await page.goto(`${api.url}/app/${project.id}/domains`);
      await page.getByText('Waiting for the operator’s approval').waitFor();
      await page.getByText(`approve reeds.example for project ${project.id}`).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      // The domain that the fixture made is approved.
      await expect.poll(() => page.getByText('Waiting for the operator’s approval').count()).toBe(1);
      await page.goto(`${api.url}/app/${project.id}/settings?tab=billing`);
      await page.getByText('0 of 200 emails sent today (UTC).').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
    },
    { locale: 'en-US' },
  );
});
