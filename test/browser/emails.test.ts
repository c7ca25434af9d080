import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordReceivedMail } from '../../src/feedback/reports/report.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { accessibilityProblems } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;
let own: AutomationHand;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
  own = automationHand(world.api, project);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const inDashboard = (work: (page: Page) => Promise<void>) =>
  world.inPage({ timezoneId: 'Europe/Berlin' }, async (page) => {
    await signInAs(page, world.url, person.session);
    await work(page);
  });
const open = (page: Page, place: string) => page.goto(`${world.url}/app/${project.id}/${place}`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const rows = (page: Page) => page.getByRole('region', { name: 'Emails' }).getByRole('listitem');

async function send(to: string, more: object = {}): Promise<string> {
  const body = { to, from: project.sender, subject: 'Tides', body: '<p>High water at six</p>', ...more };
  return (await own.done('POST', '/v1/send', body)).data.emails[0].email;
}
const statusOf = async (id: string) => (await own.done('GET', `/emails/${id}`)).status;

test('a mail is found by its recipient, tag and status, and its page says what was sent and what happened', async () => {
  const id = await send('imke@wattenmeer.test', {
    tags: { order: 'A-17' },
    replyTo: 'harbor@wattenmeer.test',
    body: '<p>High water at six. <a href="https://tides.test/today">More</a></p>',
  });
  await send('ole@wattenmeer.test', { subject: 'Low tide' });
  await expect.poll(() => statusOf(id)).toBe('DELIVERED');
  await world.database.db.count(
    `insert into events (id, project_id, contact_id, email_id, name, data)
     select uuidv7(), project_id, contact_id, id, 'email.click', '{"link": "https://tides.test/today"}' from emails where id = '${id}'`,
  );
  await inDashboard(async (page) => {
    await open(page, 'contacts');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Emails' }).click();
    await rows(page).filter({ hasText: 'ole@wattenmeer.test' }).waitFor();
    // A click beside the link opens it as well; what is marked to be copied does not.
    const subject = rows(page).getByText('Low tide', { exact: true });
    await subject.dblclick({ position: { x: 5, y: 10 } });
    await page.waitForURL(/\/emails\/[0-9a-f-]{36}$/);
    await page.goBack();
    await subject.waitFor();

    // Part of an address leads to the whole one.
    await page.getByLabel('Recipient').fill('imke@');
    await button(page, 'imke@wattenmeer.test').click();
    await rows(page).filter({ hasText: 'Tides' }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No emails match').waitFor();
    await page.getByLabel('Status').selectOption('Any status');
    await page.getByLabel('Recipient').fill('');
    // By keyboard: from the recipient to the subject, whose words may come in any order.
    await rows(page).filter({ hasText: 'ole@wattenmeer.test' }).waitFor();
    await page.getByLabel('Recipient').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.type('tide LOW');
    await page.waitForURL(/subject=/);
    await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('ole@wattenmeer.test')]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByLabel('Subject').fill('spring tide');
    await page.getByText('No emails match').waitFor();
    await page.getByLabel('Subject').fill('');
    await rows(page).filter({ hasText: 'ole@wattenmeer.test' }).waitFor();
    await page.getByLabel('Tag (name:value)').fill('order');
    await page.getByText('Type a full tag').waitFor();
    await page.getByLabel('Tag (name:value)').fill('order:A-17');
    await rows(page).filter({ hasText: 'imke@wattenmeer.test' }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);

    // By keyboard: from the list to the mail.
    await page.getByRole('region', { name: 'Emails' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Tides' }).waitFor();
    await page.getByText('The recipient’s server accepted this email.').waitFor();
    await page.frameLocator('iframe').getByText('High water at six.').waitFor();
    const timeline = page.locator('section', { has: page.getByRole('heading', { name: 'Timeline' }) });
    await expect
      .poll(() => timeline.getByRole('listitem').allTextContents())
      .toEqual([
        expect.stringContaining('Accepted'),
        expect.stringContaining('Sent'),
        expect.stringContaining('Delivered'),
        expect.stringContaining('https://tides.test/today'),
      ]);
    await page.getByText('1 click', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Email' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'Text part' }).getByText('High water at six. More').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByText('harbor@wattenmeer.test').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'order: A-17' }).click();
    await rows(page).filter({ hasText: 'imke@wattenmeer.test' }).waitFor();
  });
});

test('a search for a rare subject says how far it has looked', async () => {
  const id = await send('keno@wattenmeer.test', { subject: 'Seal pup at the jetty' });
  await world.database.db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, status)
     select uuidv7(), e.project_id, e.contact_id, e.to_address, e."from", 'Tides', 'TRANSACTIONAL', 'TRANSACTIONAL', 'SENT'
     from emails e, generate_series(1, 7500) where e.id = $1`,
    [id],
  );
  await inDashboard(async (page) => {
    const { promise: seen, resolve: goOn } = Promise.withResolvers<void>();
    await page.route(/\/emails\?.*cursor=/, async (route) => {
      await seen;
      await route.continue();
    });
    await open(page, 'emails?subject=jetty%20seal');
    const today = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'Europe/Berlin' }).format(
      new Date(),
    );
    await page.getByText(`Searched back to ${today}`).waitFor();
    goOn();
    await rows(page).filter({ hasText: 'Seal pup at the jetty' }).waitFor();
  });
});

test('what the filters leave is downloaded as a CSV file, by keyboard', async () => {
  await send('ina@wattenmeer.test', { subject: 'Ebb & flow, daily' });
  await send('jan@wattenmeer.test', { subject: 'Gulls' });
  await inDashboard(async (page) => {
    await open(page, 'emails?subject=ebb');
    await rows(page).filter({ hasText: 'ina@wattenmeer.test' }).waitFor();
    await button(page, 'Export').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Export emails' });
    await dialog.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const waiting = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download CSV' }).focus();
    await page.keyboard.press('Enter');
    const lines = readFileSync(await (await waiting).path(), 'utf8').split('\r\n');
    expect(lines.slice(1)).toEqual([expect.stringContaining('"Ebb & flow, daily"'), '']);
    await page.getByText('Emails exported').waitFor();
    await dialog.waitFor({ state: 'detached' });
    // Half an address is no filter yet.
    await page.getByLabel('Recipient').fill('ina@');
    await button(page, 'ina@wattenmeer.test').waitFor();
    await expect.poll(() => button(page, 'Export').getAttribute('aria-disabled')).toBe('true');
  });
});

test('a received mail is shown with the name of its sender', async () => {
  const wrote = 'Grace Hopper <grace@reader.test>';
  const mail = {
    provider: 'postmark' as const,
    key: 'inbound:grace',
    messageId: 'grace',
    from: 'bounces@lists.test',
    fromHeader: wrote,
    received: [project.sender],
    recipients: [project.sender],
    subject: 'A question',
    timestamp: new Date().toISOString(),
    hasContent: true,
    body: '<p>Where is the heron?</p>',
    verdicts: {},
    processingTimeMillis: null,
  };
  const erased = { suppressed: async () => new Set<string>() };
  await recordReceivedMail(world.database.db, { freeTier: null, publicDailyEmails: null }, erased, mail);
  await inDashboard(async (page) => {
    await open(page, 'emails');
    await rows(page).filter({ hasText: 'A question' }).getByRole('link', { name: 'Grace Hopper' }).click();
    await page.locator('header').getByRole('link', { name: wrote }).waitFor();
    await page.getByRole('tab', { name: 'Headers' }).click();
    await page.getByRole('tabpanel').getByText(wrote, { exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});

test('mail that was not sent says why, and is sent again', async () => {
  await own.done('POST', '/suppressions', { name: 'Test traffic', kind: 'DOMAIN', pattern: 'qa.test', enabled: true });
  const suppressed = await send('a@qa.test');
  // Taken out of the queue before its time, so that no worker has a say.
  const failed = await send('refused@wattenmeer.test', {
    scheduledFor: new Date(Date.now() + 86_400_000).toISOString(),
  });
  await world.database.db.count(`delete from email_queue where email_id = '${failed}'`);
  const state = (status: string, reason: string) =>
    world.database.db.count(`update emails set status = '${status}', reason = '${reason}' where id = '${failed}'`);
  await inDashboard(async (page) => {
    await open(page, `emails/${suppressed}`);
    await page.getByText('Not sent: the suppression rule “Test traffic” matches this address.').waitFor();
    for (const [status, reason, sentence, badge] of [
      [
        'FAILED',
        '{"code": "refused", "number": 406, "words": "Inactive"}',
        'Not sent: Refused by the provider (406): Inactive.',
        'Failed',
      ],
      ['FAILED', '{"code": "submission_unknown"}', 'it is unknown whether this email arrived', 'Unconfirmed'],
      ['FAILED', '{"code": "not_subscribed"}', 'Not sent: The contact is not subscribed.', 'Skipped'],
      ['BOUNCED', '{"code": "provider", "words": "No such user"}', 'returned this email (No such user)', 'Bounced'],
    ] as const) {
      await state(status, reason);
      await open(page, `emails/${failed}`);
      await page.getByText(sentence).waitFor();
      await page.locator('header').getByText(badge, { exact: true }).waitFor();
    }
    await state('FAILED', '{"code": "submission_unknown"}');
    await open(page, `emails/${failed}`);
    await button(page, 'Resend').click();
    const dialog = page.getByRole('alertdialog', {
      name: 'Send to refused@wattenmeer.test again? It may arrive twice.',
    });
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Resend email' }).click();
    await page.getByText('The recipient’s server accepted this email.').waitFor();
    await page.getByRole('link', { name: 'Earlier email' }).click();
    await page.getByRole('link', { name: 'Resend 1' }).waitFor();
  });
});

test('scheduled mail is moved, sent now and canceled from its list', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const [moved, released, canceled] = await Promise.all(
    ['bo', 'cy', 'di'].map((name, place) => send(`${name}@wattenmeer.test`, { scheduledFor: inDays(place + 1) })),
  );
  await inDashboard(async (page) => {
    await open(page, 'emails');
    await page.getByRole('tab', { name: 'Scheduled' }).click();
    const waiting = page.getByRole('region', { name: 'Scheduled emails' }).getByRole('listitem');
    await waiting.filter({ hasText: 'di@wattenmeer.test' }).waitFor();
    await expect.poll(() => waiting.count()).toBe(3);

    await button(page, 'Reschedule the email to bo@wattenmeer.test').click();
    const dialog = page.getByRole('dialog', { name: 'Reschedule the email to bo@wattenmeer.test' });
    const time = dialog.getByLabel('Time (Europe/Berlin)');
    await time.fill('2099-01-01T08:00');
    await dialog.getByRole('button', { name: 'Reschedule email' }).click();
    await dialog.getByText('at most 30 days ahead', { exact: false }).nth(1).waitFor();
    const next = new Date(Date.now() + 9 * 86_400_000).toISOString().slice(0, 10);
    await time.fill(`${next}T08:00`);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('The email to bo@wattenmeer.test is rescheduled').waitFor();
    await expect.poll(() => waiting.last().textContent()).toContain('bo@wattenmeer.test');

    await button(page, 'Send now to cy@wattenmeer.test').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Send now' }).click();
    await page.getByText('The email to cy@wattenmeer.test is on its way').waitFor();

    await button(page, 'Cancel the email to di@wattenmeer.test').click();
    const question = page.getByRole('alertdialog', { name: 'Cancel the email to di@wattenmeer.test?' });
    expect(await accessibilityProblems(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel email' }).click();
    await page.getByText('The email to di@wattenmeer.test is canceled').waitFor();
    await expect.poll(() => waiting.count()).toBe(1);

    await open(page, `emails/${canceled}`);
    await page.getByText('Not sent: this email was canceled.').waitFor();
  });
  expect((await own.done('GET', `/emails/${moved}`)).scheduledFor).toMatch(/T0[67]:00:00/);
  await expect.poll(() => statusOf(released ?? '')).toBe('DELIVERED');
});

test('the activity, the contact and a recipient of a campaign lead to the mail', async () => {
  const id = await send('rike@wattenmeer.test', { subject: 'Spring counts' });
  await expect.poll(() => statusOf(id)).toBe('DELIVERED');
  const { contact } = await own.done('GET', `/emails/${id}`);
  const { data } = await own.done('POST', '/campaigns', {
    name: 'Herons',
    subject: 'The herons are back',
    body: '<p>Hi</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  await own.done('PATCH', `/contacts/${contact.id}`, { subscribed: true });
  await own.done('POST', `/campaigns/${data.id}/send`, {});
  await expect.poll(async () => (await own.done('GET', `/campaigns/${data.id}`)).data.status).toBe('SENT');
  await inDashboard(async (page) => {
    await open(page, 'activity');
    await page.getByRole('link', { name: 'Spring counts' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Spring counts' }).waitFor();
    await page.getByRole('link', { name: 'rike@wattenmeer.test' }).click();
    await page.getByRole('tab', { name: 'Emails' }).click();
    await page
      .getByRole('region', { name: 'Emails to this contact' })
      .getByRole('listitem')
      .filter({ hasText: 'Spring counts' })
      .waitFor();
    await open(page, `campaigns/${data.id}`);
    await page.getByRole('link', { name: 'View email to rike@wattenmeer.test' }).click();
    await page.getByRole('heading', { level: 1, name: 'The herons are back' }).waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('dialog').getByRole('combobox').fill(id);
    await page.getByRole('option', { name: /Spring counts/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Spring counts' }).waitFor();
  });
});
