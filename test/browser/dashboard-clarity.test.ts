import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { accessibilityProblems, phone, wide } from '../support/browser.ts';
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

const inDashboard = (work: (page: Page) => Promise<void>, options = {}) =>
  world.inPage({ locale: 'de-DE', timezoneId: 'Europe/Berlin', ...options }, async (page) => {
    await signInAs(page, world.url, person.session);
    await work(page);
  });
const open = (page: Page, place: string) => page.goto(`${world.url}/app/${project.id}/${place}`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('a skipped mail, a suppressed one and a failed workflow say so in the execution, the story and the activity', async () => {
  const contactId = await own.contact('imke@wattenmeer.test');
  await own.done('PATCH', `/contacts/${contactId}`, { subscribed: false });
  const { id } = await own.automation({ name: 'Willkommen', eventName: 'member.joined' });
  const templateId = (
    await own.done('POST', '/templates', {
      name: 'Letter',
      subject: 'The reeds',
      body: '<p>Hi</p>',
      from: project.sender,
      type: 'MARKETING',
    })
  ).id;
  await own.step(id, 'SEND_EMAIL', {}, { name: 'Letter', templateId });
  await own.step(id, 'EXIT', {}, { name: 'Done' });
  await own.enable(id);
  const run = await own.done('POST', `/workflows/${id}/executions`, { contactId });
  await expect
    .poll(async () => (await own.done('GET', `/workflows/${id}/executions/${run.id}`)).status)
    .not.toMatch(/RUNNING|WAITING/);
  await own.done('POST', '/suppressions', { name: 'Test traffic', kind: 'DOMAIN', pattern: 'qa.test', enabled: true });
  await own.done('POST', '/v1/send', { to: 'a@qa.test', from: project.sender, subject: 'Tides', body: '<p>Hi</p>' });
  await world.database.db.count(
    `update automation_runs set status = 'FAILED', exit_reason = 'The shop answered 500' where id = '${run.id}'`,
  );
  await world.database.db.count(
    `update automation_step_runs set status = 'SKIPPED', output = '{"exit": "sold", "reason": "sold the boat"}'
     where run_id = '${run.id}' and step_name = 'Done'`,
  );
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}/executions/${run.id}`);
    await page.getByText('Email not sent: the contact is unsubscribed.').waitFor();
    await page.getByText('The contact left at this step: sold the boat.').waitFor();
    const step = page.getByRole('article').filter({ hasText: 'Letter' });
    await expect.poll(() => step.locator('[data-tone=warn]').first().textContent()).toBe('Skipped');

    for (const place of [`contacts/${contactId}`, 'activity']) {
      await open(page, place);
      const failed = page.getByRole('listitem').filter({ hasText: 'Workflow failed' }).first();
      await failed.getByText('The shop answered 500').waitFor();
      await expect.poll(() => failed.locator('[data-tone]').first().getAttribute('data-tone')).toBe('bad');
      const skipped = page.getByRole('listitem').filter({ hasText: 'Skipped' }).first();
      await skipped.getByText('The contact is not subscribed').waitFor();
    }
    const suppressed = page.getByRole('listitem').filter({ hasText: 'a@qa.test' }).first();
    await suppressed.getByText('Suppressed by the rule “Test traffic”').waitFor();
    await page.getByLabel('Type', { exact: true }).selectOption('email.suppressed');
    await page.getByRole('listitem').filter({ hasText: 'a@qa.test' }).first().waitFor();
    await page.getByLabel('Type', { exact: true }).selectOption('');
    await page.getByLabel('Contact email').fill('imke@wattenmeer.test');
    await page.waitForURL(/contact=imke/);
    await page.getByRole('listitem').filter({ hasText: 'Workflow failed' }).first().waitFor();
    await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'a@qa.test' }).count()).toBe(0);
    await page.getByLabel('Contact email').fill('nobody@wattenmeer.test');
    await page.getByText('No contact has this address').waitFor();
  });
});

test('the activity says once that many entered a segment, opens to each of them, and is narrowed to a time', async () => {
  const names = ['adebar', 'klapper', 'rotstrumpf'];
  for (const name of names) await own.contact(`${name}@storks.test`, { bird: 'stork' });
  const filters = [{ field: 'data.bird', operator: 'equals', value: 'stork' }];
  const { id } = await own.done('POST', '/segments', {
    ...{ name: 'Storks', trackMembership: true },
    condition: { logic: 'AND', groups: [{ filters }] },
  });
  await own.done('POST', `/segments/${id}/compute`);
  await inDashboard(async (page) => {
    await open(page, 'activity');
    const entered = page.getByText('3 entered segment “Storks”');
    await entered.waitFor();
    const group = page.getByRole('listitem').filter({ has: entered });
    expect(await group.getByRole('listitem').count()).toBe(0);
    await group.getByRole('button', { name: 'Show entries' }).click();
    for (const name of names) await group.getByText(`${name}@storks.test`).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await world.database.db.count(
      `update events set created_at = created_at - interval '10 days' where project_id = $1 and name like 'segment.%'`,
      [project.id],
    );
    await page.getByLabel('Period', { exact: true }).selectOption('Last 7 days');
    await page.waitForURL(/days=/);
    await page.getByText(/in the last 7 days$/).waitFor();
    await expect.poll(() => entered.count()).toBe(0);
    await page.getByLabel('Period', { exact: true }).selectOption('Last 30 days');
    await entered.waitFor();
  });
});

test('times to come have their date, in one language whatever that of the browser, and both zones on hover', async () => {
  const at = new Date(Date.now() + 2 * 86_400_000 + 3_600_000);
  await own.contact('ole@wattenmeer.test');
  const { data } = await own.done('POST', '/campaigns', {
    name: 'Tide table',
    subject: 'Tides',
    body: '<p>Hi</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  await own.done('POST', `/campaigns/${data.id}/send`, { scheduledFor: at.toISOString() });
  await inDashboard(async (page) => {
    await open(page, 'campaigns');
    const time = page.locator(`time[datetime="${at.toISOString()}"]`);
    await time.waitFor();
    await expect.poll(() => time.textContent()).toMatch(/^in [23] days \(\w{3} \d+, \d+:\d\d [AP]M\)$/);
    await time.hover();
    await page
      .getByRole('tooltip')
      .getByText(/GMT\+\d[\s\S]*UTC/)
      .waitFor();
  });
});

test('somebody who left by their own link is subscribed again only with a reason, which their history keeps', async () => {
  const contactId = await own.contact('wiebke@wattenmeer.test');
  const email = await own.done('POST', '/v1/send', {
    to: 'wiebke@wattenmeer.test',
    from: project.sender,
    subject: 'Hi',
    body: '<p>Hi</p>',
  });
  const mail = email.data.emails[0].email as string;
  await world.api.call(null, 'POST', `/unsubscribe/${contactId}?e=${mail}`);
  await expect.poll(async () => (await own.done('GET', `/contacts/${contactId}`)).subscribed).toBe(false);
  await inDashboard(async (page) => {
    await open(page, `contacts/${contactId}`);
    await button(page, 'Subscribe').click();
    const dialog = page.getByRole('alertdialog', { name: 'Resubscribe wiebke@wattenmeer.test?' });
    await dialog.getByText('This contact unsubscribed with the link in an email').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const confirm = dialog.getByRole('button', { name: 'Resubscribe' });
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Reason').fill('Asked for it at the annual meeting');
    await confirm.click();
    await page.getByText('wiebke@wattenmeer.test is subscribed').waitFor();
    await open(page, 'events');
    await page.getByRole('cell', { name: 'Contact subscribed', exact: true }).waitFor();
    await expect.poll(() => page.locator('main').textContent()).not.toContain('contact.subscribed');
  });
  const { events } = await own.done('GET', `/events/contact/${contactId}`);
  expect(events[0]).toMatchObject({
    name: 'contact.subscribed',
    data: { reason: 'Asked for it at the annual meeting' },
  });
});

test('Checks say once what is wrong with two links, and go on saying it once while somebody types', async () => {
  const link = '<a href="">Read more</a>';
  const { id } = await own.done('POST', '/templates', {
    name: 'Twice',
    subject: 'Tides',
    body: `<p>${link} ${link} <img src="https://wattenmeer.test/a.png"></p>`,
    from: project.sender,
    type: 'MARKETING',
  });
  await inDashboard(
    async (page) => {
      await open(page, `templates/${id}`);
      const checks = page.getByRole('region', { name: 'Checks' });
      await checks.getByText('“Read more”').first().waitFor();
      await expect.poll(() => checks.getByRole('listitem').count()).toBe(2);
      await page.getByLabel('Subject', { exact: true }).press('End');
      await page.getByLabel('Subject', { exact: true }).pressSequentially(' and terns');
      await page.getByRole('region', { name: 'Preview' }).getByText('Tides and terns').waitFor();
      expect(await checks.getByRole('listitem').count()).toBe(2);
    },
    { viewport: wide },
  );
});

test('subscribing all names how many and whom it concerns', async () => {
  await own.contact('nobody.yet@wattenmeer.test');
  const { total } = await own.done('GET', '/contacts?subscribed=false&limit=1');
  await inDashboard(async (page) => {
    await open(page, 'contacts');
    const box = page.getByRole('checkbox', { name: 'Select loaded contacts' });
    const look = () => box.evaluate((element) => getComputedStyle(element).appearance);
    await box.click();
    // It has the product's colors but where the system has some of its own.
    expect(await look()).toBe('none');
    await page.emulateMedia({ forcedColors: 'active' });
    expect(await look()).toBe('auto');
    await page.emulateMedia({ forcedColors: 'none' });
    const all = page.getByRole('button', { name: /^Select all/ });
    if (await all.isVisible()) await all.click();
    await page
      .getByRole('region', { name: 'Selected contacts' })
      .getByRole('button', { name: 'Subscribe', exact: true })
      .click();
    const many = `${total} contact${total === 1 ? '' : 's'}`;
    const dialog = page.getByRole('alertdialog', { name: `Subscribe ${many}?` });
    await dialog.getByText('This applies to').waitFor();
    await dialog.getByText('Contacts who unsubscribed themselves are included.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });
});

test('a deleted value comes back by undo, and a number too large for JSON stays as it was typed', async () => {
  const contactId = await own.contact('enno@wattenmeer.test', { plan: 'team' });
  await inDashboard(async (page) => {
    await open(page, `contacts/${contactId}`);
    await button(page, 'Delete plan').click();
    await page.getByText('“plan” deleted').waitFor();
    await button(page, 'Undo').click();
    await button(page, 'Delete plan').waitFor();
    await page.getByLabel('Field', { exact: true }).fill('order');
    await page.getByLabel('Value', { exact: true }).fill('90071992547409931234');
    await button(page, 'Add field').click();
    await page.getByText('90071992547409931234').waitFor();
  });
  const { data } = await own.done('GET', `/contacts/${contactId}`);
  expect(data).toMatchObject({ plan: 'team', order: '90071992547409931234' });
});

test('what is wrong with a form is said in words and not as a path of JSON', async () => {
  await world.inPage({}, async (page) => {
    await page.goto(`${world.url}/auth/signup`);
    await page.getByLabel('Email address').fill('tjark@wattenmeer.test');
    await page.getByLabel('Password').fill('tern');
    await button(page, 'Create account').click();
    await page.getByText('Passwords have at least 6 characters.').waitFor();
    await expect.poll(() => page.locator('body').textContent()).not.toContain('"password"');
  });
});

test('while a campaign is sending its progress is the only count, and the audit waits for the end', async () => {
  const { data } = await own.done('POST', '/campaigns', {
    name: 'Slow tide',
    subject: 'Tides, {{ firstName ?? "friends" }}',
    body: '<p>Hi</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  await world.database.db.count(
    `update campaigns set status = 'SENDING', paused_at = now(), total_recipients = 9, sent_count = 4 where id = '${data.id}'`,
  );
  await inDashboard(async (page) => {
    await open(page, `campaigns/${data.id}`);
    await page.getByText('of 9 recipients processed').waitFor();
    await page.getByText('The audit runs when sending has finished.').waitFor();
    await page.getByText('Tides, [first name]', { exact: true }).waitFor();
    // No filter is to blame for rows that come with the next look at them.
    await page.getByText('Recipients appear here as they are processed').waitFor();
    await page.waitForResponse((response) => response.url().includes('/recipients?'));
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No recipients match this filter').waitFor();
  });
});

test('saving without a network says that nothing was saved, and keeps what was typed', async () => {
  const contactId = await own.contact('antje@wattenmeer.test');
  await inDashboard(async (page) => {
    await open(page, `contacts/${contactId}`);
    await page.getByLabel('Field', { exact: true }).fill('plan');
    await page.getByLabel('Value', { exact: true }).fill('team');
    await page.context().setOffline(true);
    await button(page, 'Add field').click();
    await page.getByText('Not saved: Fernpost can’t be reached.').waitFor();
    await expect.poll(() => page.getByLabel('Value', { exact: true }).inputValue()).toBe('team');
    await page.context().setOffline(false);
  });
});

test('a page with unsaved changes asks in words of its own, and its two answers are not alike', async () => {
  await inDashboard(async (page) => {
    await open(page, 'segments/new');
    await page.getByLabel('Name', { exact: true }).fill('Rangers');
    await page.getByRole('link', { name: 'Contacts', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Discard unsaved changes?' });
    await dialog.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Rangers');
    await page.getByRole('link', { name: 'Contacts', exact: true }).click();
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor();
  });
});

test('addresses break before their @ and not within a word, and the records of a domain fit a phone', async () => {
  const long = 'a.very.long.name.of.somebody@mail.example.net';
  await own.contact(long);
  await inDashboard(
    async (page) => {
      await open(page, `contacts?search=${long}`);
      const link = page.getByRole('link', { name: long });
      await link.waitFor();
      await expect.poll(() => link.locator('wbr').count()).toBe(1);
      const records = ['DKIM', 'Return-Path'].map((purpose, n) => ({
        purpose,
        type: n === 0 ? 'TXT' : 'CNAME',
        name: `20261122._domainkey.${project.domain}`,
        value: `k=rsa;p=${'MIGfMA0GCSqGSIb3DQEBAQUAA4GN'.repeat(6)}`,
        priority: null,
        required: true,
        status: 'pending',
        finding: 'No record was found',
      }));
      // The sandbox asks for no records: the answer is given those of a provider.
      await page.route('**/domains/project/*', async (route) => {
        const response = await route.fetch();
        const domains = (await response.json()) as object[];
        await route.fulfill({ response, json: domains.map((domain) => ({ ...domain, records })) });
      });
      await open(page, 'domains');
      await page.getByText('DKIM').first().waitFor();
      await expect
        .poll(() => page.evaluate<number>('document.documentElement.scrollWidth'))
        .toBeLessThanOrEqual(phone.width);
      const tables = await page
        .locator('section[aria-label^="DNS records"]')
        .evaluateAll(
          (sections) =>
            sections
              .map((section) => section as unknown as { scrollWidth: number; clientWidth: number })
              .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length,
        );
      expect(tables).toBe(0);
    },
    { viewport: phone },
  );
});

test('the command palette finds pages, actions and people, and shortcuts are listed', async () => {
  await own.contact('rike.petersen@wattenmeer.test');
  await inDashboard(async (page) => {
    await open(page, 'campaigns');
    await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    const input = page.getByRole('dialog').getByRole('combobox');
    await input.fill('rike');
    await page.getByRole('option', { name: /rike\.petersen/ }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'rike.petersen@wattenmeer.test' }).waitFor();

    await page.keyboard.press('ControlOrMeta+k');
    await input.fill('import');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Import contacts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.locator('main').focus();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('Go to Segments').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const listed = await help.locator('dt').evaluateAll((names) =>
      names.map((name) => {
        const keys = [...(name.nextElementSibling?.children ?? [])].map(({ tagName, textContent }) =>
          tagName === 'KBD' ? `\`${textContent}\`` : textContent,
        );
        return `| ${name.closest('section')?.ariaLabel} | ${name.textContent} | ${keys.join(' ')} |`;
      }),
    );
    const guide = readFileSync(new URL('../../docs/guides/keyboard.md', import.meta.url), 'utf8');
    const inGuide = guide.split('\n').filter((line) => /^\| (?!Where)/.test(line));
    expect(inGuide.map((line) => line.replaceAll('`Ctrl`', process.platform === 'darwin' ? '`⌘`' : '`Ctrl`'))).toEqual(
      listed,
    );
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { level: 1, name: 'Segments' }).waitFor();
  });
});
