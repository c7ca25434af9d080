import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { desktop, phone, problemsInBothThemes, untilShown } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';
import { allOf, dataIs, type SegmentHand, segmentHand } from '../support/segments.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;
let own: SegmentHand;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
  own = segmentHand(world.api, world.database, project);
  for (const name of ['imke', 'ole', 'wiebke'])
    await own.contact(`${name}@wattenmeer.test`, { plan: name === 'ole' ? 'free' : 'pro' });
  await own.segment({ name: 'Supporters', condition: allOf(dataIs('plan', 'pro')) });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const inDashboard = (viewport: typeof desktop, work: (page: Page) => Promise<void>) =>
  world.inPage({ viewport }, async (page) => {
    await signInAs(page, world.url, person.session);
    await work(page);
  });
const open = (page: Page, place: string) => page.goto(`${world.url}/app/${project.id}/${place}`);
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name });
const steps = (page: Page) => page.getByRole('navigation', { name: 'Steps' });
const campaigns = async () => (await own.call('GET', '/campaigns')).body.data;
const letter = () => ({
  name: 'Heron count',
  subject: 'The herons are back',
  body: '<p>Come and count</p>',
  from: project.sender,
  audienceType: 'ALL',
});

test('a campaign is written in steps, which say what is missing, save as one goes and can be linked to', () =>
  inDashboard(desktop, async (page) => {
    await open(page, 'campaigns/new');
    await steps(page).getByRole('link', { name: 'Content 2 things missing' }).waitFor();
    await steps(page).getByRole('link', { name: 'Send' }).click();
    await page.getByText('Enter a subject.').waitFor();
    const send = page.getByRole('button', { name: /^Send to / });
    await expect.poll(() => send.getAttribute('aria-disabled')).toBe('true');
    await link(page, 'Go to content').first().click();

    await page.getByLabel('Name', { exact: true }).fill('Heron count in steps');
    await page.getByLabel('From', { exact: true }).fill(project.sender);
    await page.getByLabel('Subject').fill('The herons are back');
    await link(page, 'Continue to audience').click();
    await page.getByText('3 contacts right now').waitFor();
    await page.waitForURL(/\/campaigns\/[0-9a-f-]{36}\?step=audience$/);
    expect(await campaigns()).toMatchObject([{ name: 'Heron count in steps', audienceType: 'ALL' }]);

    // What is chosen is counted before it is saved.
    await page.getByLabel('Send to', { exact: true }).selectOption('SEGMENT');
    await steps(page).getByRole('link', { name: 'Audience 1 thing missing' }).waitFor();
    await page.getByLabel('Segment', { exact: true }).selectOption({ label: 'Supporters (2)' });
    await page.getByText('2 contacts right now').waitFor();
    expect((await campaigns())[0].audienceType).toBe('ALL');
    await link(page, 'Continue to send').click();
    await expect.poll(async () => (await campaigns())[0].audienceType).toBe('SEGMENT');
    await page.getByText('Segment Supporters').waitFor();

    await page.reload();
    await expect.poll(() => steps(page).getByRole('link', { name: 'Send' }).getAttribute('aria-current')).toBe('step');
    await page.goBack();
    await page.getByLabel('Segment', { exact: true }).waitFor();

    await steps(page).getByRole('link', { name: 'Send' }).click();
    await page.getByText('2 contacts right now').waitFor();
    // Every message has been checked before the button can be pressed.
    await page.frameLocator('iframe[title^="Message to "]').locator('body').waitFor();
    await page.getByRole('button', { name: 'Send to 2 contacts' }).waitFor();
    await page.getByLabel('At a time').check();
    await page.getByLabel('Date and time').fill(`${new Date().getFullYear() + 1}-07-01T09:00`);
    await page.getByLabel('Time zone').selectOption('America/New_York');
    await page.getByText(/^Jul 1, .* in /).waitFor();
    await page.getByText(/^This check is kept until /).waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Schedule for 2 contacts' }).click();
    await page.getByText('Scheduled: sends').waitFor();
    const scheduledFor = `${new Date().getFullYear() + 1}-07-01T13:00:00.000Z`;
    expect((await campaigns())[0]).toMatchObject({ status: 'SCHEDULED', scheduledFor });
  }));

test.each([
  { place: 'campaigns', answered: 'Campaign saved' },
  { place: 'templates', answered: 'Template saved' },
])('what is typed while a first save is under way stays, and is saved with the next ($place)', ({ place, answered }) =>
  inDashboard(desktop, async (page) => {
    await open(page, `${place}/new`);
    const saving = Promise.withResolvers<void>();
    await page.route(
      (url) => url.pathname.endsWith(`/${place}`),
      async (route) => {
        if (route.request().method() === 'POST') await saving.promise;
        await route.fallback();
      },
    );
    await page.getByLabel('Name', { exact: true }).fill('Typed on');
    await page.getByLabel('From', { exact: true }).fill(project.sender);
    await page.getByLabel('Subject', { exact: true }).fill('As it was');
    await page.getByRole('textbox', { name: 'Body' }).click();
    await page.keyboard.type('Before');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    // Keys that move the cursor do nothing until the editor has loaded and has taken over the letters typed before.
    await page.locator('.written').getByText('Before').waitFor();
    await page.getByRole('textbox', { name: 'Body' }).click();
    await page.locator('.written:focus-within, .written:focus').waitFor();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' and after');
    await page.getByLabel('Subject', { exact: true }).fill('As it is');
    saving.resolve();
    await page.waitForURL(new RegExp(`/${place}/[0-9a-f-]{36}`));
    await page.getByRole('button', { name: 'More actions' }).waitFor();
    await expect.poll(() => page.getByLabel('Subject', { exact: true }).inputValue()).toBe('As it is');
    await page.getByRole('textbox', { name: 'Body' }).getByText('Before and after').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const stored = async () => {
      const { body } = await own.call('GET', `/${place}/${id}`);
      return body.data ?? body;
    };
    expect((await stored()).subject).toBe('As it was');
    await page.getByText(answered).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(stored).toMatchObject({ subject: 'As it is', body: expect.stringContaining('Before and after') });

    // Another one begins empty.
    await page
      .getByRole('link', { name: place === 'campaigns' ? 'Campaigns' : 'Templates', exact: true })
      .first()
      .click();
    await page.getByRole('link', { name: /^New / }).first().click();
    await expect.poll(() => page.getByLabel('Subject', { exact: true }).inputValue()).toBe('');
  }),
);

test('by keyboard alone: steps are links, and the text of a step is kept while others are looked at', async () => {
  const { id } = (await own.call('POST', '/campaigns', letter())).body.data;
  await inDashboard(desktop, async (page) => {
    await open(page, `campaigns/${id}`);
    await page.getByLabel('Subject').fill('');
    await steps(page).getByRole('link', { name: 'Content 1 thing missing' }).waitFor();
    await link(page, 'Continue to audience').focus();
    await page.keyboard.press('Enter');
    await page.getByText('3 contacts right now').waitFor();
    await steps(page).getByRole('link', { name: 'Content' }).focus();
    await page.keyboard.press('Enter');
    // What could only be refused is not saved, and nothing is lost.
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('');
    await page.getByLabel('Subject').fill('The herons have left');
    await steps(page).getByRole('link', { name: 'Send' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Campaign saved').waitFor();
    expect((await own.call('GET', `/campaigns/${id}`)).body.data.subject).toBe('The herons have left');
  });
});

test.each([desktop, phone])('every step is accessible at $width pixels, in light and dark', async (viewport) => {
  const { id } = (await own.call('POST', '/campaigns', letter())).body.data;
  await inDashboard(viewport, async (page) => {
    for (const step of ['content', 'audience', 'send']) {
      await open(page, `campaigns/${id}?step=${step}`);
      await steps(page).waitFor();
      await untilShown(page);
      expect(await problemsInBothThemes(page), step).toEqual([]);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(wide, `${step} scrolls sideways`).toBeLessThanOrEqual(viewport.width);
      if (process.env.SHOTS)
        await page.screenshot({ path: `${process.env.SHOTS}/${step}-${viewport.width}.png`, fullPage: true });
    }
  });
});

test.each(['campaigns', 'templates'])(
  'the composer has the whole window: the text at once, its settings and preview beside it (%s)',
  async (place) => {
    const content = [{ type: 'button', attrs: { label: 'Count with us', href: 'https://wattenmeer.test' } }];
    const audience = place === 'campaigns' ? { audienceType: 'ALL' } : {};
    const { name, subject, from } = letter();
    const { body } = await own.call('POST', `/${place}`, {
      name,
      subject,
      from,
      ...audience,
      document: { version: 1, content },
    });
    const { id } = body.data ?? body;
    await inDashboard({ width: 1280, height: 720 }, async (page) => {
      await open(page, `${place}/${id}`);
      const text = page.getByRole('textbox', { name: 'Body' });
      const settings = page.getByRole('region', { name: 'Button settings' });
      const preview = page.getByRole('region', { name: 'Preview' });
      const box = async (part: Locator) => {
        const { x, y, width, height } = (await part.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
        return { left: x, top: y, right: x + width, bottom: y + height };
      };
      const before = await box(text);
      expect(before.top).toBeLessThan(300);
      expect(before.right - before.left).toBeGreaterThanOrEqual(600);
      expect(before.right - before.left).toBeLessThanOrEqual(640);
      await text.getByText('Count with us').click();
      await settings.waitFor();
      expect(await box(text), 'the text stays where it is').toEqual(before);
      expect((await box(settings)).left).toBeGreaterThanOrEqual(before.right);
      expect((await box(settings)).bottom).toBeLessThanOrEqual(720);

      expect(await preview.count()).toBe(0);
      await page.keyboard.press('ControlOrMeta+p');
      await page.frameLocator('iframe[title="Email preview"]').getByText('Count with us').waitFor();
      expect((await box(preview)).left).toBeGreaterThanOrEqual((await box(text)).right);
      expect((await box(settings)).bottom, 'the settings stay').toBeLessThanOrEqual((await box(preview)).top);
      expect(await problemsInBothThemes(page)).toEqual([]);
      await page.keyboard.press('ControlOrMeta+p');
      await preview.waitFor({ state: 'detached' });
      expect(await box(text)).toEqual(before);
      expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(720);
    });
  },
);
