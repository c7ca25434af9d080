import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { startReceiver } from '../support/receiver.ts';

// The first day of a developer, from the sign-up to a colleague: each chapter stands on what the one before has left behind.
const developer = { email: 'imke.hansen@kranichzug.test', password: 'four cranes over the Darß' };
const colleague = { email: 'ole.brodersen@kranichzug.test', password: 'a corncrake in the meadow' };
const guest = 'ada@example.com';
let world: DashboardWorld;
/** The key of the first request, as the application of the developer has it. */
let key = '';

beforeAll(async () => {
  world = await dashboardWorld({ REQUIRE_EMAIL_VERIFICATION: 'true', WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
const menu = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
const emails = (page: Page) => page.getByRole('region', { name: 'Emails' }).getByRole('listitem');

/** Opens the newest mail to somebody in the sandbox's inbox and answers the address behind a link of it, as a click would follow. */
async function linkInInbox(page: Page, to: string, name: string): Promise<string> {
  await expect.poll(async () => (await world.mailTo(to)).length).toBeGreaterThan(0);
  const { messages } = await (await fetch(`${world.sandbox.url}/api/messages?to=${encodeURIComponent(to)}`)).json();
  await page.goto(`${world.sandbox.url}/inbox/${messages[0].id}`);
  const link = page.frameLocator('iframe').getByRole('link', { name }).first();
  return (await link.getAttribute('href')) ?? '';
}

async function signsUp(page: Page): Promise<void> {
  await page.goto(`${world.url}/auth/signup`);
  await page.getByLabel('Email address').fill(developer.email);
  await page.getByLabel('Password').fill(developer.password);
  await button(page, 'Create account').click();
  await heading(page, 'Confirm your email address').waitFor();
  await page.goto(await linkInInbox(page, developer.email, 'Confirm address'));
  await heading(page, 'Email address confirmed').waitFor();
  await page.getByRole('link', { name: 'Continue' }).click();
  await page.getByLabel('Name').fill('Kranichzug');
  await button(page, 'Create project').click();
  await heading(page, 'Overview').waitFor();
}

async function verifiesADomain(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Verify your sending domain' }).click();
  await page.getByLabel('Domain', { exact: true }).fill('kranichzug.test');
  await button(page, 'Add').click();
  await page.getByRole('heading', { name: /kranichzug\.test/ }).waitFor();
  await button(page, 'Check records now').click();
  await page.getByText('kranichzug.test is verified').waitFor();
}

async function sendsTheFirstRequest(page: Page): Promise<void> {
  await menu(page, 'Overview');
  await button(page, 'Create API key').click();
  await page.getByText('Waiting for your first request…').waitFor();
  key = (await page.locator('[data-slot=secret]').textContent()) ?? '';
  const command = (await page.getByRole('region', { name: 'curl request' }).textContent()) ?? '';
  expect(command).toContain(key);
  const { stdout } = await promisify(execFile)('bash', ['-c', command]);
  expect(JSON.parse(stdout)).toMatchObject({ success: true });
  const confirmation = page.locator('[data-slot=confirmation]');
  await confirmation.getByText(`Your first email to ${developer.email} was accepted.`).waitFor();
  await confirmation.getByText('Delivered', { exact: true }).waitFor();
  await confirmation.getByRole('link', { name: 'See what happens to it' }).click();
  await page.getByText('The recipient’s server accepted this email.').waitFor();
}

/** Answers the id of the template. */
async function writesATemplate(page: Page): Promise<string> {
  await menu(page, 'Templates');
  await page.getByRole('link', { name: 'New template' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Welcome');
  await page.getByLabel('From', { exact: true }).fill('hello@kranichzug.test');
  await button(page, 'Layouts').click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Welcome/ })
    .click();
  await page.getByLabel('Subject').fill('Welcome, {{firstName ?? friend}}');
  await button(page, 'Save').click();
  await page.getByText('Template saved').first().waitFor();
  await button(page, 'Send test email').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Send test' }).click();
  const subjects = async () => (await world.mailTo(developer.email)).map(({ subject }) => subject);
  await expect.poll(subjects).toContainEqual(expect.stringContaining('Welcome, '));
  await dialog.getByRole('button', { name: 'Close' }).click();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  // The composer has the whole window; the menu is where one goes back to.
  await page.getByRole('link', { name: 'Templates', exact: true }).click();
  return id;
}

/** As the application does it, with the key of the first request. */
async function applicationSends(template: string): Promise<void> {
  const answer = await world.api.call(key, 'POST', '/v1/send', {
    to: guest,
    template,
    // A welcome is marketing mail, and who signs up has agreed to it.
    subscribed: true,
    data: { firstName: 'Ada' },
    tags: { flow: 'welcome' },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function looksTheMailUp(page: Page): Promise<void> {
  await menu(page, 'Emails');
  await page.getByLabel('Tag (name:value)').fill('flow:welcome');
  await emails(page).filter({ hasText: guest }).getByRole('link').first().click();
  await heading(page, 'Welcome, Ada').waitFor();
  await page.getByText('The recipient’s server accepted this email.').waitFor();
  const timeline = page.locator('section', { has: page.getByRole('heading', { name: 'Timeline' }) });
  await expect
    .poll(() => timeline.getByRole('listitem').allTextContents())
    .toEqual([
      expect.stringContaining('Accepted'),
      expect.stringContaining('Sent'),
      expect.stringContaining('Delivered'),
    ]);
}

async function addsAnEndpoint(page: Page, url: string): Promise<void> {
  await menu(page, 'Settings');
  await page.getByRole('tab', { name: 'Webhooks' }).click();
  await button(page, 'Add endpoint').click();
  const dialog = page.getByRole('dialog', { name: 'Add webhook endpoint' });
  await dialog.getByLabel('URL').fill(url);
  await dialog.getByLabel('Events').fill('email.delivery');
  await page.keyboard.press('Tab');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await page.getByRole('dialog', { name: 'Endpoint added' }).waitFor();
  await button(page, 'Done').click();
  await page.getByRole('link', { name: url }).click();
}

async function invites(page: Page): Promise<void> {
  await menu(page, 'Settings');
  await page.getByRole('tab', { name: 'Team' }).click();
  await page.getByLabel('Email address').fill(colleague.email);
  await button(page, 'Send invitation').click();
  await page.getByRole('region', { name: 'Pending invitations' }).getByText(colleague.email, { exact: true }).waitFor();
}

async function joins(page: Page): Promise<void> {
  await page.goto(await linkInInbox(page, colleague.email, 'Accept invitation'));
  await heading(page, 'Join Kranichzug').waitFor();
  await page.getByLabel('Choose a password').fill(colleague.password);
  await button(page, 'Create account and join').click();
  await button(page, 'Project: Kranichzug. Switch project').waitFor();
  await menu(page, 'Emails');
  await emails(page).filter({ hasText: guest }).first().waitFor();
}

test('a developer’s first day: account, domain, first request, template, look-up, webhook and a colleague', async () => {
  await using receiver = await startReceiver();
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  await world.inPage({}, async (page) => {
    await signsUp(page);
    await verifiesADomain(page);
    await sendsTheFirstRequest(page);
    const template = await writesATemplate(page);
    await applicationSends(template);
    await looksTheMailUp(page);
    await addsAnEndpoint(page, url);
    await applicationSends(template);
    await page
      .getByRole('region', { name: 'Deliveries' })
      .getByRole('listitem')
      .filter({ hasText: 'Delivered' })
      .waitFor();
    expect(receiver.requests.map(({ body }) => JSON.parse(body).type)).toEqual(['email.delivery']);
    await invites(page);
  });
  await world.inPage({}, joins);
});
