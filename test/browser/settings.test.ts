import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { accessibilityProblems } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const inDashboard = (work: (page: Page) => Promise<void>) =>
  world.inPage({}, async (page) => {
    await signInAs(page, world.url, person.session);
    await work(page);
  });
const open = (page: Page, place: string) => page.goto(`${world.url}/app/${project.id}/${place}`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const secretOf = async (page: Page) => (await page.locator('[data-slot=secret]').textContent()) ?? '';

test('a key is created with scopes and shown once, then edited, rotated with an overlap and deleted', async () => {
  const statusWith = async (key: string, path: string) => (await world.api.call(key, 'GET', path)).status;
  await inDashboard(async (page) => {
    await open(page, 'settings?tab=keys');
    await button(page, 'Create key').click();
    const dialog = page.getByRole('dialog', { name: 'Create an API key' });
    await dialog.getByLabel('Name', { exact: true }).fill('Shop');
    // By keyboard, from the name through the presets to the matrix.
    await dialog.getByRole('checkbox', { name: 'Contacts and segments: Read' }).focus();
    await page.keyboard.press('Space');
    await dialog.getByLabel('Test key').check();
    await dialog.getByLabel('Allowed recipients').fill('qa.test\nada@example.com');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const ready = page.getByRole('dialog', { name: 'Shop is ready' });
    await ready.getByText('Copy the key now. You can’t see it again.').waitFor();
    const key = await secretOf(page);
    expect(key).toMatch(/^rk_/);
    expect(await accessibilityProblems(page)).toEqual([]);
    await ready.getByRole('button', { name: 'Done' }).click();
    await ready.waitFor({ state: 'detached' });
    expect(await page.locator('body').textContent()).not.toContain(key);
    const row = page.getByRole('row', { name: /Shop/ });
    await row.getByText('Contacts and segments: read').waitFor();
    await row.getByText('qa.test, ada@example.com').waitFor();
    await row.getByText('Never').waitFor();
    expect([await statusWith(key, '/contacts'), await statusWith(key, '/templates')]).toEqual([200, 403]);

    await button(page, 'Actions for Shop').click();
    await page.getByRole('menuitem', { name: 'Edit name and scopes' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit Shop' });
    await edit.getByLabel('Name', { exact: true }).fill('Web shop');
    await edit.getByRole('checkbox', { name: 'Templates and images: Write' }).check();
    await edit.getByRole('button', { name: 'Save key' }).click();
    await page.getByText('Web shop is saved').waitFor();
    expect(await statusWith(key, '/templates')).toBe(200);

    await button(page, 'Actions for Web shop').click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    const rotate = page.getByRole('dialog', { name: 'Rotate Web shop?' });
    await rotate.getByLabel('The old key keeps working').selectOption('1 hour');
    await rotate.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByRole('dialog', { name: 'Web shop has a new key' }).waitFor();
    const next = await secretOf(page);
    await button(page, 'Done').click();
    await page
      .getByRole('row', { name: /Web shop/ })
      .getByText('Old key works until')
      .waitFor();
    expect([await statusWith(key, '/contacts'), await statusWith(next, '/contacts')]).toEqual([200, 200]);

    await button(page, 'Actions for Web shop').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const remove = page.getByRole('alertdialog', { name: 'Delete Web shop? Requests with it fail immediately.' });
    expect(await accessibilityProblems(page)).toEqual([]);
    await remove.getByRole('button', { name: 'Delete key' }).click();
    await page.getByText('Web shop is deleted').waitFor();
    await page.getByText('No keys yet').waitFor();
    expect(await statusWith(next, '/contacts')).toBe(401);
  });
});
