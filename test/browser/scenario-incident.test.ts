import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

// An operator's bad day: a list from a fair bounces, the provider is down, a limit stops a workflow, and somebody wants to be forgotten.
let world: DashboardWorld;
let project: TestProject;
let operator: Person;
let app: AutomationHand;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Kranichzug');
  operator = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, operator, 'OWNER');
  app = automationHand(world.api, project);
  // A project of its first days would be disabled by this many bounces.
  await world.database.db.count(`update projects set created_at = now() - interval '90 days' where id = $1`, [
    project.id,
  ]);
  await world.database.db.count(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, case when n % 2 = 0 then 'bounce+' || n || '@fair.test' else 'member-' || n || '@kranich.test' end,
       true, jsonb_build_object('firstName', 'Member ' || n)
     from generate_series(1, 60) n`,
    [project.id],
  );
});
afterAll(() => world?.[Symbol.asyncDispose]());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const menu = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
const card = (page: Page, title: string) =>
  page.locator('[data-slot=card]', { has: page.getByRole('heading', { name: title, exact: true }) });

/** Sends a campaign to a canary, which stops it. */
async function sendsWithACanary(page: Page, campaign: string): Promise<void> {
  await menu(page, 'Campaigns');
  await page.getByRole('link', { name: 'Autumn migration' }).click();
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Send' }).click();
  await page.getByLabel('Send to a few contacts first').check();
  await page.getByLabel('First recipients').fill('20');
  await page.getByLabel('Bounce limit (%)').fill('5');
  await page.getByRole('button', { name: /^Send to \d+ contacts$/ }).click();
  await card(page, 'Send to a few first')
    .getByText(/^Paused: \d+ of \d+ \(.*\) bounced, more than the limit of 5%\./)
    .waitFor();
  const { sentCount } = await statsOf(campaign);
  expect(sentCount).toBeLessThanOrEqual(20);
}
const statsOf = async (campaign: string) => (await app.done('GET', `/campaigns/${campaign}/stats`)).data;

/** From the figures to the cause: a domain, an email, what was recorded about it. */
async function findsTheCause(page: Page): Promise<void> {
  await menu(page, 'Deliverability');
  const domain = page
    .getByRole('region', { name: 'By recipient domain', exact: true })
    .getByRole('row')
    .filter({ hasText: 'fair.test' });
  await domain.waitFor();
  await menu(page, 'Activity');
  await page.getByText('An email bounced').first().waitFor();
  await page.getByText('Campaign paused').first().waitFor();
  await page.getByLabel('Type').selectOption('Bounced');
  await page.getByText('The server was unable to deliver').first().waitFor();
  await menu(page, 'Emails');
  await page.getByLabel('Status').selectOption('Bounced');
  const bounced = page.getByRole('region', { name: 'Emails' }).getByRole('listitem').filter({ hasText: '@fair.test' });
  await bounced.first().getByRole('link').first().click();
  await button(page, 'Why?').click();
  const dialog = page.getByRole('dialog', { name: 'Why?' });
  await dialog
    .getByRole('list', { name: 'Decisions' })
    .getByRole('listitem')
    .filter({ hasText: 'bounce' })
    .first()
    .waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
}

async function suppressesTheFairAndContinues(page: Page, campaign: string): Promise<void> {
  await menu(page, 'Suppressions');
  await button(page, 'New rule').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('List of the fair');
  await dialog.getByLabel('Suppresses').selectOption('DOMAIN');
  await dialog.getByLabel('Pattern').fill('fair.test');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: 'fair.test', exact: true }).waitFor();
  await menu(page, 'Campaigns');
  await page.getByRole('link', { name: 'Autumn migration' }).click();
  await button(page, 'Resume').click();
  await page.getByText('Balanced: every recipient is accounted for.').waitFor();
  const members = (await world.mailTo('@kranich.test')).length;
  expect(members).toBe(30);
  expect(await statsOf(campaign)).toMatchObject({ pendingCount: 0 });
}

/** The provider answers 503: the email waits, its page says so, and it leaves by itself afterwards. */
async function waitsForTheProvider(page: Page): Promise<void> {
  const faults = (method: string, body?: object) =>
    fetch(`${world.sandbox.url}/api/faults`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  await faults('POST', { kind: 'status', status: 503, times: 1_000 });
  const mail = { to: 'ada@example.com', from: project.sender, subject: 'Your ticket', body: '<p>Row 4</p>' };
  const { email } = (await app.done('POST', '/v1/send', mail)).data.emails[0];
  await expect.poll(async () => (await app.done('GET', `/emails/${email}`)).attempts).toBeGreaterThan(1);
  await menu(page, 'Emails');
  await page.getByLabel('Status').selectOption('Any status');
  await page
    .getByRole('region', { name: 'Emails' })
    .getByRole('listitem')
    .filter({ hasText: 'Your ticket' })
    .getByRole('link')
    .first()
    .click();
  // While a call to the provider is under way the explanation says that, so it is opened until it has the refusal.
  const dialog = page.getByRole('dialog', { name: 'Why?' });
  const refusal = dialog
    .getByText(/The email is pending: .* earlier attempts failed, the last one with: .*503/)
    .first();
  await expect
    .poll(async () => {
      await button(page, 'Why?').click();
      await dialog.getByRole('button', { name: 'Copy' }).waitFor();
      const isThere = await refusal.isVisible();
      await dialog.getByRole('button', { name: 'Close', exact: true }).click();
      return isThere;
    })
    .toBe(true);
  await faults('DELETE');
  await page.getByText('The recipient’s server accepted this email.').waitFor();
}

/** A monthly limit has stopped a workflow: it is lifted, and what failed is tried again. */
async function retriesWhatFailed(page: Page, workflow: string): Promise<void> {
  await menu(page, 'Workflows');
  await page.getByRole('link', { name: 'Onboarding' }).click();
  await page.getByRole('link', { name: 'Runs' }).first().click();
  await page.getByLabel('Status').selectOption('Failed');
  await button(page, 'Retry failed runs').waitFor();
  await menu(page, 'Settings');
  await page.getByRole('tab', { name: 'Billing' }).click();
  await page.getByText('Limit reached: sending stopped').waitFor();
  await button(page, 'Change limits').click();
  const limits = page.getByRole('dialog', { name: 'Monthly limits' });
  await limits.getByLabel('Workflows').fill('');
  await limits.getByRole('button', { name: 'Save limits' }).click();
  await page.getByText('Limits saved').waitFor();
  await page.goto(`${world.url}/app/${project.id}/workflows/${workflow}/executions?status=FAILED`);
  await button(page, 'Retry failed runs').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByText('2 runs retried').waitFor();
  await page.getByText('No runs match').waitFor();
  await expect
    .poll(async () => (await app.done('GET', `/workflows/${workflow}/executions?status=COMPLETED`)).total)
    .toBe(3);
}

async function erases(page: Page, email: string): Promise<void> {
  await menu(page, 'Contacts');
  await page.getByLabel('Search').first().fill(email);
  await page.getByRole('link', { name: email }).click();
  await button(page, 'Privacy').click();
  await page.getByRole('menuitem', { name: 'Erase contact', exact: true }).click();
  const dialog = page.getByRole('alertdialog', { name: `Erase ${email} permanently?` });
  await dialog.getByLabel('Reference').fill('Letter of November 23');
  await dialog.getByLabel(`Type “${email}” to confirm`).fill(email);
  await dialog.getByRole('button', { name: 'Erase contact', exact: true }).click();
  await page.getByRole('heading', { name: 'Contact erased', exact: true }).waitFor();
  await page.getByText('Verified', { exact: true }).waitFor();
}

test('an operator’s incident: bounces, a provider that is down, executions that failed, and an erasure', async () => {
  const campaign = (
    await app.done('POST', '/campaigns', {
      name: 'Autumn migration',
      subject: 'The cranes leave',
      body: '<p>Look up, {{firstName}}.</p>',
      from: project.sender,
      audienceType: 'ALL',
    })
  ).data.id;
  const { id: workflow } = await app.automation();
  await app.step(workflow, 'SEND_EMAIL', { templateId: await app.template() }, { name: 'Greet' });
  await app.enable(workflow);
  const limits = { campaigns: null, transactional: null, inbound: null, workflows: 1 };
  await app.done('PUT', `/users/@me/projects/${project.id}/billing-limits`, limits);
  for (const name of ['first', 'second', 'third']) {
    await app.done('POST', `/workflows/${workflow}/executions`, {
      contactId: await app.contact(`${name}@signup.test`),
    });
    const ended = async () =>
      (await app.done('GET', `/workflows/${workflow}/executions?status=COMPLETED`)).total +
      (await app.done('GET', `/workflows/${workflow}/executions?status=FAILED`)).total;
    await expect.poll(ended).toBe(['first', 'second', 'third'].indexOf(name) + 1);
  }
  await world.inPage({}, async (page) => {
    await signInAs(page, world.url, operator.session);
    await page.goto(`${world.url}/app/${project.id}`);
    await sendsWithACanary(page, campaign);
    await findsTheCause(page);
    await suppressesTheFairAndContinues(page, campaign);
    await waitsForTheProvider(page);
    await retriesWhatFailed(page, workflow);
    await erases(page, 'member-1@kranich.test');
  });
  expect((await app.call('GET', '/contacts?search=member-1@kranich.test')).body.total).toBe(0);
});
