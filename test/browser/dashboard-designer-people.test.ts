import { afterAll, beforeAll, expect, test } from 'vitest';
import { audience } from '../support/audience.ts';
import { accessibilityProblems, desktop, phone, problemsInBothThemes } from '../support/browser.ts';
import { add, type DesignerWorld, designerWorld, pick, press, publish, stepOn, type } from '../support/designer.ts';

let designer: DesignerWorld;
const people = audience();

beforeAll(async () => {
  designer = await designerWorld();
});
afterAll(() => designer?.[Symbol.asyncDispose]());

/** Lets contacts in and waits until each stands at the DELAY. */
async function letIn(id: string, from: number, count: number): Promise<{ id: string; email: string }[]> {
  const { own } = designer;
  const runs = [];
  for (const { email } of people.slice(from, from + count)) {
    const contactId = await own.contact(email);
    runs.push({ ...(await own.done('POST', `/workflows/${id}/executions`, { contactId })), email });
  }
  await expect
    .poll(async () => (await own.done('GET', `/workflows/${id}/executions?status=WAITING`)).total)
    .toBe(count);
  return runs;
}

test('an edit is published in one go while people are inside, who move by a plan and are watched to its end', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id, wait, done } = await waiting('Jahresbeitrag');
  const [first] = await letIn(id, 0, 3);
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').getByText('3 here, 3 waiting').waitFor();
    await stepOn(page, 'Wait a month').click();
    await press(page, 'View contacts here');
    await page
      .getByRole('dialog')
      .getByRole('link', { name: first?.email ?? '' })
      .waitFor();
    await page.keyboard.press('Escape');
    // What the API refuses of a single step while people are inside is published as a whole.
    await type(page, 'Duration', '31');
    await add(page, 'update contact', 'Mark as member');
    await press(page, 'Add field');
    await type(page, 'Field 1', 'member');
    await type(page, 'Value of field 1', 'yes');
    await press(page, 'Review and publish');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Changed: Wait a month (settings)').waitFor();
    await dialog.getByText('New: Mark as member').waitFor();
    await dialog.getByText('3 contacts are in an older version').waitFor();
    await pick(page, 'Action (Wait a month)', 'moveNow');
    await expect.poll(() => dialog.getByRole('button', { name: 'Publish and migrate' }).isDisabled()).toBe(true);
    await pick(page, 'Target step (Wait a month)', 'Mark as member');
    await expect.poll(() => dialog.getByRole('button', { name: 'Publish and migrate' }).isEnabled()).toBe(true);
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Publish and migrate');
    await page.getByRole('heading', { name: 'Published, migrating contacts' }).waitFor();
    await dialog.getByText('3 moved to another step or got new times').waitFor();
    await dialog.getByText('completed', { exact: true }).waitFor();
    await press(page, 'Close');
    await page.getByText('No changes', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Disable Jahresbeitrag' }).waitFor();
  });
  const { steps } = await own.done('GET', `/workflows/${id}`);
  const byId = new Map<string, Record<string, unknown>>(steps.map((step: { id: string }) => [step.id, step]));
  expect([byId.get(wait)?.config, byId.get(done)?.name]).toEqual([{ amount: 31, unit: 'days' }, 'Done']);
  await expect
    .poll(async () => (await own.done('GET', `/workflows/${id}/executions/${first?.id}`)).status)
    .toBe('COMPLETED');
  expect(await own.done('GET', `/workflows/${id}/executions/${first?.id}`)).toMatchObject({ version: 2 });
});

test('an execution is drawn on the graph of its own version, which says that it is an older one', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id, wait, done } = await waiting('Altes und Neues');
  const [run] = await letIn(id, 10, 1);
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').click();
    await type(page, 'Name', 'Wait a year');
    await type(page, 'Duration', '365');
    await stepOn(page, 'Done').click();
    await press(page, 'Delete step');
    await press(page, 'Delete only this step');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await publish(page);
    // Whoever enters now makes the second version.
    const contactId = await own.contact(people[20]?.email ?? '');
    const late = await own.done('POST', `/workflows/${id}/executions`, { contactId });
    await open(page, `workflows/${id}/executions/${run?.id}`);
    await stepOn(page, 'Wait a month').getByText('30 days').waitFor();
    await stepOn(page, 'Wait a month').getByText('scheduled').waitFor();
    await stepOn(page, 'Done').waitFor();
    await page.getByText('1 (older').waitFor();
    await page.getByText('timer').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await open(page, `workflows/${id}/executions/${late.id}`);
    await stepOn(page, 'Wait a year').getByText('365 days').waitFor();
    await expect.poll(() => stepOn(page, 'Done').count()).toBe(0);
    await page.getByText('2 (published)').waitFor();
  });
  expect(await own.done('GET', `/workflows/${id}/versions/1`)).toMatchObject({
    isCurrent: false,
    steps: [{ type: 'TRIGGER' }, { id: wait, name: 'Wait a month' }, { id: done }],
  });
});

test('people of an older graph are moved later as well, and leave with the reason that was given', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id } = await waiting('Später');
  await letIn(id, 30, 2);
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Done').click();
    await type(page, 'Reason', 'member');
    await publish(page);
    await press(page, 'More actions');
    await page.getByRole('menuitem', { name: 'Migrate contacts' }).click();
    await pick(page, 'Action (Wait a month)', 'exit');
    await type(page, 'Reason (Wait a month)', 'new rules');
    await press(page, 'Migrate contacts');
    await page.getByRole('dialog').getByText('2 exited').waitFor();
    await page.getByRole('dialog').getByText('completed', { exact: true }).waitFor();
  });
  const { data } = await own.done('GET', `/workflows/${id}/executions`);
  expect(data.map(({ status, exitReason }: Record<string, string>) => [status, exitReason])).toEqual([
    ['EXITED', 'new rules'],
    ['EXITED', 'new rules'],
  ]);
});

test('all executions are cancelled by a button that names how many people it concerns', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id } = await waiting('Alle hinaus');
  await letIn(id, 40, 3);
  await inDashboard(async (page) => {
    const dialog = page.getByRole('alertdialog');
    await open(page, `workflows/${id}`);
    await press(page, 'More actions');
    await page.getByRole('menuitem', { name: 'Pause workflow' }).click();
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await press(page, 'More actions');
    await page.getByRole('menuitem', { name: 'Resume workflow' }).click();
    await dialog.getByLabel('Spread over minutes').fill('5');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('Enabled', { exact: true }).waitFor();
    await open(page, `workflows/${id}/executions`);
    await press(page, 'Cancel all runs');
    await dialog.getByText('3 contacts exit Alle hinaus at the current step').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel 3 runs' }).click();
    await page.getByText('3 runs canceled').waitFor();
    await expect.poll(() => page.getByRole('cell', { name: 'Canceled', exact: true }).count()).toBe(3);
    await expect.poll(() => page.getByRole('button', { name: 'Cancel all runs' }).isDisabled()).toBe(true);
  });
  const { data } = await own.done('GET', `/workflows/${id}/executions`);
  expect(data.map(({ status }: { status: string }) => status)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
});

test('executions that failed are retried, one on its page and the others from the list', async () => {
  const { own, inDashboard, open, project } = designer;
  const limits = (workflows: number | null) =>
    own.done('PUT', `/users/@me/projects/${project.id}/billing-limits`, {
      ...{ campaigns: null, transactional: null, inbound: null },
      workflows,
    });
  const { id } = await own.automation({ name: 'Nachfassen' });
  await own.step(id, 'SEND_EMAIL', { templateId: await own.template('Nachfassen') }, { name: 'Ask' });
  await own.enable(id);
  const start = async ({ email }: { email: string }) => ({
    ...(await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact(email) })),
    email,
  });
  const count = async (status: string) => (await own.done('GET', `/workflows/${id}/executions?status=${status}`)).total;
  // One mail is all that may be sent, until the limit is lifted.
  await limits(1);
  const [allowed, ...others] = people.slice(50, 54);
  await start(allowed as (typeof people)[number]);
  await expect.poll(() => count('COMPLETED')).toBe(1);
  const runs = [];
  for (const person of others) runs.push(await start(person));
  await expect.poll(() => count('FAILED')).toBe(3);
  await limits(null);
  const [first] = runs;
  await inDashboard(async (page) => {
    const dialog = page.getByRole('alertdialog');
    await open(page, `workflows/${id}/executions/${first?.id}`);
    await press(page, 'Retry run');
    await dialog.getByRole('heading', { name: `Retry the run for ${first?.email}?` }).waitFor();
    await dialog.getByText('in the current version of Nachfassen').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Leave as they are' }).click();
    expect(await count('FAILED')).toBe(3);
    await press(page, 'Retry run');
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('1 run retried').waitFor();
    await expect.poll(() => count('COMPLETED')).toBe(2);
    await open(page, `workflows/${id}/executions?status=FAILED`);
    await page
      .getByRole('list', { name: 'Failures' })
      .getByText(/^2 failed at “Ask” since .*limit/)
      .waitFor();
    await press(page, 'Retry failed runs');
    await dialog.getByRole('heading', { name: 'Retry 2 failed runs?' }).waitFor();
    await dialog.getByRole('button', { name: 'Leave as they are' }).click();
    await press(page, 'Retry those at Ask');
    await dialog.getByRole('heading', { name: 'Retry 2 runs that failed at Ask?' }).waitFor();
    await dialog.getByLabel('Resume at').selectOption('Ask');
    await dialog.getByText('2 runs will resume.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByText('2 runs retried').waitFor();
    await page.getByText('No runs match').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Retry failed runs' }).count()).toBe(0);
  });
  await expect.poll(() => count('COMPLETED')).toBe(4);
});

test('an edit is tried with a contact before it is saved, by keyboard, and nothing comes of it', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id } = await waiting('Schnupperjahr');
  const email = people[45]?.email ?? '';
  const contact = await own.contact(email, { plan: 'trial' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Done').click();
    await type(page, 'Reason', 'on trial');
    await page.getByRole('button', { name: 'Test', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Test with a contact' });
    await dialog.getByRole('searchbox').fill(email);
    await dialog.getByRole('radio', { name: email }).press('Space');
    await dialog.getByRole('button', { name: 'Run test' }).press('Enter');
    const result = dialog.getByRole('region', { name: 'Test result' });
    await result.getByText('Waits until').waitFor();
    await result.getByText('The contact would leave the workflow: on trial.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByLabel('Event data').fill('[1]');
    await dialog.getByRole('button', { name: 'Run test' }).click();
    await dialog.getByText('Enter a JSON object.').waitFor();

    // On the canvas until the graph is another, or nobody wants to see it any more.
    await dialog.getByRole('button', { name: 'Show on canvas' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await stepOn(page, 'Done').getByText('3. Would run').waitFor();
    await expect.poll(() => page.locator('.react-flow__edge.taken').count()).toBe(2);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Hide test' }).click();
    await stepOn(page, 'Done').getByText('3. Would run').waitFor({ state: 'detached' });
    expect(await page.locator('.react-flow__edge.taken').count()).toBe(0);
  });
  expect((await own.done('GET', `/contacts/${contact}`)).data).toEqual({ plan: 'trial' });
  expect((await own.done('GET', `/workflows/${id}/executions`)).total).toBe(0);
});

test('a test says why an email is not sent, and where the contact leaves', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id, wait, done } = await waiting('Warum nicht');
  const email = people[46]?.email ?? '';
  await own.contact(email, {});
  const at = new Date().toISOString();
  const step = (stepId: string, output: object) => ({
    ...{ stepId, name: 'Letter', type: 'SEND_EMAIL', at, outcome: 'SKIPPED', error: null },
    output,
  });
  const answers = [
    step(wait, { skipped: 'holdout' }),
    step(done, { exit: 'goal', reason: 'Goal reached' }),
    step('5f0f7f6e-0000-7000-8000-000000000000', { skipped: 'unsubscribed' }),
  ];
  await inDashboard(async (page) => {
    await page.route('**/test-run', (route) =>
      route.fulfill({ json: { end: 'EXITED', reason: 'Goal reached', endsAt: at, steps: answers } }),
    );
    await open(page, `workflows/${id}`);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Test with a contact' });
    await dialog.getByRole('searchbox').fill(email);
    await dialog.getByRole('radio', { name: email }).check();
    await dialog.getByRole('button', { name: 'Run test' }).click();
    const result = dialog.getByRole('region', { name: 'Test result' });
    await result.getByText('Sends nothing: the contact is in the control group.').waitFor();
    await result.getByText('The contact leaves at this step: Goal reached.').waitFor();
    await result.getByText('Sends nothing: the contact is unsubscribed.').waitFor();
    await dialog.getByRole('button', { name: 'Show on canvas' }).click();
    await stepOn(page, 'Wait a month').getByText('1. Would be skipped: control group').waitFor();
    await stepOn(page, 'Done').getByText('2. Would be skipped: Goal reached').waitFor();
  });
});

test('runs lead with the names of their contacts, in the list, at a step and on their page', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id } = await waiting('Ehrung');
  for (const [email, data] of [
    ['tomke@names.test', { firstName: 'Tomke', lastName: 'Rieken' }],
    ['wiard@names.test', {}],
  ] as const)
    await own.done('POST', `/workflows/${id}/executions`, { contactId: await own.contact(email, data) });
  await expect.poll(async () => (await own.done('GET', `/workflows/${id}/executions?status=WAITING`)).total).toBe(2);
  const both = ['Tomke Rieken\ntomke@names.test', 'wiard@names.test'];
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').click();
    await press(page, 'View contacts here');
    const dialog = page.getByRole('dialog');
    await expect.poll(async () => (await dialog.getByRole('link').allInnerTexts()).sort()).toEqual(both);
    await open(page, `workflows/${id}/executions`);
    const runs = page.getByRole('region', { name: 'Runs' }).getByRole('link');
    await expect.poll(async () => (await runs.allInnerTexts()).sort()).toEqual(both);
    await type(page, 'Search runs', 'rieken tom');
    await expect.poll(async () => await runs.allInnerTexts()).toEqual(both.slice(0, 1));
    expect(new URL(page.url()).searchParams.get('search')).toBe('rieken tom');
    await type(page, 'Search runs', 'nobody');
    await page.getByText('No runs match').waitFor();
    await type(page, 'Search runs', '@names');
    await expect.poll(async () => (await runs.allInnerTexts()).sort()).toEqual(both);
    await runs.filter({ hasText: 'Tomke Rieken' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tomke Rieken' }).waitFor();
    await page.getByText('tomke@names.test').waitFor();
  });
  const { data } = await own.done('GET', `/workflows/${id}/executions`);
  const names = data.map(({ contact }: { contact: { name: string | null } }) => contact.name);
  expect(names.sort()).toEqual(['Tomke Rieken', null]);
});

test('contacts of the past are enrolled by segment, condition or event, after a preview, with progress and result', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id } = await waiting('Nachgeholt');
  const [first, second, third] = await Promise.all(
    ['eins', 'zwei', 'drei'].map(async (name, n) => {
      const email = `${name}@enroll.example`;
      const contact = await own.contact(email, { enroll: n });
      await own.done('POST', '/events/track', { email, event: 'imported', data: { order: { total: n * 50 } } });
      return { contact, email };
    }),
  );
  const segment = await own.done('POST', '/segments', { name: 'Von früher', type: 'STATIC' });
  const emails = [first?.email, second?.email, third?.email];
  await own.done('POST', `/segments/${segment.id}/members`, { emails });
  await own.done('POST', `/workflows/${id}/executions`, { contactId: first?.contact });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'More actions');
    await page.getByRole('menuitem', { name: 'Enroll contacts' }).click();
    const dialog = page.getByRole('dialog');
    const preview = dialog.getByRole('status', { name: 'Preview' });
    await preview.getByText('Choose the contacts to see how many would enter.').waitFor();

    await dialog.getByLabel('Contacts', { exact: true }).selectOption('event');
    await dialog.getByLabel('Event', { exact: true }).fill('imported');
    await preview.getByText('2 of 3 contacts would enter; 1 has been in the workflow', { exact: false }).waitFor();
    await dialog.getByLabel('Filter by event data').check();
    await dialog.getByLabel('Data field of filter 1').fill('order.total');
    await dialog.getByLabel('Operator of filter 1').selectOption('greaterThan');
    await dialog.getByLabel('Value of filter 1: type').selectOption('number');
    await dialog.getByLabel('Value of filter 1', { exact: true }).fill('60');
    await preview.getByText('1 of 1 contact would enter.', { exact: true }).waitFor();
    await dialog.getByLabel(/^Since/).fill('2100-01-01T00:00');
    await preview.getByText('0 of 0 contacts would enter.', { exact: true }).waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: /^Enroll/ }).isDisabled()).toBe(true);

    await dialog.getByLabel('Contacts', { exact: true }).selectOption('condition');
    const filter = dialog.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
    await filter.getByLabel('Filter by').selectOption('data');
    await filter.getByLabel('Field name').fill('enroll');
    await filter.getByLabel('Operator').selectOption('exists');
    await preview.getByText('2 of 3 contacts would enter;', { exact: false }).waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.setViewportSize(phone);
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.setViewportSize(desktop);

    await dialog.getByLabel('Contacts', { exact: true }).selectOption('segment');
    await dialog.getByLabel('Segment', { exact: true }).selectOption({ label: 'Von früher' });
    await dialog.getByLabel('Contacts per minute').fill('0');
    await preview.getByText('Choose the contacts', { exact: false }).waitFor();
    await dialog.getByLabel('Contacts per minute').fill('600');
    const sentence = '2 of 3 contacts would enter; 1 has been in the workflow, which does not allow re-entry.';
    await preview.getByText(sentence, { exact: true }).waitFor();
    // Nobody enters by a preview.
    expect((await own.done('GET', `/workflows/${id}/executions`)).total).toBe(1);
    await dialog.getByRole('button', { name: 'Enroll 2 contacts' }).press('Enter');
    await page.getByRole('heading', { name: 'Enroll 2 contacts in Nachgeholt?' }).waitFor();
    await page.getByText('at most 600 per minute', { exact: false }).waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    // What was chosen is still there.
    await preview.getByText(sentence, { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Enroll 2 contacts' }).click();
    await page.getByRole('button', { name: 'Enroll contacts', exact: true }).click();
    await page.getByRole('heading', { name: 'Enrolling contacts in Nachgeholt' }).waitFor();
    await page
      .getByText('2 contacts entered, 1 did not. Has been in the workflow, which does not allow re-entry: 1.', {
        exact: true,
      })
      .waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText('3 contacts in this workflow').waitFor();
    await open(page, 'contact-jobs');
    await page.getByText('2 contacts entered · 1 did not enter').waitFor();
  });
  expect((await own.done('GET', `/workflows/${id}/executions`)).total).toBe(3);

  await own.done('PATCH', `/workflows/${id}`, { enabled: false });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'More actions');
    await page.getByRole('menuitem', { name: 'Enroll contacts' }).click();
    await page.getByText('Enable the workflow before you enroll contacts.').waitFor();
  });
});
