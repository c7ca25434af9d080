import { afterAll, beforeAll, expect, test } from 'vitest';
import { phone, problemsInBothThemes } from '../support/browser.ts';
import { type DesignerWorld, designerWorld, pick, press, stepOn, type } from '../support/designer.ts';

let designer: DesignerWorld;

beforeAll(async () => {
  designer = await designerWorld();
});
afterAll(() => designer?.[Symbol.asyncDispose]());

const isVip = { logic: 'AND', groups: [{ filters: [{ field: 'data.vip', operator: 'equals', value: true }] }] };

test('a workflow begins with a starter: its emails are templates, its graph is complete, and it is disabled', async () => {
  const { own, inDashboard, open } = designer;
  await inDashboard(async (page) => {
    await open(page, 'workflows?dialog=new');
    // An empty one is what is chosen at first.
    await expect.poll(() => page.getByRole('radio', { name: /^Empty workflow/ }).isChecked()).toBe(true);
    await page.getByRole('radio', { name: /^Empty workflow/ }).focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Welcome');
    expect(await page.getByLabel('Trigger event', { exact: true }).inputValue()).toBe('user.signup');
    await type(page, 'Name', 'Begrüßung');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowDown');
    // What was typed stays, what was proposed changes.
    await expect.poll(() => page.getByLabel('Trigger event', { exact: true }).inputValue()).toBe('trial.started');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Begrüßung');
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.setViewportSize(phone);
    expect(await page.getByRole('dialog').evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(false);
    await page.setViewportSize({ width: 1280, height: 900 });
    await press(page, 'Create');
    await page.getByRole('heading', { level: 1, name: 'Begrüßung' }).waitFor();
    await stepOn(page, 'Three days left').getByText('Trial ends in 3 days').waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
  });
  const { data } = await own.done('GET', '/workflows?search=Begr');
  expect(data).toMatchObject([{ name: 'Begrüßung', enabled: false }]);
  const { steps, issues } = await own.done('GET', `/workflows/${data[0].id}`);
  expect(issues).toEqual([]);
  const templates = (await own.done('GET', '/templates?search=Trial')).data;
  expect(
    steps.flatMap(({ template }: { template: { name: string } | null }) => (template ? [template.name] : [])).sort(),
  ).toEqual(['Trial ends in 3 days', 'Trial has ended']);
  expect(templates).toHaveLength(2);
});

test('a starter that fails half-way leaves nothing behind, and one without templates has none', async () => {
  const { own, inDashboard, open } = designer;
  const before = await own.done('GET', '/templates');
  await inDashboard(async (page) => {
    await open(page, 'workflows?dialog=new');
    await page.getByText('NPS survey', { exact: true }).click();
    await page.route('**/workflows/*/graph', (route) => route.abort());
    await press(page, 'Create');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect((await own.done('GET', '/workflows?search=NPS')).total).toBe(0);
    expect((await own.done('GET', '/templates')).total).toBe(before.total);
    await page.unroute('**/workflows/*/graph');
    await page.getByLabel('Create 3 templates for its emails').uncheck();
    await press(page, 'Create');
    await page.getByRole('heading', { level: 1, name: 'NPS survey' }).waitFor();
    await stepOn(page, 'Send the survey').getByText('No template chosen').waitFor();
  });
  expect((await own.done('GET', '/templates')).total).toBe(before.total);
});

test.each([
  ['A contact is created', 'CONTACT_CREATED', 'When a contact is created'],
  ['A date of a contact is reached', 'DATE', 'No field set'],
])('“%s” starts a workflow without an event', async (choice, triggerType, summary) => {
  const { own, inDashboard, open } = designer;
  const name = `By ${triggerType}`;
  await inDashboard(async (page) => {
    await open(page, 'workflows?dialog=new');
    await type(page, 'Name', name);
    await pick(page, 'Starts when', choice);
    await page.getByLabel('Trigger event', { exact: true }).waitFor({ state: 'detached' });
    expect(await problemsInBothThemes(page)).toEqual([]);
    await press(page, 'Create');
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await stepOn(page, summary).click();
    expect(await page.getByLabel('Trigger', { exact: true }).inputValue()).toBe(triggerType);
  });
  const { data } = await own.done('GET', `/workflows?search=${name}`);
  expect(data).toMatchObject([{ triggerType, triggerConfig: null }]);
});

test('a workflow starts when a contact enters a segment, chosen by name among those that are tracked', async () => {
  const { own, inDashboard, open } = designer;
  await own.done('POST', '/segments', { name: 'VIP Users!', condition: isVip, trackMembership: true });
  await own.done('POST', '/segments', { name: 'Untracked', condition: isVip });
  await inDashboard(async (page) => {
    await open(page, 'workflows?dialog=new');
    await type(page, 'Name', 'For VIPs');
    await pick(page, 'Starts when', 'A contact enters a segment');
    await page.getByText('1 segment not listed').waitFor();
    expect(await page.getByLabel('Segment', { exact: true }).locator('option').allTextContents()).toEqual([
      'Select one',
      'VIP Users!',
    ]);
    await pick(page, 'Segment', 'VIP Users!');
    await press(page, 'Create');
    await page.getByRole('heading', { level: 1, name: 'For VIPs' }).waitFor();
    await stepOn(page, 'Trigger').click();
    expect(await page.getByLabel('Trigger', { exact: true }).inputValue()).toBe('entry');
    await pick(page, 'Trigger', 'Contact leaves a segment');
    expect(await problemsInBothThemes(page)).toEqual([]);
    await press(page, 'Save settings');
    await page.getByText('Settings saved').waitFor();
  });
  const { data } = await own.done('GET', '/workflows?search=For VIPs');
  expect(data).toMatchObject([{ triggerType: 'EVENT', triggerConfig: { eventName: 'segment.vip-users.exit' } }]);
});
