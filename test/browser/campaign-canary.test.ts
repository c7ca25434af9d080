import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { accessibilityProblems, desktop } from '../support/browser.ts';
import { contacts } from '../support/campaign-fixtures.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config);
  await joins(world.database.db, project.id, person, 'OWNER');
  await contacts(world.database.db, project.id, 30);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const call = (method: string, path: string, body?: unknown) => world.api.call(project.secretKey, method, path, body);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('a campaign goes to a canary first, shows its reports against the limits, and is let go by a member', () =>
  world.inPage({ viewport: desktop }, async (page) => {
    await signInAs(page, world.url, person.session);
    const { body } = await world.api.call(project.secretKey, 'POST', '/campaigns', {
      name: 'Autumn migration',
      subject: 'The geese leave',
      body: '<p>Look up.</p>',
      from: project.sender,
      audienceType: 'ALL',
    });
    const { id } = body.data;
    await page.goto(`${world.url}/app/${project.id}/campaigns/${id}?step=send`);
    const send = page.getByRole('button', { name: 'Send to 30 contacts' });
    await send.waitFor();
    await page.getByLabel('Send to a few contacts first').check();
    await page.getByLabel('First recipients').fill('5');
    await page.getByLabel('Bounce limit (%)').fill('101');
    expect(await accessibilityProblems(page)).toEqual([]);
    await expect.poll(() => send.getAttribute('aria-disabled')).toBeNull();
    await send.click();
    // The browser names the field that is out of bounds, and nothing is sent.
    expect(await page.getByLabel('Bounce limit (%)').evaluate((field: HTMLInputElement) => field.validity.valid)).toBe(
      false,
    );
    await page.getByLabel('Bounce limit (%)').fill('5');
    await send.click();

    const card = page.locator('[data-slot=card]', {
      has: page.getByRole('heading', { name: 'Send to a few first', exact: true }),
    });
    await card.getByText('Everyone else waits until').waitFor();
    await card.getByText('5 of 5 recipients sent').waitFor();
    await card.getByText('limit 5%').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Continue to everyone else').click();
    await card.getByText('Continued by a member').waitFor();
    await expect
      .poll(async () => (await world.api.call(project.secretKey, 'GET', `/campaigns/${id}`)).body.data)
      .toMatchObject({ status: 'SENT', sentCount: 30 });
    expect(await accessibilityProblems(page)).toEqual([]);
  }));

test('whoever chooses a canary in a new project is told at how many bounces it is disabled, in an older one not', async () => {
  const own = await aProject(world.database, 'Storchenhof');
  await joins(world.database.db, own.id, person, 'OWNER');
  await contacts(world.database.db, own.id, 20);
  const { body } = await world.api.call(own.secretKey, 'POST', '/campaigns', {
    name: 'Storks',
    subject: 'The storks are back',
    body: '<p>Look up.</p>',
    from: own.sender,
    audienceType: 'ALL',
  });
  const limits = (await world.api.call(own.secretKey, 'GET', '/deliverability')).body.limits as {
    of: string;
    window: string;
    unit: string;
    critical: { count: number };
  }[];
  const most = (of: string) =>
    limits.find((limit) => limit.of === of && limit.window === 'twentyFourHour' && limit.unit === 'emails')?.critical
      .count;
  const note = `This project is new: ${most('bounces')} bounces or ${most('complaints')} complaints within 24 hours disable it`;
  await world.inPage({ viewport: desktop }, async (page) => {
    await signInAs(page, world.url, person.session);
    const open = async () => {
      await page.goto(`${world.url}/app/${own.id}/campaigns/${body.data.id}?step=send`);
      await page.getByLabel('Send to a few contacts first').waitFor();
    };
    await open();
    await expect.poll(() => page.getByText('This project is new').count()).toBe(0);
    await page.getByLabel('Send to a few contacts first').check();
    await page.getByText(note).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await world.database.db.count(`update projects set created_at = now() - interval '31 days' where id = $1`, [
      own.id,
    ]);
    await open();
    const read = page.waitForResponse((response) => response.url().includes('/deliverability'));
    await page.getByLabel('Send to a few contacts first').check();
    await (await read).finished();
    await page.getByLabel('First recipients').fill('5');
    await expect.poll(() => page.getByText('This project is new').count()).toBe(0);
  });
});

test('a paused campaign is fixed and continued, and who got the first version gets a correction', () =>
  world.inPage({ viewport: desktop }, async (page) => {
    await signInAs(page, world.url, person.session);
    const { body } = await call('POST', '/campaigns', {
      name: 'Spring count',
      subject: 'The herons are back',
      body: '<p>Wrong link</p>',
      from: project.sender,
      audienceType: 'ALL',
    });
    const { id } = body.data;
    // The canary is a pause for five at a certain place.
    await call('POST', `/campaigns/${id}/send`, { canary: { recipients: 5, hold: '60m', minDelivered: 0 } });
    await expect.poll(async () => (await call('GET', `/campaigns/${id}/stats`)).body.data.sentCount).toBe(5);
    await call('POST', `/campaigns/${id}/pause`);
    await page.goto(`${world.url}/app/${project.id}/campaigns/${id}`);
    await button(page, 'Fix and continue').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('5 recipients have already received').waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: 'Save and continue' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Subject', { exact: true }).fill('The herons are really back');
    await dialog.getByText('Changed: subject.').waitFor();
    const changes = dialog.getByRole('region', { name: 'Changes', exact: true });
    await changes.getByText('really', { exact: false }).waitFor();
    await dialog.getByRole('textbox', { name: 'Body' }).fill('<p>Right link</p>');
    await dialog.getByText('Changed: subject and content.').waitFor();
    const html = changes.getByRole('region', { name: 'HTML changes' });
    await html.getByText('− <p>Wrong link</p>').waitFor();
    await html.getByText('+ <p>Right link</p>').waitFor();
    await dialog.getByLabel('I have checked the new version').check();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save and continue' }).click();
    await dialog.waitFor({ state: 'detached' });
    await call('POST', `/campaigns/${id}/canary/continue`);
    await expect
      .poll(async () => (await call('GET', `/campaigns/${id}`)).body.data)
      .toMatchObject({ status: 'SENT', sentCount: 30, contentVersion: 2 });
    await page.reload();
    await page.getByText('Version 1: 5 sent').waitFor();
    await page.getByText('Version 2: 25 sent').waitFor();
    await page.getByText('Version 2', { exact: true }).first().waitFor();

    await button(page, 'Send correction').click();
    await dialog.getByText('5 contacts right now.').waitFor();
    await dialog.getByLabel('Subject', { exact: true }).fill('Correction: the herons');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create draft' }).click();
    await page.getByRole('heading', { name: 'Spring count (Correction)' }).waitFor();
    const draft = (await call('GET', `/campaigns/${page.url().split('/').at(-1)?.split('?')[0]}`)).body.data;
    expect(draft).toMatchObject({ status: 'DRAFT', resendOf: id, correction: { versions: [1], who: 'got' } });
    expect(draft.totalRecipients).toBe(5);

    await page.goto(`${world.url}/app/${project.id}/campaigns/${id}`);
    await button(page, 'Follow up').click();
    await dialog.getByText('30 contacts right now.').waitFor();
    await page.keyboard.press('Tab');
    await dialog.getByLabel('Send to').selectOption('Recipients who clicked a link');
    await dialog.getByText('None of these recipients can receive the email.').waitFor();
    await dialog.getByLabel('Send to').selectOption('Recipients who neither opened it nor clicked a link');
    await dialog.getByText('30 contacts right now.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create draft' }).press('Enter');
    await page.getByRole('heading', { name: 'Spring count (Follow-up)' }).waitFor();
  }));
