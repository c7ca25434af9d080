import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { audience } from '../support/audience.ts';
import { accessibilityProblems, phone, problemsInBothThemes } from '../support/browser.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { add, type DesignerWorld, designerWorld, pick, press, stepOn, type } from '../support/designer.ts';
import { keyboard, mouse } from '../support/hands.ts';
import { allOf, dataIs } from '../support/segments.ts';
import { webp } from './layout-sheet.ts';

const pictures = fileURLToPath(new URL('../../docs/guides/pictures/', import.meta.url));
const people = audience().slice(0, 24);
let designer: DesignerWorld;
let workflow: string;
/** One whose runs have ended, of contacts of whom half have a plan. */
let visits: string;

// Each signed up on another day of the last month; a fourth of them ordered after a day, another fourth after four.
beforeAll(async () => {
  designer = await designerWorld();
  const { own, world, project } = designer;
  const { db } = world.database;
  const ids: string[] = [];
  for (const { email, data } of people) ids.push(await own.contact(email, { ...data }));
  const visitors: string[] = [];
  for (let n = 0; n < 6; n += 1)
    visitors.push(await own.contact(`visitor-${n}@kunde.example`, { plan: n < 3 ? 'gold' : 'free' }));
  await db.count(`update contacts set created_at = created_at - interval '100 days'`);
  await db.count(`update projects set updated_at = updated_at - interval '100 days'`);
  await db.count(`update mikro_orm_migrations set executed_at = executed_at - interval '100 days'`);
  await db.count('delete from contact_changes');
  const [welcome, reminder] = [await own.template('Willkommen'), await own.template('Erinnerung')];
  await own.template('Angebot');
  const { id } = await own.automation({ name: 'Begrüßung', eventName: 'signed.up' });
  workflow = id;
  await own.step(id, 'SEND_EMAIL', {}, { templateId: welcome, name: 'Welcome', position: { x: 100, y: 200 } });
  const order = { eventName: 'order.paid', timeout: 5 * 86_400 };
  const wait = await own.step(id, 'WAIT_FOR_EVENT', order, { name: 'Order?', position: { x: 100, y: 380 } });
  const place = { position: { x: 100, y: 560 }, autoConnect: false };
  const remind = await own.step(id, 'SEND_EMAIL', {}, { templateId: reminder, name: 'Remind', ...place });
  await own.connect(id, wait, remind, { waitOutcome: 'TIMEOUT' });
  await own.enable(id);
  // Makes the first version.
  const contactId = await own.contact('first@kunde.example');
  await own.done('POST', `/workflows/${id}/executions`, { contactId });
  const happened = (contact: string | undefined, name: string, hoursAgo: number) =>
    db.count(
      `insert into events (id, project_id, contact_id, name, data, created_at)
       values (uuidv7(), $1, $2, $3, '{}', now() - make_interval(hours => $4))`,
      [project.id, contact, name, hoursAgo],
    );
  ({ id: visits } = await own.automation({ name: 'Besuche', eventName: 'visit.made' }));
  await own.step(visits, 'SEND_EMAIL', {}, { templateId: welcome, name: 'Thanks', position: { x: 100, y: 200 } });
  await own.enable(visits);
  for (const visitor of visitors) await own.done('POST', `/workflows/${visits}/executions`, { contactId: visitor });
  const ended = `/workflows/${visits}/executions?status=COMPLETED`;
  await eventually(async () => (await own.done('GET', ended)).total === visitors.length);
  await own.done('POST', '/segments', { name: 'Gold', type: 'DYNAMIC', condition: allOf(dataIs('plan', 'gold')) });
  for (const [n, contact] of ids.entries()) {
    const entered = 24 * (29 - n);
    await happened(contact, 'signed.up', entered);
    if (n % 4 === 0) await happened(contact, 'order.paid', entered - 24);
    if (n % 4 === 1) await happened(contact, 'order.paid', entered - 4 * 24);
  }
});
afterAll(() => designer?.[Symbol.asyncDispose]());

/** Changes the draft: contacts are reminded two days earlier, and a third email follows. */
async function edited(page: Page): Promise<void> {
  await designer.open(page, `workflows/${workflow}`);
  await stepOn(page, 'Order?').click();
  await type(page, 'Timeout', '3');
  await stepOn(page, 'Remind').click();
  await add(page, 'send email', 'Offer');
  await pick(page, 'Template', 'Angebot');
}

const result = (page: Page) => page.getByRole('region', { name: 'Simulation', exact: true });
/** The cells of the first row of a table that has a text. */
async function cells(page: Page, table: string, text: string): Promise<string[]> {
  const has = page.getByRole('cell', { name: text });
  const rows = page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ has });
  return (await rows.first().getByRole('cell').allTextContents()).slice(1);
}

test('the draft is simulated over the last month, its counts beside those of the live version, with whom it concerns', async () => {
  await designer.inDashboard(async (page) => {
    await edited(page);
    await press(page, 'Simulate');
    const dialog = page.getByRole('dialog', { name: 'Simulate Begrüßung' });
    await dialog.getByLabel('Compare with').waitFor();
    expect(await dialog.getByLabel('Compare with').inputValue()).toBe('live');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Simulate', exact: true }).click();
    const whose =
      /^Contacts with the event signed.up from .* to .*, each run followed for up to 30 days, beside live version 1\. 24 contacts\.$/;
    await result(page).getByText(whose).waitFor();
    expect(await cells(page, 'Summary', 'Runs')).toEqual(['24', '24']);
    expect(await cells(page, 'Summary', 'Emails sent')).toEqual(['60', '36']);
    expect(await cells(page, 'Steps and paths', 'Timed out')).toEqual(['18 (75%)', '12 (50%)']);
    expect(await cells(page, 'Steps and paths', 'Remind')).toEqual(['18 (75%)', '12 (50%)']);
    expect(await cells(page, 'Steps and paths', 'Offer')).toEqual(['18 (75%)', '–']);
    await result(page)
      .getByText('18 emails to 18 contacts within 24 hours of another email of this workflow (live: 0 to 0)')
      .waitFor();
    await result(page).getByText('Every step was reached.').waitFor();
    // Only in the draft, only live, earlier, later, the same.
    expect(await cells(page, 'Contacts by email', 'Willkommen')).toEqual(['0', '0', '0', '0', '24']);
    expect(await cells(page, 'Contacts by email', 'Erinnerung')).toEqual(['6', '0', '12', '0', '0']);
    expect(await cells(page, 'Contacts by email', 'Angebot')).toEqual(['18', '0', '0', '0', '0']);
    const links = page.getByRole('region', { name: 'Contacts', exact: true }).getByRole('link');
    await links.nth(17).waitFor();
    expect(await links.count()).toBe(18);
    // The name leads, and the address follows.
    const ordered = people[1];
    const name = `${ordered?.data['first name']} ${ordered?.data['last name']}`;
    expect(await links.first().textContent()).toBe(`${name} ${ordered?.email}`);
    await pick(page, 'Show', 'Email earlier in the draft');
    await expect.poll(() => links.count()).toBe(12);
    await pick(page, 'Show', 'Email later in the draft');
    await page.getByText('No contacts match this filter.').waitFor();
    await pick(page, 'Show', 'Email only in the draft');
    await links.nth(17).waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await picture(page, 'simulation');

    await dialog.getByRole('button', { name: 'Show on canvas' }).click();
    await stepOn(page, 'Offer').getByText('Draft 18', { exact: true }).waitFor();
    await stepOn(page, 'Remind').getByText('Draft 18 · live 12').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Hide simulation');
    await stepOn(page, 'Offer').getByText('Draft 18', { exact: true }).waitFor({ state: 'detached' });

    // Closing the dialog does not lose it, and a change of the graph is said.
    await type(page, 'Name', 'Better offer');
    await press(page, 'Simulate');
    await dialog.getByText('The graph has changed since the simulation below.').waitFor();
    await result(page).waitFor();
  });
});

const whom = (page: Page, label: string) =>
  page.getByRole('dialog').getByRole('combobox', { name: label, exact: true });

test.each([
  ['mouse', mouse],
  ['keyboard', keyboard],
] as const)('by %s, the draft is compared with what really happened, then over the contacts of a segment', (_, hold) =>
  designer.inDashboard(async (page) => {
    const hand = hold(page);
    await designer.open(page, `workflows/${visits}`);
    await hand.press(stepOn(page, 'Thanks'));
    await add(page, 'send email', 'Offer', hand);
    await hand.pick('Template', 'Angebot');
    await hand.press('Simulate');
    const dialog = page.getByRole('dialog', { name: 'Simulate Besuche' });
    const simulate = () => hand.press(dialog.getByRole('button', { name: 'Simulate', exact: true }));
    await hand.pick(whom(page, 'Compare with'), 'What really happened');
    await dialog
      .getByText(
        'Takes the contacts of finished runs that started in the last 30 days through the draft, from the time they entered.',
      )
      .waitFor();
    await simulate();
    await result(page)
      .getByText(/^Finished runs that started from .* to .*, each followed for up to 30 days\. 6 runs\.$/)
      .waitFor();
    expect(await cells(page, 'Summary', 'Runs')).toEqual(['6', '6']);
    expect(await cells(page, 'Summary', 'Emails sent')).toEqual(['12', '6']);
    expect(await cells(page, 'Steps and paths', 'Offer')).toEqual(['6 (100%)', '–']);
    expect(await cells(page, 'Contacts by email', 'Angebot')).toEqual(['6', '0', '0', '0', '0']);
    const links = page.getByRole('region', { name: 'Contacts', exact: true }).getByRole('link');
    await expect.poll(() => links.count()).toBe(6);
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await hand.pick(whom(page, 'Show'), 'Email later in the draft');
    await dialog.getByText('No contacts match this filter.').waitFor();

    await hand.pick(whom(page, 'Contacts'), 'In a segment');
    const start = dialog.getByRole('button', { name: 'Simulate', exact: true });
    expect(await start.isDisabled()).toBe(true);
    await hand.pick(whom(page, 'Segment'), 'Gold');
    await simulate();
    await result(page)
      .getByText('Finished runs of contacts in the segment “Gold”, each followed for up to 30 days. 3 runs.')
      .waitFor();
    expect(await cells(page, 'Summary', 'Runs')).toEqual(['3', '3']);
    await hand.pick(whom(page, 'Compare with'), 'Live version (1)');
    await hand.pick(whom(page, 'Follow each contact for'), '7 days');
    await dialog
      .getByText('All contacts enter at once, 7 days ago, with their data of that time. The trigger is not applied.')
      .waitFor();
    await simulate();
    await result(page)
      .getByText(
        /^Contacts in the segment “Gold”, each run followed for up to 7 days, beside live version 1\. They enter .*\. 3 contacts\.$/,
      )
      .waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await hand.press(dialog.getByRole('button', { name: 'Show on canvas' }));
    await stepOn(page, 'Thanks').getByText('Draft 3 · live 3').waitFor();
    await hand.press('Hide simulation');
    await stepOn(page, 'Thanks').getByText('Draft 3').waitFor({ state: 'detached' });
  }),
);

test('on a phone, what really happened and a segment fit the window in both themes', async () => {
  const { world, person, open } = designer;
  await world.inPage({ viewport: phone }, async (page) => {
    await signInAs(page, world.url, person.session);
    await open(page, `workflows/${visits}`);
    await press(page, 'Simulate');
    const dialog = page.getByRole('dialog');
    await whom(page, 'Compare with').selectOption('What really happened');
    await whom(page, 'Contacts').selectOption('In a segment');
    await whom(page, 'Segment').selectOption('Gold');
    expect(await problemsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Simulate', exact: true }).click();
    await result(page)
      .getByText(/3 runs\.$/)
      .waitFor();
    expect(await cells(page, 'Summary', 'Emails sent')).toEqual(['3', '3']);
    const numbers = page.getByRole('region', { name: 'Summary', exact: true }).locator('td.number');
    /** On how many lines each stands. */
    const lines = await numbers.evaluateAll((all) =>
      all.map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return new Set([...text.getClientRects()].map(({ top }) => Math.round(top))).size;
      }),
    );
    expect(lines).toEqual(lines.map(() => 1));
    expect(await problemsInBothThemes(page)).toEqual([]);
    const isWhole = (width: number) =>
      page.evaluate<boolean>(
        `document.documentElement.scrollWidth <= ${width} && document.querySelector('[role=dialog]').scrollWidth <= document.querySelector('[role=dialog]').clientWidth`,
      );
    expect(await isWhole(phone.width)).toBe(true);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await isWhole(320)).toBe(true);
  });
});

test('nobody, a limit, a failure and a cancellation are said in words', async () => {
  const { own, world, project, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Niemand', eventName: 'never.happened' });
  await own.step(id, 'DELAY', { amount: 1, unit: 'days' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'Simulate');
    const dialog = page.getByRole('dialog', { name: 'Simulate Niemand' });
    // There is no version to compare with.
    await pick(page, 'Compare with', 'Nothing');
    const simulate = () => dialog.getByRole('button', { name: 'Simulate', exact: true }).click();
    await simulate();
    await dialog.getByText('No contacts would have entered the workflow.').waitFor();
    await pick(page, 'Compare with', 'What really happened');
    await simulate();
    await dialog.getByText('No finished runs were found.').waitFor();
    await pick(page, 'Compare with', 'Nothing');
    // Three others of the project are running.
    const { db } = world.database;
    await db.count(
      `insert into jobs (id, project_id, kind, spec)
       select 'simulation-' || gen_random_uuid(), $1, 'simulation', '{}' from generate_series(1, 3)`,
      [project.id],
    );
    await simulate();
    await dialog.getByText('3 simulations of this project are running: wait until one has finished').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await db.count(`delete from jobs where finished_at is null`);
    await page.route('**/simulations/simulation-*', async (route) => {
      const response = await route.fetch();
      const body = {
        ...(await response.json()),
        state: 'failed',
        failedReason: 'The workflow was deleted',
        result: null,
      };
      await route.fulfill({ response, json: body });
    });
    await simulate();
    await dialog.getByText('The simulation failed: The workflow was deleted').waitFor();
    await page.unroute('**/simulations/simulation-*');
    // One that nobody works on.
    const waiting = await db.row<{ id: string }>(
      `insert into jobs (id, project_id, kind, spec) values ('simulation-' || gen_random_uuid(), $1, 'simulation', $2) returning id`,
      [project.id, JSON.stringify({ workflowId: id, names: {}, at: null })],
    );
    await page.route('**/simulations', (route) => route.fulfill({ status: 202, json: { jobId: waiting?.id } }));
    await simulate();
    await dialog.getByText('Simulating: 0%. You can close this dialog; the simulation continues.').waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel simulation' }).click();
    await dialog.getByText('The simulation was canceled. No results were kept.').waitFor();
    expect(await own.done('GET', `/workflows/${id}/simulations/${waiting?.id}`)).toMatchObject({ state: 'canceled' });
  });
});

test('a phone shows it whole, and a workflow without an event says what is not possible', async () => {
  const { own, world, person, open } = designer;
  const { id } = await own.automation({ name: 'Zeitplan', eventName: undefined, triggerType: 'MANUAL' });
  await own.step(id, 'DELAY', { amount: 1, unit: 'days' });
  await world.inPage({ viewport: phone }, async (page) => {
    await signInAs(page, world.url, person.session);
    await open(page, `workflows/${workflow}`);
    await press(page, 'Simulate');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Simulate', exact: true }).click();
    await result(page).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await open(page, `workflows/${id}`);
    await press(page, 'Simulate');
    await dialog.getByText('This workflow is started manually or by the API, so the simulation can’t tell').waitFor();
    await pick(page, 'Contacts', 'Chosen contacts');
    await dialog.getByLabel('Search contacts').fill(people[0]?.email ?? '');
    await dialog.getByRole('checkbox', { name: people[0]?.email ?? '' }).check();
    await dialog.getByText('1 contact chosen').waitFor();
    await pick(page, 'Compare with', 'Nothing');
    await dialog.getByRole('button', { name: 'Simulate', exact: true }).click();
    await result(page)
      .getByText(/^The chosen contact, each run followed for up to 30 days\. They enter /)
      .waitFor();
  });
});

/** Takes the picture of the guide, where JOURNEY_PICTURES asks for it. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env.JOURNEY_PICTURES !== '1') return;
  await page.getByRole('dialog').evaluate((dialog) => dialog.scrollTo(0, 0));
  mkdirSync(pictures, { recursive: true });
  writeFileSync(`${pictures}${name}.webp`, await webp(page, 82));
}
