import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { accessibilityProblems, desktop, phone } from '../support/browser.ts';
import { contacts } from '../support/campaign-fixtures.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let admin: Person;
let member: Person;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  admin = await aPerson(world.database.db, world.api.config, { name: 'imke.hansen' });
  member = await aPerson(world.database.db, world.api.config, { name: 'ole.brodersen' });
  await joins(world.database.db, project.id, admin, 'ADMIN');
  await joins(world.database.db, project.id, member, 'MEMBER');
  await contacts(world.database.db, project.id, 12);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const as = (person: Person, viewport: typeof desktop, work: (page: Page) => Promise<void>) =>
  world.inPage({ viewport }, async (page) => {
    await signInAs(page, world.url, person.session);
    await work(page);
  });

async function campaign(): Promise<{ id: string; place: string }> {
  const { body } = await world.api.call(project.secretKey, 'POST', '/campaigns', {
    name: 'Autumn migration',
    subject: 'The geese leave',
    body: '<p>Dear {{nickname}}, <a href="">look up</a>.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const { id } = body.data;
  return { id, place: `${world.url}/app/${project.id}/campaigns/${id}?step=send` };
}
const campaignNow = async (id: string) =>
  (await world.api.call(project.secretKey, 'GET', `/campaigns/${id}`)).body.data;

test('every message is checked, problems come first, and what was checked is sent', async () => {
  const { id, place } = await campaign();
  await as(admin, desktop, async (page) => {
    await page.goto(place);
    // The check begins by itself, and nothing can be sent before it ends.
    const problems = page.getByRole('region', { name: 'Problems' });
    await problems.getByRole('row', { name: /A link without an address 12 contacts/ }).waitFor();
    await problems.getByRole('row', { name: /“nickname” is empty 12 contacts/ }).waitFor();
    const samples = page.getByRole('region', { name: 'Sample messages' });
    await samples.getByText(/^1 of /).waitFor();
    await button(page, 'Next message').click();
    await samples.getByText(/^2 of /).waitFor();
    await samples.frameLocator('iframe').getByText('look up').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Send to 12 contacts').click();
    await expect.poll(async () => (await campaignNow(id)).status).toBe('SENT');
  });
  expect((await campaignNow(id)).sentCount).toBe(12);
});

test('Checks and the review say that a variable is empty for most contacts, and how many have it', async () => {
  const own = await aProject(world.database, 'Möwenfreunde');
  await joins(world.database.db, own.id, admin, 'ADMIN');
  const call = async (path: string, body: object) => (await world.api.call(own.secretKey, 'POST', path, body)).body;
  for (let n = 1; n <= 25; n += 1)
    await call('/contacts', {
      email: `gull-${n}@example.com`,
      subscribed: true,
      data: n <= 8 ? { firstname: 'Ada' } : {},
    });
  const { id } = (
    await call('/campaigns', {
      name: 'Gulls',
      subject: 'The gulls are back',
      body: '<p>Dear {{firstName}}, look up.</p>',
      from: own.sender,
      audienceType: 'ALL',
    })
  ).data;
  await as(admin, desktop, async (page) => {
    await page.goto(`${world.url}/app/${own.id}/campaigns/${id}`);
    const checks = page.getByRole('region', { name: 'Checks' });
    await checks.getByText('“firstName” is empty for most of 25 contacts: 32% have “firstname”.').waitFor();
    await page.goto(`${world.url}/app/${own.id}/campaigns/${id}?step=send`);
    await page
      .getByRole('region', { name: 'Problems' })
      .getByRole('row', { name: '“firstName” is empty for most of 25 contacts; 32% have “firstname” 17 contacts' })
      .waitFor();
    await button(page, 'Send to 25 contacts').waitFor();
  });
  const { status, sentCount } = (await world.api.call(own.secretKey, 'GET', `/campaigns/${id}`)).body.data;
  expect([status, sentCount]).toEqual(['DRAFT', 0]);
});

test('nothing is sent to an audience that somebody has joined, and the next check is shown although the page still asks for the last', async () => {
  const { id, place } = await campaign();
  await as(admin, desktop, async (page) => {
    await page.goto(place);
    await page.getByLabel('If the audience has changed').selectOption('Don’t send if anyone has joined');
    await expect.poll(() => button(page, 'Send to 12 contacts').getAttribute('aria-disabled')).toBeNull();
    await world.api.call(project.secretKey, 'POST', '/contacts', { email: 'late@example.com' });
    const started = Promise.withResolvers<void>();
    await page.route('**/dry-runs/latest', async (route) => {
      const before = await route.fetch();
      await started.promise;
      await route.fulfill({ response: before }).catch(() => {});
    });
    await button(page, 'Send to 12 contacts').click();
    await page.getByText('The audience is not as it was reviewed: 1 joined').waitFor();
    const answered = page.waitForResponse((response) => response.url().endsWith('/dry-run'));
    await button(page, 'Check again').click();
    await answered;
    started.resolve();
    await button(page, 'Send to 13 contacts').waitFor();
  });
  expect((await campaignNow(id)).status).toBe('DRAFT');
});

test('an admin holds contacts out of marketing email, and the contact page says so', async () => {
  await as(admin, desktop, async (page) => {
    await page.goto(`${world.url}/app/${project.id}/settings`);
    await page.getByLabel('Percent of contacts').fill('100');
    await button(page, 'Save control group').click();
    await page.getByText('Control group saved').waitFor();
    await page.getByText('100% of contacts get no marketing email').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const [contact] = (await world.api.call(project.secretKey, 'GET', '/contacts?limit=1')).body.data;
    await page.goto(`${world.url}/app/${project.id}/contacts/${contact.id}`);
    await page.getByText('Gets no marketing email').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  const { place } = await campaign();
  await as(admin, phone, async (page) => {
    await page.goto(place);
    await page.getByText('In the control group (holdout)').waitFor();
    await page.goto(`${world.url}/app/${project.id}/settings`);
    await button(page, 'End control group').click();
    await button(page, 'End control group').last().click();
    await page.getByText('Control group ended').waitFor();
    await page.getByText('Hold a random share of contacts out').waitFor();
  });
});

test('a large send of a member waits for an admin, who approves it on a phone', async () => {
  await as(admin, desktop, async (page) => {
    await page.goto(`${world.url}/app/${project.id}/settings`);
    await page.getByLabel('Approval for campaigns above').fill('5');
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await button(page, 'Save').click();
    await page.getByText('Settings saved').waitFor();
  });
  const { id, place } = await campaign();
  await as(member, desktop, async (page) => {
    await page.goto(place);
    await page.getByLabel('At a time').check();
    await expect.poll(() => page.getByLabel('Time zone').inputValue()).toBe('Asia/Tokyo');
    await page.getByLabel('Now').check();
    await button(page, 'Send to 13 contacts').click();
    await page.getByText('Another admin has to approve it.').waitFor();
    await button(page, 'Withdraw request').waitFor();
    await expect.poll(() => button(page, 'Approve and send').count()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  expect((await campaignNow(id)).status).toBe('DRAFT');
  await as(admin, phone, async (page) => {
    await page.goto(place);
    await page.getByText(`${member.email} asked to send this campaign to 13 contacts`).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Approve and send').click();
    await expect.poll(async () => (await campaignNow(id)).status).toBe('SENT');
  });
});

test('of a large audience a sample is rendered where somebody chooses so, and every contact is checked either way', async () => {
  const own = await aProject(world.database, 'Storchenhof');
  await joins(world.database.db, own.id, admin, 'ADMIN');
  const audience = 10_000;
  await contacts(world.database.db, own.id, audience);
  const { body } = await world.api.call(own.secretKey, 'POST', '/campaigns', {
    name: 'Storks',
    subject: 'The storks are back',
    body: '<p>Dear {{nickname}}, look up.</p>',
    from: own.sender,
    audienceType: 'ALL',
  });
  const { id } = body.data;
  const place = `${world.url}/app/${own.id}/campaigns/${id}?step=send`;
  const choice = (page: Page) => page.getByLabel('Messages to render');
  await as(admin, desktop, async (page) => {
    await page.goto(place);
    // An audience of 10,000 is rendered within seconds, so that nothing is to be chosen.
    await page.getByText('10,000 contacts right now.').waitFor();
    await expect.poll(() => choice(page).count()).toBe(0);

    await world.api.call(own.secretKey, 'POST', '/contacts', { email: 'one-more@example.com' });
    await page.reload();
    await choice(page).waitFor();
    await expect.poll(() => choice(page).inputValue()).toBe('sample');
    await button(page, 'Check again').click();
    await page.getByText('1,000 messages rendered as a sample. Problems are counted within the sample.').waitFor();
    await page
      .getByRole('region', { name: 'Problems' })
      .getByRole('row', { name: /“nickname” is empty 1,000 contacts/ })
      .waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Send to 10,001 contacts').waitFor();
  });
  const { data } = (await world.api.call(own.secretKey, 'GET', `/campaigns/${id}/dry-runs/latest`)).body;
  expect(data).toMatchObject({ state: 'DONE', sample: 1_000, rendered: 1_000, audience: 10_001, wouldSend: 10_001 });
});
