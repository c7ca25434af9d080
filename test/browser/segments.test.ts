import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { audience } from '../support/audience.ts';
import { automationHand } from '../support/automations.ts';
import { accessibilityProblems, phone, problemsInBothThemes, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { allOf, dataIs, type SegmentHand, segmentHand } from '../support/segments.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;
let own: SegmentHand;
const people = audience().slice(0, 24);

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  own = segmentHand(api, database, project);
  for (const [index, { email, data }] of people.entries())
    await own.contact(email, { ...data, plan: index % 2 === 0 ? 'pro' : 'free', score: index });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const inDashboard = (work: (page: Page) => Promise<void>) => asOwner(browser, { api, database, project }, work);
const open = (page: Page, place: string) => page.goto(`${api.url}/app/${project.id}/${place}`);
const filterOf = (page: Page, name: string): Locator => page.getByRole('group', { name, exact: true });
const choose = (filter: Locator, label: string, option: string) =>
  filter.getByLabel(label, { exact: true }).selectOption(option);
const type = (filter: Locator, label: string, text: string) => filter.getByLabel(label, { exact: true }).fill(text);

test('a segment built by clicks has the same tree, count and people as one made by the API', async () => {
  const vip = await own.segment({ name: 'Beta testers', type: 'STATIC' });
  const condition = {
    logic: 'AND',
    groups: [
      {
        filters: [
          { field: 'subscribed', operator: 'equals', value: true },
          { field: 'data.score', operator: 'greaterThanOrEqual', value: 4 },
        ],
        conditions: {
          logic: 'OR',
          groups: [
            { filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] },
            {
              filters: [
                { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'hours' },
                { field: 'email.clicked', operator: 'notTriggered' },
              ],
            },
          ],
        },
      },
      {
        filters: [
          { field: `segment.${vip.id}`, operator: 'notMemberOfSegment' },
          { field: 'createdAt', operator: 'greaterThan', value: '2020-02-29' },
          { field: 'email', operator: 'notContains', value: '@nobody.example' },
        ],
      },
    ],
  };
  const byApi = await own.segment({ name: 'Made by the API', condition });
  const sentence =
    'Contacts who are subscribed, whose score is at least 4, (whose plan is “pro” or (who triggered “purchase” within the last 30 hours and who never clicked a link)), who are not in the segment “Beta testers”, whose creation date is after Feb 29, 2020, and whose email address does not contain “@nobody.example”.';
  await inDashboard(async (page) => {
    await open(page, 'segments');
    await page.getByRole('link', { name: 'New segment' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Built by clicks');

    const subscribed = filterOf(page, 'Filter 1 of group 1');
    await choose(subscribed, 'Filter by', 'subscribed');
    await page.getByRole('button', { name: 'Add filter' }).click();
    const score = filterOf(page, 'Filter 2 of group 1');
    await choose(score, 'Filter by', 'data');
    await type(score, 'Field name', 'score');
    await choose(score, 'Operator', 'greaterThanOrEqual');
    await type(score, 'Value', '4');

    await page.getByRole('button', { name: 'Add nested conditions' }).click();
    const plan = filterOf(page, 'Filter 1 of group 1, level 2');
    await choose(plan, 'Filter by', 'data');
    await type(plan, 'Field name', 'plan');
    await type(plan, 'Value', 'pro');
    await page.getByRole('button', { name: 'Add group' }).first().click();
    const bought = filterOf(page, 'Filter 1 of group 2, level 2');
    await choose(bought, 'Filter by', 'event');
    await type(bought, 'Event name', 'purchase');
    await choose(bought, 'Operator', 'triggeredWithin');
    await type(bought, 'Amount', '30');
    await choose(bought, 'Unit', 'hours');
    await page
      .getByRole('group', { name: 'Group 2, level 2', exact: true })
      .getByRole('button', { name: 'Add filter' })
      .click();
    const clicked = filterOf(page, 'Filter 2 of group 2, level 2');
    await choose(clicked, 'Filter by', 'activity');
    await choose(clicked, 'Email activity', 'clicked');
    await choose(clicked, 'Operator', 'notTriggered');

    await page.getByRole('button', { name: 'Add group' }).last().click();
    const last = page.getByRole('group', { name: 'Group 2', exact: true });
    await choose(filterOf(page, 'Filter 1 of group 2'), 'Filter by', 'segment');
    await choose(filterOf(page, 'Filter 1 of group 2'), 'Segment', vip.id);
    await choose(filterOf(page, 'Filter 1 of group 2'), 'Operator', 'notMemberOfSegment');
    await last.getByRole('button', { name: 'Add filter' }).click();
    const created = filterOf(page, 'Filter 2 of group 2');
    await choose(created, 'Filter by', 'createdAt');
    await choose(created, 'Operator', 'greaterThan');
    await type(created, 'Value', '2020-02-29');
    await last.getByRole('button', { name: 'Add filter' }).click();
    const address = filterOf(page, 'Filter 3 of group 2');
    await choose(address, 'Operator', 'notContains');
    await type(address, 'Value', '@nobody.example');

    const found = page.getByRole('region', { name: 'Matching contacts' });
    await found.getByText(`${byApi.memberCount} contacts`).waitFor();
    const listed = await own.call('GET', `/segments/${byApi.id}/contacts?pageSize=10`);
    await expect
      .poll(() => found.getByRole('listitem').allTextContents())
      .toEqual(listed.body.data.map(({ email }: { email: string }) => email));
    // What each group matches by itself, as the API counts it.
    const groups = [condition.groups[0], ...(condition.groups[0]?.conditions?.groups ?? []), condition.groups[1]];
    for (const [index, name] of ['Group 1', 'Group 1, level 2', 'Group 2, level 2', 'Group 2'].entries()) {
      const alone = { condition: { logic: 'AND', groups: [groups[index]] }, limit: 0 };
      const { total, contacts } = (await own.call('POST', '/segments/preview', alone)).body;
      expect(contacts).toEqual([]);
      const counted = filterOf(page, name).locator('> [data-slot="group-count"]');
      await counted.filter({ hasText: new RegExp(`^${total} contacts? match(es)? this group$`) }).waitFor();
    }
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByText(sentence, { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Built by clicks', level: 1 }).waitFor();
    await page.getByText(sentence, { exact: true }).waitFor();
    await page.getByText(people[4]?.email ?? '').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  const all = (await own.call('GET', '/segments')).body;
  const built = all.find(({ name }: { name: string }) => name === 'Built by clicks');
  expect(built.condition).toEqual(byApi.condition);
  expect(built.memberCount).toBe(byApi.memberCount);
  expect(built.memberCount).toBeGreaterThan(0);
});

test('a segment is built by keyboard alone, and its counts follow what is typed', async () => {
  await inDashboard(async (page) => {
    await open(page, 'segments/new');
    const { keyboard } = page;
    await page.getByLabel('Name', { exact: true }).focus();
    await keyboard.type('Built by keys');
    const first = filterOf(page, 'Filter 1 of group 1');
    const isFocused = (control: Locator) =>
      expect.poll(() => control.evaluate((node) => node === document.activeElement)).toBe(true);
    const tabTo = async (control: Locator) => {
      for (let presses = 0; presses < 40; presses += 1) {
        if (await control.evaluate((node) => node === document.activeElement)) return;
        await keyboard.press('Tab');
      }
      throw new Error('Tab does not lead there');
    };
    await tabTo(first.getByLabel('Filter by'));
    await keyboard.type('whose f');
    await keyboard.press('Tab');
    await keyboard.type('plan');
    await tabTo(first.getByLabel('Value', { exact: true }));
    await keyboard.type('pro');
    await page.getByText('Contacts whose plan is “pro”.', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Matching contacts' }).getByText('12 contacts').waitFor();
    // One group is the whole condition.
    await expect.poll(() => page.locator('[data-slot="group-count"]').count()).toBe(0);

    // What is added takes the focus.
    await tabTo(page.getByRole('button', { name: 'Add group' }));
    await keyboard.press('Enter');
    const second = filterOf(page, 'Filter 1 of group 2');
    await isFocused(second.getByLabel('Filter by'));
    await keyboard.press('Tab');
    await keyboard.type('contains');
    await keyboard.press('Tab');
    await keyboard.type(people[1]?.email ?? '');
    await page.getByText(`whose email address contains “${people[1]?.email}”.`).waitFor();
    await filterOf(page, 'Group 1').getByText('12 contacts match this group').waitFor();
    await filterOf(page, 'Group 2').getByText('1 contact matches this group').waitFor();
    // A value that is not complete has no count, and the other group keeps its own.
    await keyboard.press('ControlOrMeta+a');
    await keyboard.press('Delete');
    await filterOf(page, 'Group 2').locator('[data-slot="group-count"]').waitFor({ state: 'detached' });
    await filterOf(page, 'Group 1').getByText('12 contacts match this group').waitFor();
    await page.getByText('Contacts whose plan is “pro” and whose email address contains …', { exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    // What is removed leaves the focus to what is there.
    await tabTo(second.getByRole('button', { name: 'Remove filter 1 of group 2' }));
    await keyboard.press('Enter');
    await isFocused(page.getByRole('button', { name: 'Add group' }));
    await page.getByText('Contacts whose plan is “pro”.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save' }).focus();
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Built by keys', level: 1 }).waitFor();
  });
  const all = (await own.call('GET', '/segments')).body;
  const built = all.find(({ name }: { name: string }) => name === 'Built by keys');
  expect(built.condition).toEqual(allOf(dataIs('plan', 'pro')));
});

test('events are narrowed by their data and number, emails by what sent them and the link, all chosen by name', async () => {
  const flows = automationHand(api, project);
  const templateId = await flows.template('Trial ends');
  const { id: workflow } = await flows.automation({ name: 'Onboarding' });
  const stepId = await flows.step(workflow, 'SEND_EMAIL', { templateId }, { name: 'Second reminder' });
  const draft = { name: 'Spring sale', subject: 'Moin', body: '<p>Moin</p>', from: project.sender };
  const campaign = await flows.done('POST', '/campaigns', { ...draft, audienceType: 'ALL' });
  for (const [who, total, times] of [
    [0, 80, 2],
    [1, 20, 3],
    [2, 90, 1],
  ] as const)
    for (let n = 0; n < times; n += 1)
      await flows.done('POST', '/events/track', {
        email: people[who]?.email,
        event: 'ordered',
        data: { order: { total, country: 'DE' } },
      });
  const ordered = {
    field: 'event.ordered',
    operator: 'triggeredWithin',
    value: 30,
    unit: 'days',
    where: [
      { path: 'order.total', operator: 'greaterThan', value: 50 },
      { path: 'order.country', operator: 'exists' },
    ],
    times: { atLeast: 2 },
  };
  const clicked = {
    field: 'email.clicked',
    operator: 'notTriggered',
    of: { campaignId: campaign.data.id },
    link: 'https://example.com/sale',
  };
  const delivered = { field: 'email.delivered', operator: 'notTriggered', of: { templateId } };
  const opened = { field: 'email.opened', operator: 'notTriggered', of: { stepId } };
  const sentence =
    'Contacts who triggered “ordered” where order.total is more than 50 and order.country has a value at least 2 times within the last 30 days, who never clicked a link to “https://example.com/sale” of the campaign “Spring sale”, who never received an email of the template “Trial ends”, and who never opened an email of the workflow step “Second reminder”.';
  const isFocused = (control: Locator) =>
    expect.poll(() => control.evaluate((node) => node === document.activeElement)).toBe(true);
  await inDashboard(async (page) => {
    await open(page, 'segments/new');
    await page.getByLabel('Name', { exact: true }).fill('Narrowed by clicks');
    const first = filterOf(page, 'Filter 1 of group 1');
    await choose(first, 'Filter by', 'event');
    await type(first, 'Event name', 'ordered');
    await choose(first, 'Operator', 'triggeredWithin');
    await type(first, 'Amount', '30');
    const found = page.getByRole('region', { name: 'Matching contacts' });
    await found.getByText('3 contacts').waitFor();
    // By keyboard: what is added takes the focus, and what is removed passes it on.
    await first.getByRole('button', { name: 'Filter by event data' }).focus();
    await page.keyboard.press('Enter');
    const total = first.getByRole('group', { name: 'Data filter 1' });
    await isFocused(total.getByLabel('Data field'));
    await found.getByText('Complete 1 filter').waitFor();
    await page.keyboard.type('order.total');
    await choose(total, 'Data operator', 'greaterThan');
    await choose(total, 'Value type', 'number');
    await type(total, 'Value', '50');
    await found.getByText('2 contacts').waitFor();
    for (const path of ['order.country', 'order.coupon']) {
      await first.getByRole('button', { name: 'Filter by event data' }).click();
      const added = first.getByRole('group', { name: /^Data filter/ }).last();
      await type(added, 'Data field', path);
      await choose(added, 'Data operator', 'exists');
    }
    await first.getByRole('button', { name: 'Remove data filter 3' }).click();
    await isFocused(first.getByLabel('Data field').last());
    await first.getByRole('button', { name: 'Number of times' }).click();
    await isFocused(first.getByLabel('At least'));
    await found.getByText('1 contact', { exact: true }).waitFor();
    await type(first, 'At most', '1');
    await found.getByText('Complete 1 filter').waitFor();
    await type(first, 'At most', '');
    await found.getByText('1 contact', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Add filter' }).click();
    const click = filterOf(page, 'Filter 2 of group 1');
    await choose(click, 'Filter by', 'activity');
    await choose(click, 'Email activity', 'clicked');
    await choose(click, 'Operator', 'notTriggered');
    await choose(click, 'Email', 'campaignId');
    await click.getByLabel('Campaign', { exact: true }).selectOption({ label: 'Spring sale' });
    await type(click, 'Link', 'https://example.com/sale');

    await page.getByRole('button', { name: 'Add filter' }).click();
    const template = filterOf(page, 'Filter 3 of group 1');
    await choose(template, 'Filter by', 'activity');
    await choose(template, 'Operator', 'notTriggered');
    await choose(template, 'Email activity', 'clicked');
    await type(template, 'Link', 'https://example.com/gone');
    await choose(template, 'Email activity', 'delivered');
    await choose(template, 'Email', 'templateId');
    await template.getByLabel('Template', { exact: true }).selectOption({ label: 'Trial ends' });

    await page.getByRole('button', { name: 'Add filter' }).click();
    const step = filterOf(page, 'Filter 4 of group 1');
    await choose(step, 'Filter by', 'activity');
    await choose(step, 'Operator', 'notTriggered');
    await choose(step, 'Email', 'stepId');
    await found.getByText('Complete 1 filter').waitFor();
    await step.getByLabel('Workflow', { exact: true }).selectOption({ label: 'Onboarding' });
    await step.getByLabel('Step', { exact: true }).selectOption({ label: 'Second reminder' });
    await page.getByText(sentence, { exact: true }).waitFor();
    await found.getByText('1 contact', { exact: true }).waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Narrowed by clicks', level: 1 }).waitFor();
    await page.getByText(sentence, { exact: true }).waitFor();
  });
  const all = (await own.call('GET', '/segments')).body;
  const built = all.find(({ name }: { name: string }) => name === 'Narrowed by clicks');
  expect(built.condition).toEqual(allOf(ordered, clicked, delivered, opened));
  expect(built.memberCount).toBe(1);

  // What is stored is shown with its names on a phone, and an edit of one part leaves the others.
  await asOwner(
    browser,
    { api, database, project },
    async (page) => {
      await open(page, `segments/${built.id}/edit`);
      const shown = (filter: Locator, label: string) =>
        filter
          .getByLabel(label, { exact: true })
          .evaluate((node: HTMLSelectElement) => node.selectedOptions[0]?.textContent ?? '');
      await expect.poll(() => shown(filterOf(page, 'Filter 4 of group 1'), 'Step')).toBe('Second reminder');
      await expect.poll(() => shown(filterOf(page, 'Filter 4 of group 1'), 'Workflow')).toBe('Onboarding');
      await expect.poll(() => shown(filterOf(page, 'Filter 3 of group 1'), 'Template')).toBe('Trial ends');
      await expect.poll(() => shown(filterOf(page, 'Filter 2 of group 1'), 'Campaign')).toBe('Spring sale');
      const first = filterOf(page, 'Filter 1 of group 1');
      await type(first.getByRole('group', { name: 'Data filter 1' }), 'Value', '85');
      expect(await problemsInBothThemes(page)).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width);
      await first.getByRole('button', { name: 'Remove number of times' }).click();
      await isFocused(first.getByRole('button', { name: 'Number of times' }));
      await page.getByRole('button', { name: 'Save' }).click();
      await page.waitForURL(`**/segments/${built.id}`);
    },
    { viewport: phone },
  );
  const { times: _, where, ...rest } = ordered;
  expect((await own.call('GET', `/segments/${built.id}`)).body.condition).toEqual(
    allOf({ ...rest, where: [{ ...where[0], value: 85 }, where[1]] }, clicked, delivered, opened),
  );
  // A step that is gone is still named as what it was.
  await flows.done('DELETE', `/workflows/${workflow}`);
  await inDashboard(async (page) => {
    await open(page, `segments/${built.id}/edit`);
    const step = filterOf(page, 'Filter 4 of group 1').getByLabel('Step', { exact: true });
    await step.getByText('a deleted step').waitFor({ state: 'attached' });
  });
});

test('a stored tree is shown and saved again as it was, and a refusal stands at the filter it concerns', async () => {
  const condition = {
    logic: 'OR',
    groups: [
      { filters: [dataIs('tags', ['a', { b: null }])] },
      { filters: [{ field: 'purchase', operator: 'notTriggeredWithin', value: 0.5, unit: 'days' }] },
    ],
  };
  const first = await own.segment({ name: 'First', condition });
  const second = await own.segment({
    name: 'Second',
    condition: allOf({ field: `segment.${first.id}`, operator: 'memberOfSegment' }),
  });
  await inDashboard(async (page) => {
    await open(page, `segments/${first.id}/edit`);
    await page.getByRole('button', { name: 'Add group' }).click();
    const added = filterOf(page, 'Filter 1 of group 3');
    await choose(added, 'Filter by', 'segment');
    await choose(added, 'Segment', second.id);
    await page.getByRole('button', { name: 'Save' }).click();
    await added.getByRole('alert').waitFor();
    expect((await own.call('GET', `/segments/${first.id}`)).body.condition).toEqual(condition);
    await added.getByRole('button', { name: /^Remove/ }).click();
    await page.getByLabel('Name', { exact: true }).fill('First of all');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'First of all', level: 1 }).waitFor();
  });
  expect((await own.call('GET', `/segments/${first.id}`)).body).toMatchObject({ name: 'First of all', condition });
});

test('people are put into a segment by their addresses, taken out again, and the segment is deleted by name', async () => {
  const [anna, ben] = people;
  await inDashboard(async (page) => {
    await open(page, 'segments/new');
    await page.getByLabel('Name', { exact: true }).fill('Speakers');
    await page.getByLabel('Type', { exact: true }).selectOption('STATIC');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Add contacts' }).first().click();
    await page.getByLabel('Email addresses').fill(`${anna?.email}\n${ben?.email}; nobody@kunde.example`);
    await page.getByRole('button', { name: 'Add 3' }).click();
    await page.getByText('2 added to the segment').waitFor();
    await page.getByRole('dialog').getByText('nobody@kunde.example').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: `Remove ${ben?.email}` }).click();
    await page.getByRole('button', { name: 'Remove from segment' }).click();
    // What lies behind a dialog is hidden from everybody who asks for it by its role.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await page.getByText('1 total').waitFor();
    await expect.poll(() => page.getByRole('link', { name: anna?.email ?? '' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Refresh count' }).click();
    await page.getByText('Static segment with 1 contact').waitFor();
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    expect(await accessibilityProblems(page)).toEqual([]);
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = readFileSync(await (await waiting).path(), 'utf8');
    expect(file.split('\r\n').slice(0, 2)).toEqual([
      'email,subscribed,createdAt',
      expect.stringMatching(new RegExp(`^${anna?.email.replaceAll('+', '\\+')},true,`)),
    ]);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('heading', { name: 'Delete Speakers' }).waitFor();
    await page.getByRole('button', { name: 'Delete segment' }).click();
    await page.getByRole('heading', { name: 'Segments', level: 1 }).waitFor();
  });
  const names = (await own.call('GET', '/segments')).body.map(({ name }: { name: string }) => name);
  expect(names).not.toContain('Speakers');
});

test('the contacts of a segment lead with their names', async () => {
  await own.contact('gesa@wattenmeer.test', { first_name: 'Gesa', last_name: 'Lorenzen' });
  await own.contact('nobody.knows@wattenmeer.test');
  const { id } = await own.segment({ name: 'Guides', type: 'STATIC' });
  await own.call('POST', `/segments/${id}/members`, {
    emails: ['gesa@wattenmeer.test', 'nobody.knows@wattenmeer.test'],
  });
  await inDashboard(async (page) => {
    await open(page, `segments/${id}`);
    await page.getByRole('link', { name: 'Gesa Lorenzen gesa@wattenmeer.test', exact: true }).waitFor();
    await page.getByRole('link', { name: 'nobody.knows@wattenmeer.test', exact: true }).waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
  });
});

test('a campaign gets an audience by a condition that is built beside it', async () => {
  const { body } = await own.call('POST', '/campaigns', {
    name: 'Neues vom Watt',
    subject: 'Moin {{firstName}}',
    body: '<p>Die Ringelgänse sind da.</p>',
    from: project.sender,
    audienceType: 'ALL',
  });
  const id = body.data.id;
  await inDashboard(async (page) => {
    await open(page, `campaigns/${id}?step=audience`);
    await page.getByLabel('Send to', { exact: true }).selectOption('FILTERED');
    const plan = filterOf(page, 'Filter 1 of group 1');
    await choose(plan, 'Filter by', 'data');
    await type(plan, 'Field name', 'plan');
    await type(plan, 'Value', 'pro');
    await page.getByRole('region', { name: 'Matching contacts' }).getByText('12 contacts').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Campaign saved').waitFor();
    await page.getByText('12 contacts right now.').waitFor();
    await page.getByText('Contacts whose plan is “pro”.', { exact: true }).waitFor();
    await open(page, `campaigns/${id}?step=send`);
    await page.locator('dd').getByText('Contacts whose plan is “pro”.', { exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  const saved = (await own.call('GET', `/campaigns/${id}`)).body.data;
  expect(saved).toMatchObject({ audienceType: 'FILTERED', audienceCondition: allOf(dataIs('plan', 'pro')) });
});
