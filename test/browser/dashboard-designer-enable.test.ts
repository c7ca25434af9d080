import { afterAll, beforeAll, expect, test } from 'vitest';
import { audience } from '../support/audience.ts';
import { accessibilityProblems } from '../support/browser.ts';
import { add, type DesignerWorld, designerWorld, press, stepOn, type } from '../support/designer.ts';

let designer: DesignerWorld;
const people = audience();

beforeAll(async () => {
  designer = await designerWorld();
});
afterAll(() => designer?.[Symbol.asyncDispose]());

const update = { updates: { stage: 'invited' } };

test('enabling asks what becomes of unpublished changes: the published version is enabled without them, or with them', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Fragen' });
  await own.step(id, 'UPDATE_CONTACT', update, { name: 'Mark as invited', position: { x: 100, y: 250 } });
  const stepsOf = async () =>
    (await own.done('GET', `/workflows/${id}`)).steps.map(({ name }: { name: string }) => name).sort();
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Mark as invited').click();
    await add(page, 'delay', 'A day');
    await press(page, 'Enable Fragen');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('New: A day').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    // Leaving the question enables nothing.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect((await own.done('GET', `/workflows/${id}`)).enabled).toBe(false);
    await press(page, 'Enable Fragen');
    await press(page, 'Enable published version');
    await page.getByRole('button', { name: 'Disable Fragen' }).waitFor();
    expect(await stepsOf()).toEqual(['Mark as invited', 'Trigger: user.signup']);
    await stepOn(page, 'A day').waitFor();
    await page.getByText('changes not published').waitFor();

    await press(page, 'Disable Fragen');
    // By keyboard, once the button is no longer busy.
    await page.locator('[aria-label="Enable Fragen"][aria-busy="false"]').waitFor();
    await page.getByRole('button', { name: 'Enable Fragen' }).focus();
    await page.keyboard.press('Enter');
    const both = dialog.getByRole('button', { name: 'Publish and enable' });
    await expect.poll(() => both.isEnabled()).toBe(true);
    await both.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Disable Fragen' }).waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
    expect(await stepsOf()).toEqual(['A day', 'Mark as invited', 'Trigger: user.signup']);
  });
});

test('enabling a workflow that does nothing warns, in the designer and in the list', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Tut nichts' });
  await own.step(id, 'DELAY', { amount: 1, unit: 'days' }, { name: 'A day', position: { x: 100, y: 250 } });
  const acting = await own.automation({ name: 'Tut etwas' });
  await own.step(acting.id, 'UPDATE_CONTACT', update, { position: { x: 100, y: 250 } });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    const dialog = page.getByRole('dialog');
    await press(page, 'Enable Tut nichts');
    await dialog.getByText('This workflow has no step that acts').waitFor();
    await press(page, 'Keep editing');
    await open(page, 'workflows');
    await press(page, 'Enable Tut nichts');
    await dialog.getByText('This workflow has no step that acts').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Cancel');
    // One that acts is enabled at once.
    await press(page, 'Enable Tut etwas');
    await page.getByRole('button', { name: 'Disable Tut etwas' }).waitFor();
    expect((await own.done('GET', `/workflows/${id}`)).enabled).toBe(false);
    await press(page, 'Enable Tut nichts');
    await press(page, 'Enable anyway');
    await page.getByRole('button', { name: 'Disable Tut nichts' }).waitFor();
  });
});

test('"+" on a path inserts a step, by mouse and by keyboard, and Arrange puts "yes" to the left of "no"', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Dazwischen' });
  const ask = await own.step(id, 'CONDITION', { field: 'data.plan', operator: 'exists' }, { name: 'Has a plan' });
  for (const branch of ['no', 'yes']) {
    const exit = await own.step(id, 'EXIT', {}, { name: `It is ${branch}`, autoConnect: false });
    await own.done('POST', `/workflows/${id}/transitions`, { fromStepId: ask, toStepId: exit, branch });
  }
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'Arrange');
    const left = async (name: string) => (await stepOn(page, name).boundingBox())?.x ?? 0;
    await expect.poll(async () => (await left('It is no')) - (await left('It is yes'))).toBeGreaterThan(100);
    await press(page, 'Insert a step between Has a plan and It is yes');
    await page.getByRole('menuitem', { name: 'Update contact' }).click();
    await page.getByRole('heading', { level: 2, name: 'Update contact' }).waitFor();
    await press(page, 'Add field');
    await type(page, 'Field 1', 'stage');
    await type(page, 'Value of field 1', 'invited');
    await page.getByRole('button', { name: 'Insert a step between Has a plan and It is no' }).focus();
    await page.keyboard.press('Enter');
    // The menu moves the focus a moment after it opens, and a moment after each key.
    await page.locator('[role=menuitem]:focus', { hasText: 'Send email' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('[role=menuitem]:focus', { hasText: 'Delay' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Delay' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Save');
    await page.getByText('No changes', { exact: true }).waitFor();
  });
  expect(await own.ways(id)).toEqual([
    'Delay → It is no',
    'Has a plan → Delay (no)',
    'Has a plan → Update contact (yes)',
    'Trigger: user.signup → Has a plan',
    'Update contact → It is yes',
  ]);
});

test('an email that was skipped is no green "completed", and says why it was not sent', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Übersprungen' });
  const templateId = await own.template('Willkommen zurück');
  await own.step(id, 'SEND_EMAIL', {}, { name: 'Welcome mail', templateId, position: { x: 100, y: 250 } });
  await own.enable(id);
  const contactId = await own.contact(people[0]?.email ?? '', {});
  await own.done('PATCH', `/contacts/${contactId}`, { subscribed: false });
  const run = await own.done('POST', `/workflows/${id}/executions`, { contactId });
  await expect
    .poll(async () => (await own.done('GET', `/workflows/${id}/executions/${run.id}`)).status)
    .toBe('COMPLETED');
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}/executions/${run.id}`);
    const step = stepOn(page, 'Welcome mail');
    await step.getByText('Skipped: unsubscribed').waitFor();
    await expect.poll(() => step.locator('.step').getAttribute('data-tone')).toBe('warn');
    await page.getByText('Email not sent: the contact is unsubscribed.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});

test('the canvas fills the window, and its side panel is closed and opened', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Groß' });
  await inDashboard(async (page) => {
    await page.setViewportSize({ width: 1920, height: 1080 });
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Trigger').waitFor();
    const size = async () => (await page.locator('.canvas').boundingBox()) ?? { width: 0, height: 0 };
    const before = await size();
    expect([before.width > 1200, before.height > 850]).toEqual([true, true]);
    const panel = page.getByRole('complementary', { name: 'Selection' });
    await press(page, 'Side panel');
    await panel.waitFor({ state: 'detached' });
    expect((await size()).width - before.width).toBeGreaterThan(300);
    await press(page, 'Side panel');
    await panel.waitFor();
    // The toolbar is one row.
    const bar = await page.getByRole('group', { name: 'Edit the workflow' }).boundingBox();
    expect(bar?.height).toBeLessThan(48);
  });
});
