import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audience } from '../support/audience.ts';
import { accessibilityProblems, problemsInBothThemes } from '../support/browser.ts';
import {
  add,
  type DesignerWorld,
  designerWorld,
  pick,
  press,
  publish,
  save,
  stepOn,
  type,
} from '../support/designer.ts';

let designer: DesignerWorld;
const people = audience();

beforeAll(async () => {
  designer = await designerWorld();
});
afterAll(() => designer?.[Symbol.asyncDispose]());

test('an automation with every step type is drawn, enabled, run for a contact and watched to its end', async () => {
  const { own, inDashboard, open } = designer;
  await own.template('Willkommen bei den Vogelfreunden');
  const email = people[0]?.email ?? '';
  await own.contact(email, { plan: 'pro', joined: '2020-03-01', timezone: 'Asia/Tokyo' });
  await inDashboard(async (page) => {
    await open(page, 'workflows');
    await page.getByRole('button', { name: 'New workflow' }).first().click();
    await type(page, 'Name', 'Willkommen');
    await type(page, 'Trigger event', 'user.signup');
    await press(page, 'Create');
    await page.getByRole('heading', { level: 1, name: 'Willkommen' }).waitFor();
    await stepOn(page, 'Trigger').click();

    await add(page, 'update contact', 'Mark as invited');
    await press(page, 'Add field');
    await type(page, 'Field 1', 'stage');
    await type(page, 'Value of field 1', 'invited');

    await add(page, 'split', 'Try two ways');
    await type(page, 'Percent of branch 1', '99');
    await page.getByText('Adds up to 149%.').waitFor();
    await type(page, 'Percent of branch 2', '0');
    await press(page, 'Split evenly');
    await page.getByText('Adds up to 100%.', { exact: true }).waitFor();
    await type(page, 'Percent of branch 1', '100');
    await type(page, 'Percent of branch 2', '0');
    await pick(page, 'Control group', 'B');

    await add(page, 'wait until', 'A week after joining');
    await page.getByLabel('Sat', { exact: true }).check();
    await pick(page, 'Wait until', 'A date of the contact');
    await type(page, 'Field', 'data.joined');
    await type(page, 'Offset', '1w');
    await press(page, 'Show next times for a contact');
    await type(page, 'Search contacts', email);
    await page.getByRole('radio', { name: email }).check();
    await page.getByText(/^Sunday, March 8, 2020 at 9:00.AM \(has passed\)$/).waitFor();
    await page.getByText('Time zone: Asia/Tokyo.', { exact: true }).waitFor();

    await add(page, 'condition', 'Has a paid plan');
    await type(page, 'Field', 'data.plan');
    await type(page, 'Value', 'pro');

    await add(page, 'send email', 'Welcome mail');
    await pick(page, 'Template', 'Willkommen bei den Vogelfreunden');

    await add(page, 'delay', 'A moment');
    await type(page, 'Duration', '0.001');
    await pick(page, 'Unit', 'minutes');

    await add(page, 'wait for event', 'Wait for an order');
    await type(page, 'Event', 'order.paid');
    await page.getByLabel('Set a timeout').check();
    await type(page, 'Timeout', '0.02');
    await pick(page, 'Unit', 'minutes');
    await type(page, 'Timeout', '0.02');

    await add(page, 'webhook', 'Tell the shop');
    await type(page, 'Address', 'https://127.0.0.1/none');

    await stepOn(page, 'Wait for an order').click();
    await add(page, 'exit', 'Gave up');
    await type(page, 'Reason', 'no order yet');

    await press(page, 'Arrange');
    // It is shown from its beginning, wherever the canvas was.
    await expect.poll(async () => (await stepOn(page, 'Trigger').boundingBox())?.y).toBeGreaterThan(0);
    await press(page, 'Enable Willkommen');
    // Nothing is published unasked.
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: /^Publish \d+ changes and enable Willkommen\?$/ }).waitFor();
    await dialog.getByText('New: Welcome mail').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Publish and enable');
    await page.getByRole('button', { name: 'Disable Willkommen' }).waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await press(page, 'Start for contact');
    await type(page, 'Search contacts', email);
    await page.getByRole('radio', { name: email }).check();
    await press(page, 'Start');
    await page.getByRole('heading', { level: 1, name: email }).waitFor();
    await page.getByText('no order yet').first().waitFor();
    await stepOn(page, 'Has a paid plan').getByText('Completed: yes').waitFor();
    await stepOn(page, 'Wait for an order').getByText('Completed: timeout').waitFor();
    const link = await page.getByRole('link', { name: 'Open in Temporal' }).getAttribute('href');
    expect(link).toContain('/namespaces/default/workflows/automation%2F');
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByRole('link', { name: 'Willkommen', exact: true }).click();
    await page.getByText('timeout · 1 · 100%', { exact: true }).waitFor();
    await page.getByText('yes · 1 · 100%', { exact: true }).waitFor();
    await page.getByText('A 100% · 1 · 100%', { exact: true }).waitFor();
    await expect.poll(() => page.locator('.path-label', { hasText: /^1 · 100%$/ }).count()).toBe(5);
  });
  const { data } = await own.done('GET', '/workflows?search=Willkommen');
  expect(await own.ways(data[0].id)).toEqual([
    'A moment → Wait for an order',
    'A week after joining → Has a paid plan',
    'Has a paid plan → Welcome mail (yes)',
    'Mark as invited → Try two ways',
    'Trigger: user.signup → Mark as invited',
    'Try two ways → A week after joining (a)',
    'Wait for an order → Gave up (TIMEOUT)',
    'Wait for an order → Tell the shop (EVENT)',
    'Welcome mail → A moment',
  ]);
  const runs = await own.done('GET', `/workflows/${data[0].id}/executions`);
  expect(runs.data).toMatchObject([{ status: 'EXITED', exitReason: 'no order yet', contact: { email } }]);
});

test('a step goes and comes back by undo and redo, taken out, put into a way and by keyboard', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id } = await waiting('Rundbrief');
  const before = await own.ways(id);
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    // Steps are hidden, and cannot have the focus, until the canvas has measured them.
    await stepOn(page, 'Wait a month').waitFor();
    await stepOn(page, 'Wait a month').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Wait a month' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { level: 2, name: 'Done' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('heading', { level: 2, name: 'Wait a month' }).waitFor();
    await page.keyboard.press('Delete');
    await press(page, 'Delete only this step');
    // What lies behind a dialog is hidden from everybody who asks for it by its role.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await stepOn(page, 'Wait a month').waitFor({ state: 'detached' });
    // Nobody is touched before it is published.
    expect(await own.ways(id)).toEqual(before);
    await press(page, 'Undo');
    await stepOn(page, 'Wait a month').waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
    await press(page, 'Redo');
    await stepOn(page, 'Wait a month').waitFor({ state: 'detached' });
    await publish(page);
    expect(await own.ways(id)).toEqual(['Trigger: user.signup → Done']);
    // What was published can be undone as well: the step comes back as who it was.
    await press(page, 'Undo');
    await stepOn(page, 'Wait a month').waitFor();
    await publish(page);
    expect(await own.ways(id)).toEqual(before);
    await page.locator('.react-flow__edge').first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Selection' }).getByRole('button', { name: 'Webhook' }).click();
    await page.getByRole('heading', { level: 2, name: 'Webhook' }).waitFor();
    await type(page, 'Address', 'https://hooks.acme.test');
    await publish(page);
  });
  expect(await own.ways(id)).toEqual([
    'Trigger: user.signup → Webhook',
    'Wait a month → Done',
    'Webhook → Wait a month',
  ]);
});

async function middle(place: Locator): Promise<{ x: number; y: number }> {
  // Waits until the canvas has come to rest.
  await place.hover();
  const box = await place.boundingBox();
  if (box === null) throw new Error('It is not to be seen');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page: Page, from: Locator, to: { x: number; y: number }): Promise<void> {
  const start = await middle(from);
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move((start.x + to.x) / 2, (start.y + to.y) / 2, { steps: 6 });
  await page.mouse.move(to.x, to.y, { steps: 6 });
  await page.mouse.up();
}

test('by mouse: a step is dropped on the canvas, moved, and connected by dragging', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Mit der Maus' });
  const wait = await own.step(
    id,
    'DELAY',
    { amount: 1, unit: 'days' },
    { name: 'One day', position: { x: 100, y: 300 } },
  );
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    const canvas = await page.locator('.react-flow__pane').boundingBox();
    if (canvas === null) throw new Error('No canvas');
    await page
      .getByRole('button', { name: 'Exit', exact: true })
      .dragTo(page.locator('.react-flow__pane'), { targetPosition: { x: canvas.width - 160, y: canvas.height - 120 } });
    await stepOn(page, 'Exit').waitFor();
    await drag(
      page,
      stepOn(page, 'One day').locator('.react-flow__handle.source'),
      await middle(stepOn(page, 'Exit').locator('.react-flow__handle.target')),
    );
    await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(2);

    const before = await middle(stepOn(page, 'One day').locator('.step-name'));
    await drag(page, stepOn(page, 'One day').locator('.step-name'), { x: before.x + 90, y: before.y + 10 });
    await expect
      .poll(async () => Math.round((await middle(stepOn(page, 'One day').locator('.step-name'))).x - before.x))
      .toBeGreaterThan(60);
    await save(page);
  });
  expect(await own.ways(id)).toEqual(['One day → Exit', 'Trigger: user.signup → One day']);
  const { steps } = await own.done('GET', `/workflows/${id}`);
  expect(steps.find((step: { id: string }) => step.id === wait).position).not.toEqual({ x: 100, y: 300 });
});

test('a path that would create a cycle is not drawn, and the reason is said', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Zyklus' });
  const ask = { eventName: 'order.paid', timeout: 60 };
  await own.step(id, 'WAIT_FOR_EVENT', ask, { name: 'First wait', position: { x: 100, y: 250 } });
  await own.step(id, 'WAIT_FOR_EVENT', ask, { name: 'Second wait', position: { x: 100, y: 450 } });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    const out = stepOn(page, 'Second wait').locator('.react-flow__handle.source').first();
    await drag(page, out, await middle(stepOn(page, 'First wait').locator('.react-flow__handle.target')));
    await page.getByText('this would create a cycle').waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
  });
});

test('what keeps an automation from being enabled is shown on the step it concerns, as it is typed', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Unfertig' });
  await own.step(id, 'WAIT_FOR_EVENT', {}, { name: 'Wait for what' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'Enable Unfertig');
    await page.getByRole('heading', { name: 'Enable Unfertig, which does nothing?' }).waitFor();
    await press(page, 'Enable anyway');
    await page
      .getByRole('alert')
      .getByText(/Wait for what: Choose the event to wait for/)
      .first()
      .waitFor();
    await stepOn(page, 'Wait for what').getByText('1 problem').waitFor();
    await stepOn(page, 'Wait for what').click();
    await type(page, 'Event', 'order.paid');
    await stepOn(page, 'Wait for what').getByText('1 problem').waitFor({ state: 'detached' });
    // A step that the service does not know yet has its problems too.
    await add(page, 'webhook', 'Tell them');
    await type(page, 'Address', 'https://hooks.acme.test/{{');
    await stepOn(page, 'Tell them').getByText('1 problem').waitFor();
    await page.getByText('does not parse at line 1').first().waitFor();
  });
});

test('a step that was just added shows no problem before something of it is filled in', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Neu' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'Add step');
    await page.getByRole('menuitem', { name: 'Webhook' }).click();
    await page.getByLabel('Address', { exact: true }).waitFor();
    const checked = () => expect.poll(() => page.getByText(/changes? not saved$/).count()).toBe(1);
    await checked();
    expect(await page.getByText(/^\d+ problems?$/).count()).toBe(0);
    await type(page, 'Address', 'https://hooks.acme.test/{{');
    await stepOn(page, 'Webhook').getByText('1 problem').waitFor();
  });
});

test('an edit survives that the page is closed, and is thrown away when that is wanted', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id } = await waiting('Vergesslich');
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').click();
    await type(page, 'Name', 'Wait 🪶 länger');
    await stepOn(page, 'Trigger').click();
    await type(page, 'Description', 'Noch nicht fertig');
    await page.reload();
    await stepOn(page, 'Wait 🪶 länger').waitFor();
    await page.getByText('You have unpublished changes from').waitFor();
    await stepOn(page, 'Trigger').click();
    await expect.poll(() => page.getByLabel('Description', { exact: true }).inputValue()).toBe('Noch nicht fertig');
    await press(page, 'Discard changes');
    await stepOn(page, 'Wait a month').waitFor();
    await page.reload();
    await stepOn(page, 'Wait a month').waitFor();
  });
  expect((await own.done('GET', `/workflows/${id}`)).revision).toBe(4);
});

test('new contacts are chosen as the trigger, with a condition and with those of imports', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Willkommen' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Trigger').click();
    await pick(page, 'Trigger', 'CONTACT_CREATED');
    await page.getByText('None: all new contacts enter.').waitFor();
    await page.getByLabel('Include imported contacts').check();
    await press(page, 'Add conditions');
    const filter = page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
    await filter.getByLabel('Filter by').selectOption('email');
    await filter.getByLabel('Operator').selectOption('contains');
    await filter.getByLabel('Value').fill('@wattenmeer.test');
    await press(page, 'Use conditions');
    await page.getByText('1 filter.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Save settings');
    await page.getByText('Settings saved').waitFor();
    await open(page, 'workflows');
    await page.getByText('Contact created').waitFor();
  });
  const filters = [{ field: 'email', operator: 'contains', value: '@wattenmeer.test' }];
  expect(await own.done('GET', `/workflows/${id}`)).toMatchObject({
    triggerType: 'CONTACT_CREATED',
    triggerConfig: { audienceCondition: { logic: 'AND', groups: [{ filters }] }, imports: true },
    issues: [],
  });
});

test('a date is chosen as the trigger, and shows the next times for a contact', async () => {
  const { own, inDashboard, open } = designer;
  await own.contact('hanna.moor@wattenmeer.test', { birthday: '1992-03-10', timezone: 'Europe/Berlin' });
  const { id } = await own.automation({ name: 'Geburtstag' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Trigger').click();
    await pick(page, 'Trigger', 'DATE');
    await type(page, 'Field', 'data.birthday');
    await type(page, 'Offset', '-1d');
    await page.getByLabel('Repeat every year').check();
    await page.getByText('Save the settings to see').waitFor();
    await press(page, 'Save settings');
    await page.getByText('Settings saved').waitFor();
    await press(page, 'Show next times for a contact');
    await type(page, 'Search contacts', 'hanna.moor');
    await page.getByRole('radio', { name: 'hanna.moor@wattenmeer.test' }).check();
    await page.getByText('Time zone: Europe/Berlin.').waitFor();
    expect(await page.getByText(/March 9, 20\d\d at 9:00/).count()).toBe(3);
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  expect(await own.done('GET', `/workflows/${id}`)).toMatchObject({
    triggerType: 'DATE',
    triggerConfig: { field: 'data.birthday', offset: '-1d', at: '09:00', every: 'year', zone: 'contact' },
    issues: [],
  });
});

test('the condition of a schedule is built in the designer, beside whom it finds, and so are its exits', async () => {
  const { own, inDashboard, open } = designer;
  const left = { name: 'Trial', type: 'STATIC', trackMembership: true };
  const segment = (await own.done('POST', '/segments', left)).id;
  await own.contact('frida.sommer@wattenmeer.test', { plan: 'pro' });
  const { id } = await own.automation({ name: 'Montags' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Trigger').click();
    await pick(page, 'Trigger', 'SCHEDULE');
    await type(page, 'Schedule (cron)', '0 9 * * 1');
    await press(page, 'Add conditions');
    const filter = page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
    await filter.getByLabel('Filter by').selectOption('email');
    await filter.getByLabel('Operator').selectOption('contains');
    await filter.getByLabel('Value').fill('@wattenmeer.test');
    await page.getByRole('dialog').getByText('frida.sommer@wattenmeer.test').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Use conditions');
    await page.getByText('1 filter.').waitFor();
    await press(page, 'Add exit');
    await type(page, 'Event of exit 1', 'order.paid');
    await type(page, 'Reason of exit 1', 'bought');
    await press(page, 'Add exit');
    await pick(page, 'Type of exit 2', 'leavesSegment');
    await pick(page, 'Segment of exit 2', segment);
    await type(page, 'Reason of exit 2', 'trial is over');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Save settings');
    await page.getByText('Settings saved').waitFor();
  });
  expect(await own.done('GET', `/workflows/${id}`)).toMatchObject({
    exits: [
      { id: 'exit-1', on: { event: 'order.paid' }, reason: 'bought' },
      { id: 'exit-2', on: { leavesSegment: segment }, reason: 'trial is over' },
    ],
    triggerType: 'SCHEDULE',
    triggerConfig: {
      schedule: '0 9 * * 1',
      timezone: 'UTC',
      audienceCondition: {
        logic: 'AND',
        groups: [{ filters: [{ field: 'email', operator: 'contains', value: '@wattenmeer.test' }] }],
      },
    },
    issues: [],
  });
});

test('the goal is set beside the exits, and shows how many have reached it, there and above the runs', async () => {
  const { own, inDashboard, open, world } = designer;
  const { id } = await own.automation({ name: 'Mit Ziel' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Trigger').click();
    await press(page, 'Add goal');
    await type(page, 'Event of goal', 'order.paid');
    await type(page, 'Within days', '30');
    await pick(page, 'When reached', 'exit');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Save settings');
    await page.getByText('Settings saved').waitFor();
  });
  // biome-ignore lint/suspicious/noThenProperty: the field of the API.
  const goal = { on: { event: 'order.paid' }, withinDays: 30, then: 'exit' };
  expect(await own.done('GET', `/workflows/${id}`)).toMatchObject({ goal, exits: [], issues: [] });
  await own.enable(id);
  for (const name of ['anke', 'berit', 'carla']) {
    const contactId = await own.contact(`${name}@wattenmeer.test`);
    await own.done('POST', `/workflows/${id}/executions`, { contactId });
  }
  const { db } = world.database;
  await db.count(
    `update automation_goals set met_at = entered_at + interval '50 hours', check_at = null where run_id = (
       select id from automation_runs where automation_id = $1 order by id limit 1)`,
    [id],
  );
  await inDashboard(async (page) => {
    const shown = page.getByRole('region', { name: 'Goal results' });
    const text = '1 of 3 reached the goal within 30 days: 33.3% (6.1–79.2%), median 2.1 days.';
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Trigger').click();
    await shown.getByText(text).waitFor();
    await shown.getByText('2 still have time.').waitFor();
    await open(page, `workflows/${id}/executions`);
    await shown.getByText(text).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});

test('conditions of steps are built as those of segments are, also on the event that starts the workflow', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Fragt' });
  const asks = { field: 'data.plan', operator: 'equals', value: 'pro' };
  const position = { x: 100, y: 250 };
  const asked = await own.step(id, 'CONDITION', asks, { name: 'Large order?', position });
  const { field, ...compared } = asks;
  const branches = [{ id: 'pro', name: 'Pro', ...compared }];
  const sorted = await own.step(
    id,
    'CONDITION',
    { mode: 'multi', field, branches },
    { name: 'Sort', position: { x: 100, y: 420 }, autoConnect: false },
  );
  const waits = await own.step(
    id,
    'WAIT_FOR_EVENT',
    { eventName: 'order.paid' },
    { name: 'Payment', position: { x: 400, y: 420 }, autoConnect: false },
  );
  const filter = (page: Page) => page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
  const filterByData = async (page: Page, path: string, value: string) => {
    await page.getByLabel('Filter by event data').check();
    await page.getByLabel('Data field of filter 1').fill(path);
    await page.getByLabel('Value of filter 1', { exact: true }).fill(value);
  };
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Large order?').click();
    await pick(page, 'Type', 'tree');
    await filter(page).getByLabel('Filter by').selectOption('trigger');
    await filter(page).getByLabel('Field name').fill('total');
    await filter(page).getByLabel('Operator').selectOption('greaterThan');
    await filter(page).getByLabel('Value type').selectOption('number');
    await filter(page).getByLabel('Value', { exact: true }).fill('50');
    await page.getByText('Contacts whose triggering event has a total that is more than 50.').waitFor();
    await page.getByText('Contacts cannot be counted before the triggering event is known.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await stepOn(page, 'Sort').click();
    await pick(page, 'Operator of branch 1', 'tree');
    await filter(page).getByLabel('Filter by').selectOption('subscribed');
    await page.getByText('Contacts who are subscribed.').waitFor();
    await stepOn(page, 'Payment').click();
    await filterByData(page, 'order.country', 'DE');
    await pick(page, 'Events that count', 'entry');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Save');
    await page.getByText('No changes', { exact: true }).waitFor();
    await stepOn(page, 'Trigger: user.signup').click();
    await filterByData(page, 'plan', 'pro');
    await press(page, 'Save settings');
    await page.getByText('Settings saved').waitFor();
  });
  const { steps, triggerConfig } = await own.done('GET', `/workflows/${id}`);
  expect(triggerConfig).toEqual({
    eventName: 'user.signup',
    where: [{ path: 'plan', operator: 'equals', value: 'pro' }],
  });
  const configs = new Map(steps.map((step: { id: string; config: object }) => [step.id, step.config]));
  const all = (one: object) => ({ logic: 'AND', groups: [{ filters: [one] }] });
  expect(configs.get(waits)).toEqual({
    eventName: 'order.paid',
    where: [{ path: 'order.country', operator: 'equals', value: 'DE' }],
    countsFrom: 'entry',
  });
  expect(configs.get(asked)).toEqual({
    mode: 'tree',
    condition: all({ field: 'trigger.total', operator: 'greaterThan', value: 50 }),
  });
  expect(configs.get(sorted)).toEqual({
    mode: 'multi',
    field,
    branches: [{ id: 'pro', name: 'Pro', condition: all({ field: 'subscribed', operator: 'equals', value: true }) }],
  });
});

test('“did they open that mail?” is asked of a step by its name, before that step is published too', async () => {
  const { own, inDashboard, open } = designer;
  const templateId = await own.template('Erinnerung');
  const { id } = await own.automation({ name: 'Erinnert' });
  await own.step(id, 'SEND_EMAIL', { templateId }, { name: 'First reminder' });
  const asked = (page: Page) => page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'First reminder').click();
    await add(page, 'send email', 'Second reminder');
    await pick(page, 'Template', 'Erinnerung');
    await add(page, 'condition', 'Opened?');
    await pick(page, 'Type', 'tree');
    await asked(page).getByLabel('Filter by').selectOption('activity');
    const emails = asked(page).getByLabel('Email', { exact: true });
    expect(await emails.locator('optgroup option').allTextContents()).toEqual(['First reminder', 'Second reminder']);
    await emails.selectOption({ label: 'First reminder' });
    await page.getByText('Contacts who opened an email of the workflow step “First reminder”.').waitFor();
    await page.getByRole('region', { name: 'Matching contacts' }).getByText('0 contacts').waitFor();
    await emails.selectOption({ label: 'Second reminder' });
    await page.getByText('Contacts who opened an email of the workflow step “Second reminder”.').waitFor();
    await page.getByText('Contacts cannot be counted before the new step is saved.').waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await save(page);
    // The condition has the id that the step was given.
    await page.reload();
    await stepOn(page, 'Opened?').click();
    await page.getByText('Contacts who opened an email of the workflow step “Second reminder”.').waitFor();
    await stepOn(page, 'Trigger').click();
    await press(page, 'Add exit');
    await pick(page, 'Type of exit 1', 'condition');
    await asked(page).getByLabel('Filter by').selectOption('activity');
    await asked(page).getByLabel('Email activity').selectOption('clicked');
    await asked(page).getByLabel('Email', { exact: true }).selectOption({ label: 'Second reminder' });
    await asked(page).getByLabel('Link', { exact: true }).fill('https://example.com/done');
    await type(page, 'Reason of exit 1', 'done');
    await press(page, 'Save settings');
    await page.getByText('Settings saved').waitFor();
  });
  const { steps, exits } = await own.done('GET', `/workflows/${id}`);
  const named = new Map(steps.map((step: { id: string; name: string }) => [step.name, step]));
  const second = (named.get('Second reminder') as { id: string }).id;
  const of = { stepId: second };
  expect(named.get('Opened?')).toMatchObject({
    config: {
      mode: 'tree',
      condition: { logic: 'AND', groups: [{ filters: [{ field: 'email.opened', operator: 'triggered', of }] }] },
    },
  });
  const clicked = { field: 'email.clicked', operator: 'triggered', of, link: 'https://example.com/done' };
  expect(exits).toEqual([
    { id: 'exit-1', on: { condition: { logic: 'AND', groups: [{ filters: [clicked] }] } }, reason: 'done' },
  ]);
});

test('the small map and the zoom lie below the graph at every width, never on a step or a label', async () => {
  const { own, inDashboard, open } = designer;
  const { id } = await own.automation({ name: 'Lang' });
  for (let n = 0; n < 14; n += 1)
    await own.step(
      id,
      'DELAY',
      { amount: 1, unit: 'days' },
      { name: `Tag ${n}`, position: { x: 100 + (n % 3) * 280, y: 250 + n * 150 } },
    );
  for (const width of [1280, 1920])
    await inDashboard(async (page) => {
      await page.setViewportSize({ width, height: 900 });
      await open(page, `workflows/${id}`);
      await stepOn(page, 'Tag 13').waitFor();
      const graph = await page.locator('.react-flow__pane').boundingBox();
      for (const part of ['minimap', 'controls']) {
        const place = await page.locator(`.react-flow__${part}`).boundingBox();
        if (!place || !graph) throw new Error('Something is not to be seen');
        expect(place.y, part).toBeGreaterThanOrEqual(graph.y + graph.height);
      }
    });
});
