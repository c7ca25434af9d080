import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { problemsInBothThemes, wide } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { add, pick, press, stepOn, type } from '../support/designer.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

// One week of one person. Each test goes on where the one before has ended.
let world: DashboardWorld;
let project: TestProject;
let person: Person;

const visitors = [
  ['imke@wattenmeer.test', 'Imke', 'pro', '12'],
  ['ole@wattenmeer.test', 'Ole', 'free', '3'],
  ['wiebke@wattenmeer.test', 'Wiebke', 'pro', '7'],
  ['enno@wattenmeer.test', 'Enno', 'pro', '1'],
  ['geeske@wattenmeer.test', 'Geeske', 'free', '0'],
  ['okke@wattenmeer.test', 'Okke', 'pro', '22'],
] as const;
const csv = (name: string, lines: readonly string[]) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(`${lines.join('\n')}\n`),
});

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const atWork = (work: (page: Page) => Promise<void>) =>
  world.inPage({ locale: 'en-US', viewport: wide }, async (page) => {
    await signInAs(page, world.url, person.session);
    await page.goto(`${world.url}/app/${project.id}`);
    await work(page);
  });
const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
const visit = async (page: Page, name: string) => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
  await title(page, name);
};
const mail = (page: Page) => page.frameLocator('iframe[title="Email preview"]');
const goOn = (page: Page, name: string) => page.getByRole('link', { name: `Continue to ${name}` }).click();
const figure = (page: Page, name: string, value: string) =>
  page
    .locator('[data-slot=figure]', { has: page.getByText(name, { exact: true }) })
    .getByText(value, { exact: true })
    .first()
    .waitFor();

/** What a recipient's mail program or browser does with the mail of this subject. */
async function asRecipient(email: string, subject: string, deed: 'open' | 'click'): Promise<void> {
  const [letter] = (await lettersTo(email)).filter((each) => each.subject === subject);
  if (letter === undefined) throw new Error(`${email} has no mail “${subject}”`);
  const place = `${world.sandbox.url}/api/messages/${letter.id}/${deed === 'open' ? 'events' : 'click'}`;
  const body = deed === 'open' ? { type: 'open' } : { link: 'https://wattenmeer.test/count' };
  const { status } = await fetch(place, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(status).toBe(200);
}

async function lettersTo(email: string): Promise<{ id: string; subject: string; html: string }[]> {
  const answer = await fetch(`${world.sandbox.url}/api/messages?bodies=1&to=${encodeURIComponent(email)}`);
  return ((await answer.json()) as { messages: { id: string; subject: string; html: string }[] }).messages;
}

/** Chooses a file to import and shows what it would change. */
async function previewImport(page: Page, file: ReturnType<typeof csv>, map: () => Promise<void>): Promise<void> {
  await visit(page, 'Contacts');
  await page.getByRole('button', { name: 'Import', exact: true }).first().click();
  await page.getByRole('dialog').getByLabel('File').setInputFiles(file);
  await page.getByRole('region', { name: 'File columns' }).waitFor();
  await map();
  await press(page, 'Preview changes');
}

async function runImport(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Import [\d,]+ rows$/ }).click();
  await dialog.getByText('Created', { exact: true }).waitFor();
}

test('Monday: a list of visitors is imported into a segment, and those on a plan become one that keeps itself', () =>
  atWork(async (page) => {
    const lines = [
      'Email Address,First Name,Plan,Visits,Notes',
      ...visitors.map((row) => `${row.join(',')},at the fair`),
    ];
    const dialog = page.getByRole('dialog');
    await previewImport(page, csv('visitors.csv', lines), async () => {
      await dialog.getByLabel('Name of the field for First Name').fill('firstName');
      await dialog.getByLabel('Type of Visits').selectOption({ label: 'Number' });
      await dialog.getByLabel('Import Notes as', { exact: true }).selectOption({ label: 'Skip this column' });
    });
    await figure(page, 'New', '6');
    await dialog.getByLabel('Add to segment').selectOption({ label: 'New segment' });
    await dialog.getByLabel('Name of the new segment').fill('Spring fair');
    await runImport(page);
    await figure(page, 'Created', '6');
    await dialog.getByRole('link', { name: 'View the segment of these contacts' }).click();
    await title(page, 'Spring fair');
    await page.getByText('6 total').waitFor();

    await visit(page, 'Segments');
    await page.getByRole('link', { name: 'New segment' }).first().click();
    await type(page, 'Name', 'Regulars');
    const filter = page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
    await filter.getByLabel('Filter by').selectOption('data');
    await filter.getByLabel('Field name').fill('plan');
    await filter.getByLabel('Value', { exact: true }).fill('pro');
    const found = page.getByRole('region', { name: 'Matching contacts' });
    await found.getByText('4 contacts').waitFor();
    await press(page, 'Add filter');
    const visits = page.getByRole('group', { name: 'Filter 2 of group 1', exact: true });
    await visits.getByLabel('Filter by').selectOption('data');
    await visits.getByLabel('Field name').fill('visits');
    await visits.getByLabel('Operator').selectOption('greaterThanOrEqual');
    await visits.getByLabel('Value', { exact: true }).fill('7');
    await found.getByText('3 contacts').waitFor();
    await page.getByText('Contacts whose plan is “pro” and whose visits is at least 7.', { exact: true }).waitFor();
    await press(page, 'Save');
    await title(page, 'Regulars');
    await page.getByRole('link', { name: 'wiebke@wattenmeer.test' }).waitFor();
  }));

test('Tuesday: a template begins with a layout, wears the brand, and says what it lacks', () =>
  atWork(async (page) => {
    await visit(page, 'Templates');
    await page.getByRole('link', { name: 'New template' }).first().click();
    await type(page, 'Name', 'Heron count');
    await type(page, 'From', project.sender);
    await press(page, 'Layouts');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Announcement/ })
      .click();
    const checks = page.getByRole('region', { name: 'Checks' });
    await checks.getByText('has no address').waitFor();
    await page.getByRole('textbox', { name: 'Body' }).getByText('Try it now').click();
    const settings = page.getByRole('region', { name: 'Button settings' });
    await settings.getByLabel('Label').fill('Count with us');
    await settings.getByLabel('Link').fill('https://wattenmeer.test/count');
    await checks.getByText('has no address').waitFor({ state: 'detached' });
    await type(page, 'Subject', 'The herons are back');
    await press(page, 'Brand kit');
    await type(page, 'Buttons and links', '#0b5fab');
    await type(page, 'Postal address', 'Am Deich 1, 26721 Emden');
    await press(page, 'Save brand kit');
    await mail(page).getByText('Am Deich 1, 26721 Emden').waitFor();
    await mail(page).getByRole('link', { name: 'Count with us' }).waitFor();
    await press(page, 'Save');
    await page.getByText('Template saved').waitFor();
  }));

test('Wednesday: a campaign takes the template, is counted, checked, sent to a canary and let go', () =>
  atWork(async (page) => {
    await visit(page, 'Campaigns');
    await page.getByRole('link', { name: 'New campaign' }).first().click();
    await type(page, 'Name', 'Heron count in March');
    await press(page, 'Layouts');
    const own = page.getByRole('list', { name: 'Your templates' }).getByRole('button', { name: /^Heron count/ });
    await own.waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await own.click();
    // What the form did not say yet comes from the template as well.
    await mail(page).getByRole('link', { name: 'Count with us' }).waitFor();
    await expect.poll(() => page.getByLabel('From domain').inputValue()).toBe(project.domain);
    await expect.poll(() => page.getByLabel('Subject', { exact: true }).inputValue()).toBe('The herons are back');
    await goOn(page, 'audience');
    // The draft has a page of its own once it is saved.
    await page.getByRole('button', { name: 'More actions' }).waitFor();
    await page.getByText('6 contacts right now').waitFor();
    await pick(page, 'Send to', 'SEGMENT');
    await pick(page, 'Segment', 'Spring fair (6)');
    await page.getByText('6 contacts right now').waitFor();
    await goOn(page, 'send');
    await page.getByText('Campaign saved').first().waitFor();
    await page.getByText('No problems found.').waitFor();
    await figure(page, 'Would be sent', '6');
    await page
      .getByRole('region', { name: 'Sample messages' })
      .getByText(/^1 of /)
      .waitFor();

    await page.getByLabel('Send to a few contacts first').check();
    await page.getByLabel('First recipients').fill('2');
    await press(page, 'Send to 6 contacts');
    await page.getByText('2 of 2 recipients sent').waitFor();
    await press(page, 'Continue to everyone else');
    await page.getByText('Balanced: every recipient is accounted for.').waitFor();
    for (const [email] of visitors) expect(await lettersTo(email), email).toHaveLength(1);
  }));

test('Thursday: opens and clicks are read on the campaign, and those who did not open it get a second one', async () => {
  for (const [email] of visitors.slice(0, 4)) await asRecipient(email, 'The herons are back', 'open');
  await asRecipient('imke@wattenmeer.test', 'The herons are back', 'click');
  await asRecipient('wiebke@wattenmeer.test', 'The herons are back', 'click');
  await atWork(async (page) => {
    await visit(page, 'Campaigns');
    await page.getByRole('link', { name: 'Heron count in March', exact: true }).click();
    await figure(page, 'Delivered', '6');
    await figure(page, 'Opened', '4');
    await figure(page, 'Clicked', '2');
    const drawn = page.frameLocator('iframe[title="Clicks on the email"]');
    await drawn.getByText('2 clicks', { exact: true }).waitFor();
    await drawn.getByRole('link', { name: 'Count with us' }).waitFor();
    await page
      .getByRole('region', { name: 'Clicks by link' })
      .getByRole('row', { name: 'https://wattenmeer.test/count 2 2' })
      .waitFor();

    await press(page, 'Follow up');
    const dialog = page.getByRole('dialog', { name: 'Follow up Heron count in March?' });
    await expect.poll(() => dialog.getByLabel('Send to', { exact: true }).inputValue()).toBe('not_opened');
    await dialog.getByText('2 contacts right now.').waitFor();
    await dialog.getByRole('button', { name: 'Create draft' }).click();
    await page.getByRole('navigation', { name: 'Steps' }).waitFor();
    await type(page, 'Subject', 'Have you seen a heron?');
    await goOn(page, 'audience');
    await page.getByText('Recipients who neither opened nor clicked a link in').waitFor();
    await page.getByText('2 contacts right now').waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await goOn(page, 'send');
    await page.getByText('2 contacts right now').waitFor();
    await press(page, 'Send to 2 contacts');
    await page.getByText('Balanced: every recipient is accounted for.').waitFor();
    const earlier = page.getByRole('region', { name: 'Earlier campaigns' });
    await earlier.getByRole('row', { name: /^Heron count in March 100% 66\.7% 33\.3%/ }).waitFor();
    await earlier.getByRole('row', { name: /^Median of the last 1 / }).waitFor();
    for (const [email] of visitors.slice(4)) expect(await lettersTo(email), email).toHaveLength(2);
    for (const [email] of visitors.slice(0, 4)) expect(await lettersTo(email), email).toHaveLength(1);
  });
});

test('Friday morning: an import of the wrong file is undone, and everybody is as before', () =>
  atWork(async (page) => {
    const lines = [
      'email,plan',
      'imke@wattenmeer.test,free',
      'wiebke@wattenmeer.test,free',
      'nobody@wattenmeer.test,free',
    ];
    await previewImport(page, csv('wrong-list.csv', lines), async () => {});
    await figure(page, 'Updated', '2');
    await figure(page, 'New', '1');
    await runImport(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText('7 contacts', { exact: true }).waitFor();
    await press(page, 'More about contacts');
    await page.getByRole('menuitem', { name: 'Imports and bulk changes', exact: true }).click();
    const jobs = page.getByRole('region', { name: 'Imports and bulk changes' });
    await press(page, 'Undo wrong-list.csv');
    const dialog = page.getByRole('alertdialog', { name: 'Undo this import?' });
    await dialog.getByText('2 contacts restored').waitFor();
    await dialog.getByText('1 contact deleted').waitFor();
    await dialog.getByRole('button', { name: 'Undo import', exact: true }).click();
    await jobs.getByText('Undone', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo Undo', exact: true }).waitFor();
    await visit(page, 'Contacts');
    await page.getByText('6 contacts', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'imke@wattenmeer.test' }).click();
    await title(page, 'imke@wattenmeer.test');
    await page
      .getByRole('definition')
      .filter({ hasText: /^pro$/ })
      .or(page.getByText('pro', { exact: true }))
      .first()
      .waitFor();
  }));

test('Friday noon: a workflow is designed, tested with a contact, enabled, and an event sends somebody through it', () =>
  atWork(async (page) => {
    await visit(page, 'Workflows');
    await page.getByRole('button', { name: 'New workflow' }).first().click();
    await type(page, 'Name', 'After a count');
    await type(page, 'Trigger event', 'count.finished');
    await press(page, 'Create');
    await title(page, 'After a count');
    await stepOn(page, 'Trigger').click();
    await add(page, 'update contact', 'Mark as counter');
    await press(page, 'Add field');
    await type(page, 'Field 1', 'stage');
    await type(page, 'Value of field 1', 'counter');
    await add(page, 'condition', 'Comes often');
    await type(page, 'Field', 'data.plan');
    await type(page, 'Value', 'pro');
    await add(page, 'send email', 'Thank them');
    await pick(page, 'Template', 'Heron count');

    await press(page, 'Test');
    const dialog = page.getByRole('dialog', { name: 'Test with a contact' });
    await dialog.getByRole('searchbox').fill('okke');
    await dialog.getByRole('radio', { name: 'okke@wattenmeer.test' }).check();
    await dialog.getByRole('button', { name: 'Run test' }).click();
    const result = dialog.getByRole('region', { name: 'Test result' });
    await result.getByText('Thank them').waitFor();
    await dialog.getByRole('button', { name: 'Show on canvas' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(/^\d\. Would run: yes$/).waitFor();
    await expect.poll(() => page.locator('.react-flow__edge.taken').count()).toBe(3);
    expect(await lettersTo('okke@wattenmeer.test')).toHaveLength(2);

    await press(page, 'Enable After a count');
    await press(page, 'Publish and enable');
    await page.getByRole('button', { name: 'Disable After a count' }).waitFor();
    const event = { email: 'okke@wattenmeer.test', event: 'count.finished', data: { birds: 41 } };
    expect((await world.api.call(project.publicKey, 'POST', '/v1/track', event)).status).toBe(200);

    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('link', { name: 'okke@wattenmeer.test' }).click();
    await title(page, 'okke@wattenmeer.test');
    await stepOn(page, 'Comes often').getByText('Completed: yes').waitFor();
    await stepOn(page, 'Thank them').getByText('Completed').waitFor();
    await expect.poll(async () => (await lettersTo('okke@wattenmeer.test')).length).toBe(3);
    await page.getByRole('link', { name: 'After a count', exact: true }).click();
    await page.getByText('yes · 1 · 100%', { exact: true }).waitFor();
  }));

test('Friday evening: a recipient unsubscribes by their own page, and the contact says so', async () => {
  const [letter] = await lettersTo('okke@wattenmeer.test');
  const link = /href="([^"]*\/unsubscribe\/[^"]*)"/.exec(letter?.html ?? '')?.[1]?.replaceAll('&amp;', '&') ?? '';
  await world.inPage({}, async (page) => {
    await page.goto(link);
    await page.getByText('Am Deich 1, 26721 Emden').waitFor();
    await press(page, 'Unsubscribe');
    await title(page, 'You have been unsubscribed');
  });
  await atWork(async (page) => {
    await visit(page, 'Contacts');
    await page.getByRole('link', { name: 'okke@wattenmeer.test' }).click();
    await title(page, 'okke@wattenmeer.test');
    await page.getByText('Not subscribed', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Subscription', exact: true }).click();
    await page.getByRole('region', { name: 'Subscription changes' }).getByText('Recipient').waitFor();
    await page.getByRole('tab', { name: 'Workflows', exact: true }).click();
    await page
      .getByRole('region', { name: 'Workflows of this contact' })
      .getByRole('link', { name: 'After a count' })
      .waitFor();
    await visit(page, 'Campaigns');
    await page.getByRole('link', { name: 'New campaign' }).first().click();
    await page
      .getByRole('navigation', { name: 'Steps' })
      .getByRole('link', { name: /^Audience/ })
      .click();
    await page.getByText('5 contacts right now').waitFor();
  });
});
