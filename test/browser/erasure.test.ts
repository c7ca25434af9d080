import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certify } from '../../src/insight/erasures/certificate.ts';
import { eraseRows } from '../../src/insight/erasures/work.ts';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { phone, problemsInBothThemes, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const email = 'hinnerk@wattenmeer.test';
let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;
let contact: string;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database, 'Vogelfreunde');
  const { body } = await api.call(project.secretKey, 'POST', '/contacts', { email, data: { plan: 'pro' } });
  contact = body.id;
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

/** Does what a worker does with the only erasure. */
async function erase(id: string): Promise<void> {
  const { encryptionKeys } = api.config;
  const share = { encryptionKeys, longestMs: 600_000, stop: new AbortController().signal, onStep: () => undefined };
  expect(await eraseRows(database.db, id, share)).toBe('emptied');
  const retentions = { provider: 'Postmark', providerDays: 45, backupDays: 0, temporalDays: 0 };
  await certify(database.db, id, { encryptionKeys, retentions, now: new Date() });
}

async function accessibleEverywhere(page: Page): Promise<void> {
  expect(await problemsInBothThemes(page)).toEqual([]);
}

test('exports the data of a contact, erases it, and keeps a certificate that the copied command verifies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-certificate-'));
  await asOwner(browser, { api, database, project }, async (page) => {
    await page.goto(`${api.url}/app/${project.id}/contacts/${contact}`);
    await page.getByRole('button', { name: 'Privacy', exact: true }).click();
    const [exported] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export data', exact: true }).click(),
    ]);
    expect(exported.suggestedFilename()).toBe(`contact-${contact}.json`);

    await page.getByRole('button', { name: 'Privacy', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Erase contact', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: `Erase ${email} permanently?` });
    await dialog.getByLabel('Reference').fill('DSR-7');
    const confirm = dialog.getByRole('button', { name: 'Erase contact', exact: true });
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await accessibleEverywhere(page);
    await dialog.getByLabel(`Type “${email}” to confirm`).fill(email);
    await confirm.click();
    await page.getByRole('heading', { name: 'Erasing a contact', exact: true }).waitFor();
    await erase(page.url().split('/').at(-1) ?? '');

    // The page finds out by itself.
    await page.getByRole('heading', { name: 'Contact erased', exact: true }).waitFor();
    await page.getByText('Messages that the provider keeps').waitFor();
    await page.getByText('Verified', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Lift suppression', exact: true }).click();
    const lifting = page.getByRole('alertdialog', { name: 'Let this address be added again?' });
    await accessibleEverywhere(page);
    await lifting.getByLabel('Reason').fill('Asked for mail again');
    await lifting.getByRole('button', { name: 'Lift suppression', exact: true }).click();
    await page.getByText('The suppression was lifted').waitFor();
    expect((await api.call(project.secretKey, 'POST', '/contacts', { email })).status).toBe(201);
    await page.setViewportSize(phone);
    await accessibleEverywhere(page);
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
      .toBeLessThanOrEqual(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download certificate', exact: true }).click(),
    ]);
    await download.saveAs(join(folder, 'certificate.json'));
    const command = (await page.locator('code', { hasText: 'node -e' }).textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: folder });
    expect(stdout.trim()).toBe('genuine');
    await page.getByRole('link', { name: 'Erasures', exact: true }).click();
    await page.getByRole('region', { name: 'Erasures' }).getByRole('link', { name: 'DSR-7', exact: true }).waitFor();
    await accessibleEverywhere(page);
  });
  rmSync(folder, { recursive: true, force: true });
});
