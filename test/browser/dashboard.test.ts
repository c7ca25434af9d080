import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, temporaryFolder } from '../../packages/local-stack/test/fakes.ts';
import { sessionCookie } from '../../src/core/lib/session-cookie.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { followRequests } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;
const people = audience();

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

async function signIn(page: Page, path = '/app'): Promise<void> {
  await page.goto(`${world.url}${path}`);
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await button(page, 'Sign in').click();
}

/** Types into the code editor, which is no ordinary field. */
async function writeBody(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Body' });
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

async function writeCampaign(page: Page, name: string, from: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('From', { exact: true }).fill(from);
  await page.getByLabel('Subject').fill('The herons are back, {{firstname}}');
  await writeBody(page, '<p>Hello {{firstname ?? there}}, come and count with us.</p>');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Campaign saved').waitFor();
}

async function contacts(count: number, from = 0): Promise<string[]> {
  const chosen = people.slice(from, from + count);
  for (const { email, data } of chosen) await world.api.call(project.secretKey, 'POST', '/contacts', { email, data });
  return chosen.map(({ email }) => email);
}

describe('the dashboard in Chromium', () => {
  test('leads from the sign-up to a first mail that was delivered', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'members.csv');
    const [first] = people;
    if (first === undefined) throw new Error('the audience is empty');
    writeFileSync(file, `email,firstName\n${first.email},${first.firstName}\n`);
    await world.inPage({}, async (page) => {
      await page.goto(`${world.url}/auth/signup`);
      await page.getByLabel('Email address').fill('enno.janssen@wattenmeer-vogelschutz.test');
      await page.getByLabel('Password').fill('eleven avocets at low tide');
      await button(page, 'Create account').click();

      await page.getByLabel('Name').fill('Vogelschutz Spiekeroog');
      await button(page, 'Create project').click();
      await heading(page, 'Overview').waitFor();

      await page.getByRole('link', { name: 'Verify your sending domain' }).click();
      await page.getByLabel('Domain', { exact: true }).fill('wattenmeer-vogelschutz.test');
      await button(page, 'Add').click();
      await page.getByRole('heading', { name: /wattenmeer-vogelschutz\.test/ }).waitFor();
      await button(page, 'Check records now').click();
      await page.getByText('wattenmeer-vogelschutz.test is verified').waitFor();

      await page.getByRole('link', { name: 'Contacts', exact: true }).click();
      await button(page, 'Import').first().click();
      await page.getByLabel('File').setInputFiles(file);
      await page.getByRole('dialog').getByText(first.email).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
      await page.getByText('Created').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
      await page.getByRole('link', { name: first.email }).waitFor();

      await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
      await page.getByRole('link', { name: 'New campaign' }).first().click();
      await writeCampaign(page, 'First letter', 'enno@wattenmeer-vogelschutz.test');
      await button(page, 'Send campaign').click();
      await button(page, 'Send now').click();
      await page.getByText('Balanced: every recipient is accounted for.').waitFor();
      await eventually(async () => (await world.mailTo(first.email)).length === 1);

      await page.getByRole('link', { name: 'Overview' }).click();
      await heading(page, 'Overview').waitFor();
      await page.getByText('Last 30 days').waitFor();
      await page.getByText('Get started').waitFor({ state: 'detached' });
    });
    const [mail] = await world.mailTo(first.email);
    expect(mail?.html).toContain('come and count with us');
  });

  test('draws a campaign up, tests it, sends it, watches it to SENT and reads its audit', async () => {
    const written = await contacts(12, 10);
    await world.inPage({}, async (page) => {
      await signIn(page, `/app/${project.id}/campaigns/new`);
      await writeCampaign(page, 'Heron count in March', project.sender);
      await page.frameLocator('iframe[title="Email preview"]').getByText('come and count').waitFor();
      await page.getByText('12 contacts right now').waitFor();

      await button(page, 'Send test email').click();
      await button(page, 'Send test').click();
      await eventually(async () => (await world.mailTo(person.email)).length === 1);
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

      await button(page, 'Send campaign').click();
      await button(page, 'Send now').click();
      await page.getByText('Balanced: every recipient is accounted for.').waitFor();
      const audit = page.locator('[data-slot=card]', { has: page.getByRole('heading', { name: 'Audit' }) });
      expect(await audit.locator('[data-slot=figure]', { hasText: 'Sent' }).locator('dd').textContent()).toBe('12');
      expect(await audit.locator('[data-slot=figure]', { hasText: 'Failed' }).locator('dd').textContent()).toBe('0');
      expect(await page.getByText('Sent', { exact: true }).count()).toBeGreaterThan(0);
      const ledger = page.getByRole('region', { name: 'Recipients' });
      await ledger.getByText(written[0] ?? '').waitFor();

      // A ledger of thousands is not read through before somebody asks for it.
      await world.database.db.count(
        `update campaigns set total_recipients = 30000 where name = 'Heron count in March'`,
      );
      await page.reload();
      await page.getByText('With 30,000 recipients that takes a while').waitFor();
      expect(await audit.locator('[data-slot=figure]').count()).toBe(0);
      await button(page, 'Run audit').click();
      await audit.locator('[data-slot=figure]', { hasText: 'Sent' }).getByText('12').waitFor();
    });
    for (const email of written) expect(await world.mailTo(email), email).toHaveLength(1);
    const { body } = await world.api.call(project.secretKey, 'GET', '/campaigns');
    expect(body.data[0]).toMatchObject({ name: 'Heron count in March', status: 'SENT', sentCount: 12 });
  });

  test('a session that ends in mid-edit loses nothing of what was typed', async () => {
    await world.inPage({}, async (page) => {
      const isAnswered = followRequests(page);
      await signIn(page, `/app/${project.id}/templates/new`);
      await page.getByLabel('Name', { exact: true }).fill('Welcome of new members');
      await page.getByLabel('From', { exact: true }).fill(project.sender);
      await page.getByLabel('Subject').fill('Welcome to the reeds');
      await writeBody(page, '<p>An hour of work that nobody wants to write twice.</p>');
      // The preview asks the service a while after the typing: had it not been answered, its question would find the session gone.
      await page.frameLocator('iframe[title="Email preview"]').getByText('An hour of work').waitFor();
      await eventually(isAnswered);
      await page.context().clearCookies({ name: sessionCookie });
      await page.getByRole('button', { name: 'Save', exact: true }).click();

      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByLabel('Password').fill(person.password);
      expect(await dialog.getByLabel('Email address').inputValue()).toBe(person.email);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Template saved').waitFor();
      expect(await page.getByLabel('Subject').inputValue()).toBe('Welcome to the reeds');
    });
    const { body } = await world.api.call(project.secretKey, 'GET', '/templates');
    expect(JSON.stringify(body)).toContain('An hour of work that nobody wants to write twice.');
  });

  test('a service that is away is shown as such, and recovered from without a reload', async () => {
    await world.inPage({}, async (page) => {
      await signIn(page, `/app/${project.id}`);
      await heading(page, 'Overview').waitFor();
      await page.evaluate('window.stayed = true');
      const isPage = (url: URL) => /^\/(app|assets)\b/.test(url.pathname);
      await page.route(
        (url) => !isPage(url),
        (route) => route.abort('connectionrefused'),
      );
      await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
      const banner = page.getByText('Your changes stay on this page');
      await banner.waitFor();
      await page.unrouteAll();
      await banner.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'New campaign' }).first().waitFor();
      await page.getByRole('region', { name: 'Campaigns' }).or(page.getByText('No campaigns yet')).waitFor();
      expect(await page.evaluate('window.stayed')).toBe(true);
    });
  });

  test('a picture is uploaded, seen, put into the message, found again in the list, and deleted', async () => {
    const picture = {
      name: 'heron.png',
      mimeType: 'image/png',
      buffer: Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    };
    await world.inPage({}, async (page) => {
      await signIn(page, `/app/${project.id}/settings?tab=uploads`);
      await page.getByLabel('Image: JPEG').setInputFiles(picture);
      const shown = page.getByRole('img', { name: 'heron.png' });
      await shown.waitFor();
      await eventually(() =>
        shown.evaluate((image: unknown) => (image as { naturalWidth: number }).naturalWidth === 1),
      );
      await button(page, 'Copy URL of heron.png').waitFor();

      await page.goto(`${world.url}/app/${project.id}/templates/new`);
      await button(page, 'Edit as HTML').click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Edit as HTML' }).click();
      await writeBody(page, '');
      await button(page, 'Insert image').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Alt text').fill('A heron at "low" tide');
      await dialog.getByLabel('Image: JPEG').setInputFiles(picture);
      // The one of before can be chosen as well as the new one.
      await dialog.getByRole('button', { name: 'Insert heron.png' }).nth(1).waitFor();
      await dialog.getByRole('button', { name: 'Insert heron.png' }).first().click();
      await dialog.waitFor({ state: 'detached' });
      const body = await page.getByRole('textbox', { name: 'Body' }).textContent();
      expect(body).toMatch(/<img src="http[^"]+\.png" alt="A heron at &quot;low&quot; tide"/);

      await page.goto(`${world.url}/app/${project.id}/settings?tab=uploads`);
      await button(page, 'Delete heron.png').nth(1).waitFor();
      await button(page, 'Delete heron.png').first().click();
      const asked = page.getByRole('alertdialog');
      await asked.getByText('No template and none').waitFor();
      await asked.getByRole('button', { name: 'Delete image' }).click();
      await asked.waitFor({ state: 'detached' });
      await eventually(async () => (await button(page, 'Delete heron.png').count()) === 1);
    });
  });
});
