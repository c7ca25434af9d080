import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { problemsInBothThemes, wide } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { add, stepOn } from '../support/designer.ts';
import { type ChosenFile, type Hand, keyboard, mouse } from '../support/hands.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

// One week of one person. Each test goes on where the one before has ended.
let world: DashboardWorld;
let project: TestProject;
let person: Person;
let handOn: (page: Page) => Hand;

const visitors = [
  ['imke@wattenmeer.test', 'Imke', 'pro', '12'],
  ['ole@wattenmeer.test', 'Ole', 'free', '3'],
  ['wiebke@wattenmeer.test', 'Wiebke', 'pro', '7'],
  ['enno@wattenmeer.test', 'Enno', 'pro', '1'],
  ['geeske@wattenmeer.test', 'Geeske', 'free', '0'],
  ['okke@wattenmeer.test', 'Okke', 'pro', '22'],
] as const;
const csv = (name: string, lines: readonly string[]): ChosenFile => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(`${lines.join('\n')}\n`),
});

const atWork = (work: (page: Page, hand: Hand) => Promise<void>) =>
  world.inPage({ locale: 'en-US', viewport: wide }, async (page) => {
    await signInAs(page, world.url, person.session);
    await page.goto(`${world.url}/app/${project.id}`);
    await work(page, handOn(page));
  });
const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
const visit = async (hand: Hand, page: Page, name: string) => {
  await hand.press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }));
  await title(page, name);
};
const mail = (page: Page) => page.frameLocator('iframe[title="Email preview"]');
const goOn = (hand: Hand, page: Page, name: string) =>
  hand.press(page.getByRole('link', { name: `Continue to ${name}` }));
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
async function previewImport(
  page: Page,
  hand: Hand,
  file: ChosenFile,
  map: () => Promise<void> = async () => undefined,
): Promise<void> {
  await visit(hand, page, 'Contacts');
  await hand.press(page.getByRole('button', { name: 'Import', exact: true }).first());
  await hand.attach('File', file);
  await page.getByRole('region', { name: 'File columns' }).waitFor();
  await map();
  await hand.press('Preview changes');
}

async function runImport(page: Page, hand: Hand): Promise<void> {
  const dialog = page.getByRole('dialog');
  await hand.press(dialog.getByRole('button', { name: /^Import [\d,]+ rows$/ }));
  await dialog.getByText('Created', { exact: true }).waitFor();
}

describe.each([
  ['mouse', mouse],
  ['keyboard alone', keyboard],
] as const)('by %s', (_, hand) => {
  beforeAll(async () => {
    handOn = hand;
    world = await dashboardWorld();
    project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
    person = await aPerson(world.database.db, world.api.config, { signsIn: true });
    await joins(world.database.db, project.id, person, 'OWNER');
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('Monday: a list of visitors is imported into a segment, and those on a plan become one that keeps itself', () =>
    atWork(async (page, hand) => {
      const lines = [
        'Email Address,First Name,Plan,Visits,Notes',
        ...visitors.map((row) => `${row.join(',')},at the fair`),
      ];
      const dialog = page.getByRole('dialog');
      await previewImport(page, hand, csv('visitors.csv', lines), async () => {
        await hand.type(dialog.getByLabel('Name of the field for First Name'), 'firstName');
        await hand.pick(dialog.getByLabel('Type of Visits'), 'Number');
        await hand.pick(dialog.getByLabel('Import Notes as', { exact: true }), 'Skip this column');
      });
      await figure(page, 'New', '6');
      await hand.pick(dialog.getByLabel('Add to segment'), 'New segment');
      await hand.type(dialog.getByLabel('Name of the new segment'), 'Spring fair');
      await runImport(page, hand);
      await figure(page, 'Created', '6');
      await hand.press(dialog.getByRole('link', { name: 'View the segment of these contacts' }));
      await title(page, 'Spring fair');
      await page.getByText('6 total').waitFor();

      await visit(hand, page, 'Segments');
      await hand.press(page.getByRole('link', { name: 'New segment' }).first());
      await hand.type('Name', 'Regulars');
      const filter = page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
      await hand.pick(filter.getByLabel('Filter by'), 'whose field');
      await hand.type(filter.getByLabel('Field name'), 'plan');
      await hand.type(filter.getByLabel('Value', { exact: true }), 'pro');
      const found = page.getByRole('region', { name: 'Matching contacts' });
      await found.getByText('4 contacts').waitFor();
      await hand.press('Add filter');
      const visits = page.getByRole('group', { name: 'Filter 2 of group 1', exact: true });
      await hand.pick(visits.getByLabel('Filter by'), 'whose field');
      await hand.type(visits.getByLabel('Field name'), 'visits');
      await hand.pick(visits.getByLabel('Operator'), 'is at least');
      await hand.type(visits.getByLabel('Value', { exact: true }), '7');
      await found.getByText('3 contacts').waitFor();
      await page.getByText('Contacts whose plan is “pro” and whose visits is at least 7.', { exact: true }).waitFor();
      await hand.press('Save');
      await title(page, 'Regulars');
      await page.getByRole('link', { name: 'wiebke@wattenmeer.test' }).waitFor();
    }));

  test('Tuesday: a template begins with a layout, wears the brand, and says what it lacks', () =>
    atWork(async (page, hand) => {
      await visit(hand, page, 'Templates');
      await hand.press(page.getByRole('link', { name: 'New template' }).first());
      await hand.type('Name', 'Heron count');
      await hand.type('From', project.sender);
      await hand.press('Layouts');
      await hand.press(page.getByRole('dialog').getByRole('button', { name: /^Announcement/ }));
      const checks = page.getByRole('region', { name: 'Checks' });
      await checks.getByText('has no address').waitFor();
      await hand.selectBlock(page.getByRole('textbox', { name: 'Body' }), 'Try it now');
      const settings = page.getByRole('region', { name: 'Button settings' });
      await hand.type(settings.getByLabel('Label'), 'Count with us');
      await hand.type(settings.getByLabel('Link'), 'https://wattenmeer.test/count');
      await checks.getByText('has no address').waitFor({ state: 'detached' });
      await hand.type('Subject', 'The herons are back');
      await hand.press('Brand kit');
      await hand.type('Buttons and links', '#0b5fab');
      await hand.type('Postal address', 'Am Deich 1, 26721 Emden');
      await hand.press('Save brand kit');
      await mail(page).getByText('Am Deich 1, 26721 Emden').waitFor();
      await mail(page).getByRole('link', { name: 'Count with us' }).waitFor();
      await hand.press('Save');
      await page.getByText('Template saved').waitFor();

      await hand.press('Send test email');
      const test = page.getByRole('dialog', { name: 'Send a test of Heron count' });
      await hand.type(test.getByLabel('Fill in for'), 'wiebke@wattenmeer.test');
      await hand.press(test.getByRole('button', { name: 'Send test', exact: true }));
      await expect.poll(async () => (await lettersTo(person.email)).length).toBe(1);
      const [sent] = await lettersTo(person.email);
      expect(sent?.subject).toBe('[TEST] The herons are back');
      expect(sent?.html).toContain('Am Deich 1, 26721 Emden');
    }));

  test('Wednesday: a campaign takes the template, is counted, checked, sent to a canary and let go', () =>
    atWork(async (page, hand) => {
      await visit(hand, page, 'Campaigns');
      await hand.press(page.getByRole('link', { name: 'New campaign' }).first());
      await hand.type('Name', 'Heron count in March');
      await hand.press('Layouts');
      const own = page.getByRole('list', { name: 'Your templates' }).getByRole('button', { name: /^Heron count/ });
      await own.waitFor();
      expect(await problemsInBothThemes(page)).toEqual([]);
      await hand.press(own);
      // What the form did not say yet comes from the template as well.
      await mail(page).getByRole('link', { name: 'Count with us' }).waitFor();
      await expect.poll(() => page.getByLabel('From domain').inputValue()).toBe(project.domain);
      await expect.poll(() => page.getByLabel('Subject', { exact: true }).inputValue()).toBe('The herons are back');
      await goOn(hand, page, 'audience');
      // The draft has a page of its own once it is saved.
      await page.getByRole('button', { name: 'More actions' }).waitFor();
      await page.getByText('6 contacts right now').waitFor();
      await hand.pick('Send to', 'Contacts in a segment');
      await hand.pick('Segment', 'Spring fair (6)');
      await page.getByText('6 contacts right now').waitFor();
      await goOn(hand, page, 'send');
      await page.getByText('Campaign saved').first().waitFor();
      await page.getByText('No problems found.').waitFor();
      await figure(page, 'Would be sent', '6');
      await page
        .getByRole('region', { name: 'Sample messages' })
        .getByText(/^1 of /)
        .waitFor();

      await hand.check(page.getByLabel('Send to a few contacts first'));
      await hand.type(page.getByLabel('First recipients'), '2');
      await hand.press('Send to 6 contacts');
      await page.getByText('2 of 2 recipients sent').waitFor();
      await hand.press('Continue to everyone else');
      await page.getByText('Balanced: every recipient is accounted for.').waitFor();
      for (const [email] of visitors) expect(await lettersTo(email), email).toHaveLength(1);
    }));

  test('Thursday: opens and clicks are read on the campaign, and those who did not open it get a second one', async () => {
    for (const [email] of visitors.slice(0, 4)) await asRecipient(email, 'The herons are back', 'open');
    await asRecipient('imke@wattenmeer.test', 'The herons are back', 'click');
    await asRecipient('wiebke@wattenmeer.test', 'The herons are back', 'click');
    await atWork(async (page, hand) => {
      await visit(hand, page, 'Campaigns');
      await hand.press(page.getByRole('link', { name: 'Heron count in March', exact: true }));
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

      await hand.press('Follow up');
      const dialog = page.getByRole('dialog', { name: 'Follow up Heron count in March?' });
      await expect.poll(() => dialog.getByLabel('Send to', { exact: true }).inputValue()).toBe('not_opened');
      await dialog.getByText('2 contacts right now.').waitFor();
      await hand.press(dialog.getByRole('button', { name: 'Create draft' }));
      await page.getByRole('navigation', { name: 'Steps' }).waitFor();
      await hand.type('Subject', 'Have you seen a heron?');
      await goOn(hand, page, 'audience');
      await page.getByText('Recipients who neither opened nor clicked a link in').waitFor();
      await page.getByText('2 contacts right now').waitFor();
      expect(await problemsInBothThemes(page)).toEqual([]);
      await goOn(hand, page, 'send');
      await page.getByText('2 contacts right now').waitFor();
      await hand.press('Send to 2 contacts');
      await page.getByText('Balanced: every recipient is accounted for.').waitFor();
      const earlier = page.getByRole('region', { name: 'Earlier campaigns' });
      await earlier.getByRole('row', { name: /^Heron count in March 100% 66\.7% 33\.3%/ }).waitFor();
      await earlier.getByRole('row', { name: /^Median of the last 1 / }).waitFor();
      for (const [email] of visitors.slice(4)) expect(await lettersTo(email), email).toHaveLength(2);
      for (const [email] of visitors.slice(0, 4)) expect(await lettersTo(email), email).toHaveLength(1);
    });
  });

  test('Friday morning: an import of the wrong file is undone, and everybody is as before', () =>
    atWork(async (page, hand) => {
      const lines = [
        'email,plan',
        'imke@wattenmeer.test,free',
        'wiebke@wattenmeer.test,free',
        'nobody@wattenmeer.test,free',
      ];
      await previewImport(page, hand, csv('wrong-list.csv', lines));
      await figure(page, 'Updated', '2');
      await figure(page, 'New', '1');
      await runImport(page, hand);
      await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Close' }));
      await page.getByText('7 contacts', { exact: true }).waitFor();
      await hand.press('More about contacts');
      await hand.press(page.getByRole('menuitem', { name: 'Imports and bulk changes', exact: true }));
      const jobs = page.getByRole('region', { name: 'Imports and bulk changes' });
      await hand.press('Undo wrong-list.csv');
      const dialog = page.getByRole('alertdialog', { name: 'Undo this import?' });
      await dialog.getByText('2 contacts restored').waitFor();
      await dialog.getByText('1 contact deleted').waitFor();
      await hand.press(dialog.getByRole('button', { name: 'Undo import', exact: true }));
      await jobs.getByText('Undone', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Undo Undo', exact: true }).waitFor();
      await visit(hand, page, 'Contacts');
      await page.getByText('6 contacts', { exact: true }).waitFor();
      await hand.press(page.getByRole('link', { name: 'imke@wattenmeer.test' }));
      await title(page, 'Imke');
      await page
        .getByRole('definition')
        .filter({ hasText: /^pro$/ })
        .or(page.getByText('pro', { exact: true }))
        .first()
        .waitFor();
    }));

  test('Friday noon: a workflow is designed, tested with a contact, enabled, and an event sends somebody through it', () =>
    atWork(async (page, hand) => {
      await visit(hand, page, 'Workflows');
      await hand.press(page.getByRole('button', { name: 'New workflow' }).first());
      await hand.type('Name', 'After a count');
      await hand.type('Trigger event', 'count.finished');
      await hand.press('Create');
      await title(page, 'After a count');
      await hand.press(stepOn(page, 'Trigger'));
      await add(page, 'update contact', 'Mark as counter', hand);
      await hand.press('Add field');
      await hand.type('Field 1', 'stage');
      await hand.type('Value of field 1', 'counter');
      await add(page, 'condition', 'Comes often', hand);
      await hand.type('Field', 'data.plan');
      await hand.type('Value', 'pro');
      await add(page, 'send email', 'Thank them', hand);
      await hand.pick('Template', 'Heron count');

      await hand.press('Test');
      const dialog = page.getByRole('dialog', { name: 'Test with a contact' });
      await hand.type(dialog.getByRole('searchbox'), 'okke');
      await hand.check(dialog.getByRole('radio', { name: 'okke@wattenmeer.test' }));
      await hand.press(dialog.getByRole('button', { name: 'Run test' }));
      const result = dialog.getByRole('region', { name: 'Test result' });
      await result.getByText('Thank them').waitFor();
      await hand.press(dialog.getByRole('button', { name: 'Show on canvas' }));
      await dialog.waitFor({ state: 'detached' });
      await page.getByText(/^\d\. Would run: yes$/).waitFor();
      await expect.poll(() => page.locator('.react-flow__edge.taken').count()).toBe(3);
      expect(await lettersTo('okke@wattenmeer.test')).toHaveLength(2);

      await hand.press('Enable After a count');
      await hand.press('Publish and enable');
      await page.getByRole('button', { name: 'Disable After a count' }).waitFor();
      const event = { email: 'okke@wattenmeer.test', event: 'count.finished', data: { birds: 41 } };
      expect((await world.api.call(project.publicKey, 'POST', '/v1/track', event)).status).toBe(200);

      await hand.press(page.getByRole('link', { name: 'Runs', exact: true }));
      await hand.press(page.getByRole('link', { name: 'okke@wattenmeer.test' }));
      await title(page, 'Okke');
      await stepOn(page, 'Comes often').getByText('Completed: yes').waitFor();
      await stepOn(page, 'Thank them').getByText('Completed').waitFor();
      await expect.poll(async () => (await lettersTo('okke@wattenmeer.test')).length).toBe(3);
      await hand.press(page.getByRole('link', { name: 'After a count', exact: true }));
      await page.getByText('yes · 1 · 100%', { exact: true }).waitFor();
    }));

  test('Friday afternoon: the workflow is edited while somebody waits in it, who moves to the new version', () =>
    atWork(async (page, hand) => {
      await visit(hand, page, 'Workflows');
      await hand.press(page.getByRole('link', { name: 'After a count', exact: true }));
      await title(page, 'After a count');
      await hand.press(stepOn(page, 'Thank them'));
      await add(page, 'delay', 'Wait a month', hand);
      await hand.type('Duration', '30');
      await hand.press('Review and publish');
      await hand.press('Publish');
      await page.getByText('No changes', { exact: true }).waitFor();
      const event = { email: 'imke@wattenmeer.test', event: 'count.finished', data: { birds: 12 } };
      expect((await world.api.call(project.publicKey, 'POST', '/v1/track', event)).status).toBe(200);
      await expect.poll(async () => (await lettersTo('imke@wattenmeer.test')).length).toBe(2);

      await hand.press(page.getByRole('link', { name: 'Runs', exact: true }));
      const run = page.getByRole('row', { name: /imke@wattenmeer\.test/ });
      await run.getByText('Waiting', { exact: true }).waitFor();
      await hand.press(page.getByRole('link', { name: 'After a count', exact: true }));
      await stepOn(page, 'Wait a month').getByText('1 here, 1 waiting').waitFor();
      await hand.press(stepOn(page, 'Wait a month'));
      await hand.type('Duration', '31');
      await add(page, 'update contact', 'Mark as thanked', hand);
      await hand.press('Add field');
      await hand.type('Field 1', 'thanked');
      await hand.type('Value of field 1', 'yes');
      await hand.press('Review and publish');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('1 contact is in an older version').waitFor();
      await hand.pick('Action (Wait a month)', 'Move to another step now');
      await hand.pick('Target step (Wait a month)', 'Mark as thanked');
      await hand.press('Publish and migrate');
      await dialog.getByText('completed', { exact: true }).waitFor();
      await hand.press(dialog.getByRole('button', { name: 'Close', exact: true }));
      await page.getByText('No changes', { exact: true }).waitFor();
      await hand.press(page.getByRole('link', { name: 'Runs', exact: true }));
      await run.getByText('Completed', { exact: true }).waitFor();
    }));

  test('Friday evening: a recipient unsubscribes by their own page, and the contact says so', async () => {
    const [letter] = await lettersTo('okke@wattenmeer.test');
    const link = /href="([^"]*\/unsubscribe\/[^"]*)"/.exec(letter?.html ?? '')?.[1]?.replaceAll('&amp;', '&') ?? '';
    await world.inPage({}, async (page) => {
      await page.goto(link);
      await page.getByText('Am Deich 1, 26721 Emden').waitFor();
      await handOn(page).press('Unsubscribe');
      await title(page, 'You have been unsubscribed');
    });
    await atWork(async (page, hand) => {
      await visit(hand, page, 'Contacts');
      await hand.press(page.getByRole('link', { name: 'okke@wattenmeer.test' }));
      await title(page, 'Okke');
      await page.getByText('Not subscribed', { exact: true }).waitFor();
      await hand.press(page.getByRole('tab', { name: 'Subscription', exact: true }));
      await page.getByRole('region', { name: 'Subscription changes' }).getByText('Recipient').waitFor();
      await hand.press(page.getByRole('tab', { name: 'Workflows', exact: true }));
      await page
        .getByRole('region', { name: 'Workflows of this contact' })
        .getByRole('link', { name: 'After a count' })
        .waitFor();
      await visit(hand, page, 'Campaigns');
      await hand.press(page.getByRole('link', { name: 'New campaign' }).first());
      await hand.press(page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: /^Audience/ }));
      await page.getByText('5 contacts right now').waitFor();
    });
  });
});
