import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteClient } from '../../src/mail/smtp-in/clients.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { accessibilityProblems } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';
import { startReceiver } from '../support/receiver.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;

beforeAll(async () => {
  world = await dashboardWorld({ WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', SMTP_IN_PORT: '2525' });
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
    await expect.poll(() => page.locator('body').textContent()).not.toContain(key);
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
    await page.getByText('Web shop saved').waitFor();
    expect(await statusWith(key, '/templates')).toBe(200);

    await button(page, 'Actions for Web shop').click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    const rotate = page.getByRole('dialog', { name: 'Rotate Web shop?' });
    await rotate.getByLabel('Old key expires').selectOption('In 1 hour');
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
    await page.getByText('Web shop deleted').waitFor();
    await page.getByText('No keys yet').waitFor();
    expect(await statusWith(next, '/contacts')).toBe(401);
  });
});

test('a webhook endpoint is added, tested, read in its log, checked by its signature, replayed and paused', async () => {
  let isBroken = true;
  await using receiver = await startReceiver((request, response) => {
    response.statusCode = isBroken && request.body.includes('plan.changed') ? 500 : 200;
    response.end(isBroken ? 'out of shelves' : 'thanks');
  });
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  await inDashboard(async (page) => {
    await open(page, 'settings?tab=webhooks');
    await button(page, 'Add endpoint').click();
    const dialog = page.getByRole('dialog', { name: 'Add webhook endpoint' });
    await dialog.getByLabel('URL').fill('http://shop.example/hook');
    await dialog.getByRole('button', { name: 'Add contact.*' }).click();
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await dialog.getByText('must begin with https://', { exact: false }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByLabel('Events').fill('plan.changed');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByRole('dialog', { name: 'Endpoint added' }).waitFor();
    const secret = await secretOf(page);
    expect(secret).toMatch(/^whsec_/);
    await button(page, 'Done').click();
    await page.getByRole('img', { name: '0 delivered, 0 failed, 0 pending in the last 24 hours' }).waitFor();
    await page.getByRole('link', { name: url }).click();

    await button(page, 'Send test event').click();
    const testing = page.getByRole('dialog', { name: 'Send test event' });
    await testing.getByLabel('Event').fill('email.bounce');
    await page.keyboard.press('Enter');
    await testing.getByText('Status 200').waitFor();
    await page.keyboard.press('Escape');

    const { status } = await world.api.call(project.publicKey, 'POST', '/v1/track', {
      email: 'imke@wattenmeer.test',
      event: 'plan.changed',
      data: { plan: 'team' },
    });
    expect(status).toBe(200);
    const log = page.getByRole('region', { name: 'Deliveries' }).getByRole('listitem');
    await log.filter({ hasText: /[1-9] attempt/ }).waitFor();
    await expect.poll(() => log.count()).toBe(1);
    await button(page, 'Show delivery 1').click();
    const delivery = page.getByRole('dialog', { name: 'plan.changed' });
    // There may be another attempt by now.
    await delivery.getByText('Status 500').first().waitFor();
    await delivery.getByText('out of shelves').first().waitFor();
    await delivery.getByRole('region', { name: 'Request body' }).getByText('"plan": "team"').waitFor();
    isBroken = false;
    await delivery.getByRole('button', { name: 'Redeliver' }).click();
    await delivery.getByText('Status 200').first().waitFor();
    // With the answers of two attempts at least.
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await log.filter({ hasText: 'Delivered' }).waitFor();
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No deliveries match').waitFor();
    await page.getByLabel('Status').selectOption('Any status');
    await log.filter({ hasText: 'plan.changed' }).waitFor();
    await page.getByLabel('Event type').focus();
    await page.keyboard.type('plan');
    await page.waitForURL(/type=plan\.changed/);
    await log.filter({ hasText: 'plan.changed' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    // A type that nothing has been delivered of, as a link has it.
    await page.goto(page.url().replace('type=plan.changed', 'type=plan.ended'));
    await page.getByText('No deliveries match').waitFor();
    await expect.poll(() => page.getByLabel('Event type').inputValue()).toBe('plan.ended');
    await page.getByLabel('Event type').selectOption('Any type');
    await log.filter({ hasText: 'plan.changed' }).waitFor();

    await page.getByRole('tab', { name: 'Verify signatures' }).click();
    const call = receiver.requests.at(-1);
    const header = (name: string) => String(call?.headers[name]);
    await page.getByLabel('Signing secret').fill(secret);
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      await page.getByLabel(name).fill(header(name));
    await page.getByLabel('Body').fill(call?.body ?? '');
    await button(page, 'Check signature').click();
    await page.getByText('The signature is valid: this request came from Fernpost, unchanged.').waitFor();
    await page.getByLabel('Body').fill(`${call?.body} `);
    await button(page, 'Check signature').click();
    await page.getByText('No signature matches.', { exact: false }).waitFor();
    for (const [language, words] of [
      ['Python', 'WebhookVerificationError'],
      ['Go', 'NewWebhook'],
      ['PHP', 'file_get_contents'],
      ['Ruby', 'sinatra'],
    ] as const) {
      await page.getByRole('tab', { name: language }).click();
      await page
        .getByRole('region', { name: `${language} code` })
        .getByText(words)
        .first()
        .waitFor();
    }
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByRole('tab', { name: 'Replay' }).click();
    await page.getByLabel('Events').selectOption('All events');
    const before = receiver.requests.length;
    await button(page, 'Start replay').click();
    await page.getByText('Replay started').waitFor();
    await page.getByRole('region', { name: 'Replays' }).getByText('Done').waitFor();
    await expect.poll(() => receiver.requests.length).toBeGreaterThan(before);

    await button(page, 'Rotate secret').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog', { name: 'New signing secret' }).waitFor();
    expect(await secretOf(page)).not.toBe(secret);
    await button(page, 'Done').click();
    await button(page, 'Pause').click();
    await page.getByText('Paused. Events are kept', { exact: false }).waitFor();
    await button(page, 'Enable').click();
    await page.getByText('Endpoint enabled').waitFor();
    await button(page, 'Delete').click();
    await page
      .getByRole('alertdialog', { name: 'Delete this endpoint and its log?' })
      .getByRole('button', { name: 'Delete endpoint' })
      .click();
    await page.getByText('No webhook endpoints yet').waitFor();
  });
});

test('the audit log is filtered, shows what changed, is verified, and leaves as CSV', async () => {
  const session = (method: string, path: string, body: object) =>
    world.api.call(null, method, path, body, { ...person.session, Origin: world.url });
  const logged = await aProject(world.database, 'Inselverein');
  await joins(world.database.db, logged.id, person, 'OWNER');
  expect((await session('PATCH', `/users/@me/projects/${logged.id}`, { name: 'Inselverein Amrum' })).status).toBe(200);
  const segment = await world.api.call(logged.secretKey, 'POST', '/segments', { name: 'Rangers', type: 'STATIC' });
  await world.api.call(logged.secretKey, 'DELETE', `/segments/${segment.body.id}`);
  await inDashboard(async (page) => {
    await page.goto(`${world.url}/app/${logged.id}/settings?tab=log`);
    const entries = page.getByRole('region', { name: 'Audit log' }).getByRole('listitem');
    await entries.filter({ hasText: 'Segment deleted' }).getByText('Secret key').waitFor();
    const all = await entries.count();
    await page.getByLabel('Actor').selectOption('People');
    await entries.filter({ hasText: 'Segment deleted' }).waitFor({ state: 'detached' });
    await page.getByLabel('Area').selectOption('Project');
    const renamed = entries.filter({ hasText: 'Project updated' });
    await renamed.getByText(person.email).waitFor();
    await renamed.getByRole('button', { name: /^Show change/ }).focus();
    await page.keyboard.press('Enter');
    const row = page.getByRole('dialog', { name: 'Project updated' }).getByRole('row', { name: /^name/ });
    await row.getByText('Inselverein', { exact: true }).waitFor();
    await row.getByText('Inselverein Amrum').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await button(page, 'Verify log').click();
    await page.getByText(`Log verified: ${all} entr`, { exact: false }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download as CSV').click()]);
    expect(download.suggestedFilename()).toBe('audit-log.csv');
    const csv = await text(await download.createReadStream());
    expect(csv).toMatch(/^position,at,/);
    expect(csv).toContain('Inselverein Amrum');
    expect(csv).not.toContain('segment.deleted');

    await world.database.db.count(
      `update audit_log set action = 'segment.kept' where project_id = '${logged.id}' and action = 'segment.deleted'`,
    );
    await button(page, 'Verify log').click();
    await page.getByText('The log was tampered with. Entry', { exact: false }).waitFor();
  });
});

test('a plan of an AI assistant waits in the dashboard for somebody to approve or refuse it', async () => {
  const sentTo = async (to: string) =>
    (await world.database.db.rows('select from emails where project_id = $1 and to_address = $2', [project.id, to]))
      .length;
  await inDashboard(async (page) => {
    await open(page, 'settings?tab=keys');
    await button(page, 'Create key').click();
    const dialog = page.getByRole('dialog', { name: 'Create an API key' });
    await dialog.getByLabel('Name', { exact: true }).fill('Assistant');
    await dialog.getByRole('checkbox', { name: 'Emails: Send' }).check();
    await dialog.getByLabel('AI assistants').selectOption('Read, make plans and carry them out');
    await dialog.getByLabel('Approval').selectOption('For every plan');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: 'Assistant is ready' }).waitFor();
    const key = await secretOf(page);
    await button(page, 'Done').click();
    await page
      .getByRole('row', { name: /Assistant/ })
      .getByText('acts with approval')
      .waitFor();

    const use = async (name: string, input: object) => {
      const params = { name, arguments: input };
      const { body } = await world.api.call(key, 'POST', '/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params,
      });
      return body.result.structuredContent;
    };
    const plan = (to: string) =>
      use('plan_send_email', { to: [to], from: project.sender, subject: 'High tide', body: '<p>At six</p>' });
    const [wanted, unwanted] = [await plan('wanted@example.com'), await plan('unwanted@example.com')];
    const waiting = page.getByRole('list', { name: 'Plans waiting for approval' }).getByRole('listitem');
    const first = waiting.filter({ hasText: 'Send 1 email to "wanted@example.com"' });
    const second = waiting.filter({ hasText: 'Send 1 email to "unwanted@example.com"' });
    await first.waitFor();
    await second.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await first.getByRole('button', { name: 'Approve plan' }).click();
    await page
      .getByText('Approved. The assistant can carry the plan out until it expires, unless something changes.')
      .waitFor();
    await first.waitFor({ state: 'detached' });
    await second.getByRole('button', { name: 'Refuse plan' }).click();
    await second.waitFor({ state: 'detached' });
    expect((await use('commit', { planId: wanted.planId })).alreadyDone).toBe(false);
    expect((await use('commit', { planId: unwanted.planId })).error.code).toBe('PLAN_REFUSED');
    expect([await sentTo('wanted@example.com'), await sentTo('unwanted@example.com')]).toEqual([1, 0]);
  });
});

test('the settings of SMTP are there to copy, and lead to a key that sends', async () => {
  await inDashboard(async (page) => {
    await open(page, 'settings?tab=smtp');
    const panel = page.getByRole('tabpanel');
    for (const value of ['127.0.0.1', '2525', project.id]) await panel.getByText(value, { exact: true }).waitFor();
    await page
      .getByRole('region', { name: 'swaks command' })
      .getByText(`--from hello@${project.domain}`, { exact: false })
      .waitFor();
    const connections = page.getByRole('region', { name: 'Programs that send by SMTP' });
    await page.getByText('No program has signed in').waitFor();
    await noteClient(world.database.db, {
      ...{ projectId: project.id, credential: 'unknown', ip: '192.0.2.7' },
      ...{ isAccepted: false, refusal: '535 5.7.8 Sign in' },
    });
    await page.reload();
    await connections.getByText('Wrong key').waitFor();
    await expect.poll(() => connections.textContent()).toContain('535 5.7.8 Sign in');
    await button(page, 'Create a key for SMTP').click();
    const dialog = page.getByRole('dialog', { name: 'Create an API key' });
    await dialog.getByLabel('Name', { exact: true }).fill('Blog');
    await expect.poll(() => dialog.getByRole('checkbox', { name: 'Emails: Send' }).isChecked()).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Blog is ready' }).waitFor();
    expect(await secretOf(page)).toMatch(/^rk_/);
  });
});

test('how long data is kept is chosen for each kind, and what that removes is asked for once more', async () => {
  const other = await aProject(world.database, 'Kurzes Gedächtnis');
  await joins(world.database.db, other.id, person, 'OWNER');
  const kept = () =>
    world.database.db.row(
      'select email_retention_days as mail, event_retention_days as events from projects where id = $1',
      [other.id],
    );
  await inDashboard(async (page) => {
    await page.goto(`${world.url}/app/${other.id}/settings`);
    await page.getByLabel('Emails', { exact: true }).selectOption('1 year');
    await button(page, 'Save retention').click();
    const dialog = page.getByRole('alertdialog', { name: 'Remove older data?' });
    await dialog.getByText('Emails older than 1 year are removed.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await kept()).toEqual({ mail: null, events: null });
    await button(page, 'Save retention').click();
    await dialog.getByRole('button', { name: 'Remove older data' }).click();
    await page.getByText('Retention saved').waitFor();
    expect(await kept()).toEqual({ mail: 365, events: null });
    // Below the days for which changes of contacts are kept it is refused, at its field.
    await page.getByLabel('Events', { exact: true }).selectOption('31 days');
    await button(page, 'Save retention').click();
    await dialog.getByRole('button', { name: 'Remove older data' }).click();
    await page
      .getByText(/must not be below the 90 days/)
      .first()
      .waitFor();
    expect(await kept()).toEqual({ mail: 365, events: null });
    // Longer needs no question.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByLabel('Events', { exact: true }).selectOption('As long as the service keeps them');
    await page.getByLabel('Emails', { exact: true }).selectOption('5 years');
    await button(page, 'Save retention').click();
    await expect.poll(kept).toEqual({ mail: 1825, events: null });
  });
});

test('quiet hours are set with the days on which they begin, and ended', async () => {
  const other = await aProject(world.database, 'Quiet');
  await joins(world.database.db, other.id, person, 'OWNER');
  const hours = () =>
    world.database.db
      .row<{ hours: unknown }>('select quiet_hours as hours from projects where id = $1', [other.id])
      .then((row) => row?.hours);
  await inDashboard(async (page) => {
    await page.goto(`${world.url}/app/${other.id}/settings`);
    const group = (name: string) => page.getByRole('group', { name });
    const days = group('Days on which they start');
    await days.getByLabel('Sun').and(page.locator(':disabled')).waitFor();
    await page.getByLabel('Hold emails from workflows').check();
    await page.getByLabel('From', { exact: true }).fill('21:30');
    for (const day of ['Sat', 'Sun']) await days.getByLabel(day).uncheck();
    await group('Email types').getByLabel('Own footer').check();
    await button(page, 'Save quiet hours').click();
    await page.getByText('Quiet hours saved').waitFor();
    const saved = { from: '21:30', to: '08:00', days: [1, 2, 3, 4, 5], types: ['MARKETING', 'HEADLESS'] };
    expect(await hours()).toEqual(saved);
    await page.reload();
    await expect.poll(() => page.getByLabel('From', { exact: true }).inputValue()).toBe('21:30');
    expect(await days.getByLabel('Sun').isChecked()).toBe(false);
    expect(await accessibilityProblems(page)).toEqual([]);

    for (const type of ['Marketing', 'Own footer']) await group('Email types').getByLabel(type).uncheck();
    await button(page, 'Save quiet hours').click();
    await page
      .getByText(/must have at least one type/)
      .first()
      .waitFor();
    expect(await hours()).toEqual(saved);
    await page.getByLabel('Hold emails from workflows').uncheck();
    await button(page, 'Save quiet hours').click();
    await expect.poll(hours).toBe(null);
  });
});
