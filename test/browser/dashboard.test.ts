import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adviseDmarc } from '../../src/domains/records/dmarc.ts';
import { sessionCookie } from '../../src/lib/enums.ts';
import { eventually, temporaryFolder } from '../../tools/local-stack/test/fakes.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { accessibilityProblems, followRequests, phone, wide } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { countMail } from '../support/mail-counts.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;
const people = audience();
const run = promisify(execFile);

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

async function signIn(page: Page, path: string): Promise<void> {
  await signInAs(page, world.url, person.session);
  await page.goto(`${world.url}${path}`);
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

const goToStep = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name }).click();

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
      await page.getByRole('dialog').getByRole('button', { name: 'Preview changes' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Import [\d,]+ rows?$/ })
        .click();
      await page.getByRole('dialog').getByText('Created').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
      await page.getByRole('link', { name: first.email }).waitFor();

      await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
      await page.getByRole('link', { name: 'New campaign' }).first().click();
      await writeCampaign(page, 'First letter', 'enno@wattenmeer-vogelschutz.test');
      await goToStep(page, 'Send');
      await button(page, 'Send to 1 contact').click();
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

  test('a first day: a key, a request that works as pasted, and its email live on the overview', async () => {
    const first = await aProject(world.database, 'Vogelschutz Wangerooge');
    // Somebody else, because the tests below count the mail of the first.
    const newcomer = await aPerson(world.database.db, world.api.config, { signsIn: true });
    await joins(world.database.db, first.id, newcomer, 'OWNER');
    using folder = temporaryFolder();
    const answerOf = async (command: string, args: readonly string[]) =>
      (await run(command, args, { cwd: folder.path })).stdout;
    await world.inPage({}, async (page) => {
      await signInAs(page, world.url, newcomer.session);
      await page.goto(`${world.url}/app/${first.id}`);
      await page.getByText('Get started').waitFor();
      const links = page.getByRole('main');
      await expect
        .poll(() => links.getByRole('link', { name: 'Sandbox inbox' }).getAttribute('href'))
        .toBe(world.sandbox.url);
      await expect
        .poll(() => links.getByRole('link', { name: 'Docs', exact: true }).getAttribute('href'))
        .toBe('/docs');
      await links.getByRole('link', { name: 'Temporal Web UI' }).waitFor();
      const menu = page.getByRole('navigation', { name: 'Pages' });
      await expect.poll(() => menu.getByRole('link', { name: 'Documentation' }).getAttribute('href')).toBe('/docs');

      await button(page, 'Create API key').focus();
      await page.keyboard.press('Enter');
      await page.getByText('Waiting for your first request…').waitFor();
      const key = (await page.locator('[data-slot=secret]').textContent()) ?? '';
      expect(key).toMatch(/^rk_/);
      const snippet = async (name: string) =>
        (await page.getByRole('region', { name: `${name} request` }).textContent()) ?? '';
      const curl = await snippet('curl');
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityProblems(page), colorScheme).toEqual([]);
      }

      // A request that is refused is told apart from none.
      await answerOf('bash', ['-c', curl.replaceAll('hello@', 'hello@nobody-owns.')]);
      await page.getByText('no email was accepted').waitFor();
      expect(JSON.parse(await answerOf('bash', ['-c', curl]))).toMatchObject({ success: true });
      const confirmation = page.locator('[data-slot=confirmation]');
      await confirmation.getByText(`Your first email to ${newcomer.email} was accepted.`).waitFor();
      await confirmation.getByText('Delivered', { exact: true }).waitFor();

      // The languages by keyboard. The key stays until it is put away.
      await page.getByRole('tab', { name: 'curl' }).focus();
      await page.keyboard.press('ArrowRight');
      writeFileSync(join(folder.path, 'first.ts'), await snippet('TypeScript'));
      expect(await answerOf(process.execPath, ['first.ts'])).toMatch(/^200 \{"success":true/);
      await page.keyboard.press('ArrowRight');
      writeFileSync(join(folder.path, 'first.py'), await snippet('Python'));
      expect(await answerOf('python3', ['first.py'])).toContain('"success":true');
      await page.keyboard.press('ArrowRight');
      expect(await snippet('Go')).toContain(`"Bearer ${key}"`);
      await page.setViewportSize(phone);
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
      await button(page, 'I have copied the key').click();
      await page.getByText('Get started').waitFor({ state: 'detached' });
      await expect.poll(() => page.getByText(key).count()).toBe(0);
    });
    await eventually(async () => (await world.mailTo(newcomer.email)).length === 3);
  });

  test('deliverability: limits, who returned mail, and what to change in a DMARC record', async () => {
    const received = await aProject(world.database, 'Vogelschutz Juist');
    // Somebody else, because the tests below count the mail of the first.
    const newcomer = await aPerson(world.database.db, world.api.config, { signsIn: true });
    await joins(world.database.db, received.id, newcomer, 'OWNER');
    await world.api.call(received.secretKey, 'POST', '/contacts', { email: 'ada@gmail.com' });
    await world.database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, sent_at, bounced_at)
       select uuidv7(), project_id, id, case when n > 40 then 'ada@gmail.com' else 'ole@juist.test' end, $2, 'TRANSACTIONAL',
         'TRANSACTIONAL', 'SENT', now(), case when n % 20 = 0 then now() end
       from contacts, generate_series(1, 120) n where project_id = $1`,
      [received.id, received.sender],
    );
    await countMail(world.database.db, received.id);
    await world.inPage({}, async (page) => {
      await signInAs(page, world.url, newcomer.session);
      // The sandbox asks no DNS: what a name server would have is answered here.
      const policy = 'v=DMARC1; p=none';
      await page.route('**/domains/*/dmarc', (route) =>
        route.fulfill({
          json: {
            state: 'found',
            ...adviseDmarc(
              { records: [policy], inheritedFrom: null, isAnswered: true },
              { domain: 'acme.test', hasDkim: true },
            ),
          },
        }),
      );
      await page.goto(`${world.url}/app/${received.id}`);
      // The overview and the page of limits agree.
      const card = page.locator('[data-slot=card]', { has: page.getByRole('heading', { name: 'Deliverability' }) });
      await card.getByText('High', { exact: true }).waitFor();
      expect(await card.getByText('Healthy').count()).toBe(0);
      await page.getByRole('link', { name: 'By domain and provider' }).click();
      await heading(page, 'Deliverability').waitFor();
      const row = (table: string, text: string) =>
        page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text });
      await expect
        .poll(() => row('Limits', 'Bounce rate, last 7 days').textContent())
        .toMatch(/^Bounce rate, last 7 days5%High/);
      await expect
        .poll(() => row('By mailbox provider', 'Google').locator('td').allTextContents())
        .toEqual([...['Google', '80', '4', '5%', '0', '0%']]);
      await expect.poll(() => row('By recipient domain', 'juist.test').locator('td').nth(1).textContent()).toBe('40');
      await page.getByText('View as table').focus();
      await page.keyboard.press('Enter');
      const today = await row('Bounces and complaints by day', '20').first().locator('td').allTextContents();
      expect(today.slice(1)).toEqual(['6', '0']);

      await page.getByText('The policy only reports (p=none)').waitFor();
      await page.getByText('Nobody gets reports').waitFor();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await button(page, /^Copy the DMARC record/)
        .first()
        .click();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('v=DMARC1; p=quarantine');
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityProblems(page), colorScheme).toEqual([]);
      }
      await page.getByLabel('Period').selectOption('Last 7 days');
      await page.waitForURL(/days=/);
    });
  });

  test('sends a test of a template as it is on the screen: saves it first, or says what cannot be saved', async () => {
    const tests = async () => (await world.mailTo(person.email)).filter(({ subject }) => subject.includes('Tried out'));
    await world.inPage({}, async (page) => {
      const dialog = page.getByRole('dialog');
      const sendTest = async () => {
        await button(page, 'Send test email').click();
        await dialog.getByText('Your changes are saved first.').waitFor();
        await dialog.getByRole('button', { name: 'Save and send test' }).click();
      };
      await signIn(page, `/app/${project.id}/templates/new`);
      await page.getByLabel('Name', { exact: true }).fill('Tried out');
      await page.getByLabel('Subject').fill('Tried out');
      await writeBody(page, 'First draft');
      await page.getByLabel('From', { exact: true }).fill('');
      await sendTest();
      await dialog.getByRole('alert').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByLabel('From', { exact: true }).fill(project.sender);
      await sendTest();
      await dialog.getByText('Test sent').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await eventually(async () => (await tests()).length === 1);
      await writeBody(page, 'Second draft');
      await sendTest();
      await eventually(async () => (await tests()).length === 2);
      await dialog.getByRole('button', { name: 'Send test', exact: true }).waitFor();
    });
    expect((await tests()).map(({ html }) => html)).toEqual([
      expect.stringContaining('Second draft'),
      expect.stringContaining('First draft'),
    ]);
  });

  test('an admin lists test addresses, and a test goes to one of them as a contact would get the email', async () => {
    const email = 'wiebke@wattenmeer.test';
    await world.api.call(project.secretKey, 'POST', '/contacts', {
      email,
      data: { firstName: 'Wiebke', plan: 'team' },
    });
    const { body: template } = await world.api.call(project.secretKey, 'POST', '/templates', {
      name: 'As sent',
      subject: 'Moin {{ firstName ?? "there" }}',
      body: '<p>You are on the {% if plan %}{{ plan }}{% else %}free{% endif %} plan.</p>',
      from: project.sender,
      type: 'MARKETING',
    });
    await world.inPage({}, async (page) => {
      await signIn(page, `/app/${project.id}/settings`);
      await page.getByLabel('Test addresses').fill('seed@inboxes.example, office@wattenmeer.example');
      await button(page, 'Save addresses').click();
      await page.getByText('Test addresses saved').waitFor();
      await page.goto(`${world.url}/app/${project.id}/templates/${template.id}`);
      await button(page, 'Send test email').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('To', { exact: true }).selectOption('seed@inboxes.example');
      await dialog.getByLabel('Fill in for').fill('nobody@wattenmeer.test');
      await dialog.getByRole('button', { name: 'Send test', exact: true }).click();
      await dialog.getByText('No contact has the email nobody@wattenmeer.test.').waitFor();
      await dialog.getByLabel('Fill in for').fill(email);
      await dialog.getByRole('button', { name: 'Send test', exact: true }).click();
      await dialog.getByText('Test sent').waitFor();
    });
    await eventually(async () => (await world.mailTo('seed@inboxes.example')).length === 1);
    const [mail] = await world.mailTo('seed@inboxes.example');
    expect(mail?.subject).toBe('[TEST] Moin Wiebke');
    expect(mail?.html).toContain('You are on the team plan.');
    expect(mail?.html).toMatch(/unsubscribe/i);
    expect(await world.mailTo(email)).toEqual([]);
  });

  test('draws a campaign up, tests it, sends it, watches it to SENT and reads its audit', async () => {
    const written = await contacts(12, 10);
    await world.inPage({ viewport: wide }, async (page) => {
      await signIn(page, `/app/${project.id}/campaigns/new`);
      await writeCampaign(page, 'Heron count in March', project.sender);
      await page.frameLocator('iframe[title="Email preview"]').getByText('come and count').waitFor();
      await goToStep(page, 'Audience');
      await page.getByText('12 contacts right now').waitFor();

      await button(page, 'Send test email').click();
      await button(page, 'Send test').click();
      const isTest = ({ subject }: { subject: string }) => subject.includes('The herons are back');
      await eventually(async () => (await world.mailTo(person.email)).filter(isTest).length === 1);
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

      await goToStep(page, 'Send');
      await button(page, 'Send to 12 contacts').click();
      await page.getByText('Balanced: every recipient is accounted for.').waitFor();
      const audit = page.locator('[data-slot=card]', { has: page.getByRole('heading', { name: 'Audit' }) });
      await expect
        .poll(() => audit.locator('[data-slot=figure]', { hasText: 'Sent' }).locator('dd').textContent())
        .toBe('12');
      await expect
        .poll(() => audit.locator('[data-slot=figure]', { hasText: 'Failed' }).locator('dd').textContent())
        .toBe('0');
      await expect.poll(() => page.getByText('Sent', { exact: true }).count()).toBeGreaterThan(0);
      const ledger = page.getByRole('region', { name: 'Recipients' });
      await ledger.getByText(written[0] ?? '').waitFor();

      // A ledger of thousands is not read through before somebody asks for it.
      await world.database.db.count(
        `update campaigns set total_recipients = 30000 where name = 'Heron count in March'`,
      );
      await page.reload();
      await page.getByText('With 30,000 recipients that takes a while').waitFor();
      await expect.poll(() => audit.locator('[data-slot=figure]').count()).toBe(0);
      await button(page, 'Run audit').click();
      await audit.locator('[data-slot=figure]', { hasText: 'Sent' }).getByText('12').waitFor();
    });
    for (const email of written) expect(await world.mailTo(email), email).toHaveLength(1);
    const { body } = await world.api.call(project.secretKey, 'GET', '/campaigns');
    expect(body.data[0]).toMatchObject({ name: 'Heron count in March', status: 'SENT', sentCount: 12 });
  });

  test('a session that ends in mid-edit loses nothing of what was typed', async () => {
    await world.inPage({ viewport: wide }, async (page) => {
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
      await expect.poll(() => dialog.getByLabel('Email address').inputValue()).toBe(person.email);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Template saved').waitFor();
      await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('Welcome to the reeds');
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
