import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSend } from '../../src/campaigns/state.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { desktop, phone, problemsInBothThemes, untilShown } from '../support/browser.ts';
import { aCampaign } from '../support/campaign-fixtures.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;
const ids: string[] = [];

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
  for (const [n, name] of ['Spring count', 'Summer count', 'Autumn count'].entries())
    ids.push(await sentCampaign(name, n));
  for (const [email, did] of [
    ['ida.lund@example.com', { opened_at: '2026-11-01T12:10:00Z', clicked_at: '2026-11-01T12:20:00Z' }],
    ['per.holm@example.com', { opened_at: null, clicked_at: null }],
  ] as const) {
    await world.api.call(project.secretKey, 'POST', '/contacts', { email });
    await world.database.db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status, sent_at, delivered_at, opened_at, clicked_at)
       select uuidv7(), project_id, id, email, $3, 'CAMPAIGN', 'MARKETING', $4, 1, 'DELIVERED', '2026-11-01T10:00:00Z', '2026-11-01T10:01:00Z', $5, $6
       from contacts where project_id = $1 and email = $2`,
      [project.id, email, project.sender, ids[2], did.opened_at, did.clicked_at],
    );
  }
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** A campaign that was sent to a thousand, with what became of it; later ones have a higher `place`. */
async function sentCampaign(name: string, place: number): Promise<string> {
  const body = '<p>Come and count. <a href="https://herons.test/count">Sign up</a></p>';
  const draft = { name, subject: name, body, from: project.sender, audienceType: 'ALL' };
  const { id } = (await world.api.call(project.secretKey, 'POST', '/campaigns', draft)).body.data;
  const { db } = world.database;
  await db.count(
    `update campaigns set status = 'SENT', send_seq = 1, sent_at = now() - interval '1 day' + $2 * interval '1 hour', total_recipients = 1000,
       sent_count = 1000, delivered_count = 990, opened_count = $3, clicked_count = 42 where id = $1`,
    [id, place, 400 + 100 * place],
  );
  await db.count(
    `insert into campaign_hours (campaign_id, send_seq, hour, sent, delivered, opened, clicked)
     values ($1, 1, '2026-11-01T10:00:00Z', 1000, 990, 100, 12), ($1, 1, '2026-11-01T12:00:00Z', 0, 0, 300, 30)`,
    [id],
  );
  await db.count(
    `insert into campaign_links (campaign_id, send_seq, link, clicks, recipients) values ($1, 1, 'https://herons.test/count', 50, 42)`,
    [id],
  );
  return id;
}

const inDashboard = (viewport: typeof desktop, work: (page: Page) => Promise<void>) =>
  world.inPage({ viewport }, async (page) => {
    await signInAs(page, world.url, person.session);
    await work(page);
  });
const open = (page: Page, place: string) => page.goto(`${world.url}/app/${project.id}/${place}`);
const row = (page: Page, name: string) => page.getByRole('row', { name });

test('mail that waits for the provider is on hold: on the campaign, in the list, and in one banner on every page', async () => {
  const { db } = world.database;
  const id = await sentCampaign('Winter count', 0);
  await db.count(`update campaigns set status = 'SENDING', sent_count = 100 where id = $1`, [id]);
  await db.count(
    `insert into provider_holds (provider, failures, reason, held_since, held_until)
     values ($1, 3, 'provider answers 503', now(), now() + interval '5 minutes')`,
    [world.api.app.mailer.name],
  );
  try {
    await inDashboard(desktop, async (page) => {
      const banner = page.getByRole('status').filter({ hasText: 'Sending is on hold.' });
      await open(page, 'campaigns');
      await row(page, 'Winter count').getByText('On hold').waitFor();
      await banner.getByText(/is not accepting mail \(provider answers 503\): trying again at \d+:\d\d/).waitFor();
      await page.getByRole('link', { name: 'Winter count' }).click();
      await page.getByRole('heading', { name: 'Winter count' }).waitFor();
      await page.getByText('On hold', { exact: true }).waitFor();
      await open(page, 'contacts');
      await banner.waitFor();
      await expect.poll(() => banner.count()).toBe(1);
    });
  } finally {
    await db.count('delete from provider_holds');
    await db.count(`update campaigns set status = 'CANCELLED', sent_at = null where id = $1`, [id]);
  }
});

test.each([desktop, phone])(
  'a campaign in quiet hours says at $width pixels until when and for how many it is on hold, and why it is for one of them',
  async (viewport) => {
    const own = await aProject(world.database, 'Storchenhof');
    await joins(world.database.db, own.id, person, 'OWNER');
    const { db } = world.database;
    const emails = ['ida.lund@example.com', 'per.holm@example.com', 'osaka@example.com'];
    for (const email of emails)
      await world.api.call(own.secretKey, 'POST', '/contacts', { email, data: { firstName: email.split('.')[0] } });
    const id = await aCampaign(db, own, { name: 'Night count' });
    await openSend(db, id, 3, null);
    await db.count(`update campaign_sends set expanded = true, closed = true where campaign_id = $1`, [id]);
    await db.count(`update campaigns set total_recipients = 3, sent_count = 1 where id = $1`, [id]);
    const until = new Date(Math.ceil(Date.now() / 3_600_000 + 6) * 3_600_000);
    await db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, subject, campaign_id, send_seq, status, sent_at, held_until)
       select uuidv7(), project_id, id, email, $2, 'CAMPAIGN', 'MARKETING', 'Herons', $3, 1,
         case when email = 'osaka@example.com' then 'SENT' else 'PENDING' end, case when email = 'osaka@example.com' then now() end,
         case when email <> 'osaka@example.com' then $4::timestamptz end
       from contacts where project_id = $1`,
      [own.id, own.sender, id, until],
    );
    await db.count(
      `insert into campaign_held_contacts (campaign_id, send_seq, contact_id, due_at)
       select campaign_id, send_seq, contact_id, held_until from emails where campaign_id = $1 and held_until is not null`,
      [id],
    );
    await inDashboard(viewport, async (page) => {
      await page.goto(`${world.url}/app/${own.id}/campaigns`);
      await row(page, 'Night count').getByText('On hold', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Night count' }).click();
      await page.getByRole('heading', { name: 'Night count', level: 1 }).waitFor();
      await page.locator('header').getByText('On hold', { exact: true }).waitFor();
      await page
        .getByText(/^On hold for 2 contacts in quiet hours, the first until .*[AP]M \(in \d+ hours\)\.$/)
        .waitFor();
      const held = page
        .getByRole('region', { name: 'Recipients' })
        .getByRole('listitem')
        .filter({ hasText: 'per.holm' });
      await held.getByText('On hold', { exact: true }).waitFor();
      await held.getByText(/^Quiet hours until .*[AP]M \(in \d+ hours\)$/).waitFor();
      expect(await problemsInBothThemes(page)).toEqual([]);
      await held.getByRole('button', { name: 'Why? per.holm@example.com' }).click();
      const why = page.getByRole('dialog', { name: 'Why?' });
      await why
        .getByText(/^The email is on hold until .*: the contact is in the quiet hours of the project\.$/)
        .first()
        .waitFor();
      expect(await problemsInBothThemes(page)).toEqual([]);
    });
  },
);

/** Whether a canvas is drawn on up to its right edge, where a label would be cut off. */
function edgeOfDrawing(canvas: Element): 'empty' | 'drawn on' | 'free' {
  const { width, height } = canvas as HTMLCanvasElement;
  const pixels = (canvas as HTMLCanvasElement).getContext('2d');
  const isDrawn = (x: number) => pixels?.getImageData(x, 0, width - x, height).data.some((part) => part !== 0);
  if (!isDrawn(0)) return 'empty';
  return isDrawn(width - 3) ? 'drawn on' : 'free';
}

test('a campaign that was sent shows its hours, the clicks on its email, and the campaigns before it', () =>
  inDashboard(desktop, async (page) => {
    await open(page, 'campaigns');
    await row(page, 'Autumn count').getByText('60%').waitFor();
    await page.getByLabel('Search', { exact: true }).fill('autumn');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'Autumn count' }).click();

    const step = (name: string) => page.locator('[data-slot=figure]', { has: page.getByText(name, { exact: true }) });
    await step('Opened').getByText('60%, +15 points vs. median').waitFor();
    await step('Clicked').getByText('4.2%, same as median').waitFor();
    await expect
      .poll(() => page.locator('[data-slot=card] > h2').allTextContents())
      .toEqual(['Results', 'Over time', 'Clicks by link', 'Compared with earlier campaigns', 'Recipients', 'Audit']);

    await page.locator('.chart canvas').waitFor();
    await expect.poll(() => page.locator('.chart canvas').evaluate(edgeOfDrawing)).toBe('free');
    await page.getByText('View by hour as table').focus();
    await page.keyboard.press('Enter');
    const hours = page.getByRole('region', { name: 'Results by hour' });
    await hours.getByRole('cell', { name: '1,000' }).waitFor();
    await hours.getByRole('cell', { name: '300', exact: true }).waitFor();

    await page.frameLocator('iframe[title="Clicks on the email"]').getByText('42 clicks').waitFor();
    await page
      .getByRole('region', { name: 'Clicks by link' })
      .getByRole('row', { name: 'https://herons.test/count 42 50' })
      .waitFor();

    const earlier = page.getByRole('region', { name: 'Earlier campaigns' });
    await earlier.getByRole('row', { name: 'This campaign 99% 60%' }).waitFor();
    await earlier.getByRole('row', { name: 'Median of the last 2 99% 45%' }).waitFor();
    await earlier.getByRole('link', { name: 'Spring count' }).click();
    await page.getByRole('heading', { name: 'Spring count', level: 1 }).waitFor();
    await page.getByText('Earlier campaigns appear here once there are some.').waitFor();
  }));

test('the chart of a campaign’s first hour has an axis of hours', async () => {
  const id = await sentCampaign('Winter geese', 0);
  await world.database.db.count(`delete from campaign_hours where campaign_id = $1 and hour > '2026-11-01T10:00:00Z'`, [
    id,
  ]);
  await world.inPage({ viewport: desktop, timezoneId: 'Europe/Berlin' }, async (page) => {
    await signInAs(page, world.url, person.session);
    // What is drawn on a canvas is in no document.
    await page.addInitScript(() => {
      const { fillText } = CanvasRenderingContext2D.prototype;
      const drawn = new Set<string>();
      Object.assign(globalThis, { drawn });
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        drawn.add(text);
        fillText.call(this, text, ...place);
      };
    });
    await open(page, `campaigns/${id}`);
    await page.locator('.chart canvas').waitFor();
    const labels = () => page.evaluate<string[]>('[...drawn].filter((text) => !/^[\\d,]+$/.test(text))');
    await expect
      .poll(labels)
      .toEqual(
        ['Nov 1, 11 AM', 'Nov 1, 12 PM', 'Nov 1, 1 PM', 'Nov 1, 2 PM'].map((label) =>
          expect.stringMatching(label.replace(' ', '\\s')),
        ),
      );
  });
});

test('a bar of the funnel leads to the recipients whom it counts, by mouse and by keyboard', () =>
  inDashboard(desktop, async (page) => {
    await open(page, `campaigns/${ids[2]}`);
    const list = page.getByRole('region', { name: 'Recipients', exact: true });
    await list.getByText('per.holm@example.com').waitFor();
    await page.getByRole('link', { name: 'Opened', exact: true }).click();
    await page.getByRole('heading', { name: 'Recipients: opened (600)' }).waitFor();
    await list.getByText('ida.lund@example.com').waitFor();
    await expect.poll(() => list.getByText('per.holm@example.com').count()).toBe(0);
    await page.getByLabel('Activity', { exact: true }).selectOption('Did not open or click');
    await list.getByText('per.holm@example.com').waitFor();
    await expect.poll(() => list.getByText('ida.lund@example.com').count()).toBe(0);
    await page.getByRole('region', { name: 'Clicks by link' }).getByRole('link', { name: '42' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('No recipients match this filter').waitFor();
    await page.getByRole('button', { name: 'Show clicks on any link' }).press('Enter');
    await list.getByText('ida.lund@example.com').waitFor();
    await page.getByRole('heading', { name: 'Recipients: clicked (42)' }).waitFor();
  }));

test.each([desktop, phone])('results are accessible at $width pixels, in light and dark', (viewport) =>
  inDashboard(viewport, async (page) => {
    await open(page, `campaigns/${ids[2]}`);
    await page.frameLocator('iframe[title="Clicks on the email"]').getByText('42 clicks').waitFor();
    await page.locator('.chart canvas').waitFor();
    await page.getByText('View by hour as table').click();
    await untilShown(page);
    expect(await problemsInBothThemes(page)).toEqual([]);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(wide, 'scrolls sideways').toBeLessThanOrEqual(viewport.width);
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/results-${viewport.width}.png`, fullPage: true });
  }),
);
