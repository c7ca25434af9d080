import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSend } from '../../src/campaigns/state.ts';
import { newId } from '../../src/lib/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { accessibilityProblems } from '../support/browser.ts';
import { aCampaign } from '../support/campaign-fixtures.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aContact, queueMail } from '../support/delivery-fixtures.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let person: Person;
let contact: string;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database);
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'MEMBER');
  contact = await aContact(world.database.db, project.id, 'ada@example.com', { data: { plan: 'free' } });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const open = async (page: Page, place: string) => {
  await signInAs(page, world.url, person.session);
  await page.goto(`${world.url}/app/${project.id}/${place}`);
};

test('the page of an email says why it was not sent, with what was recorded', () =>
  world.inPage({}, async (page) => {
    const id = newId();
    await world.database.db.count(sql`
      insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, subject, status, reason)
      values (${id}, ${project.id}, ${contact}, 'ada@example.com', ${project.sender}, 'TRANSACTIONAL', 'TRANSACTIONAL', 'Hello',
        'FAILED', '{"code": "limit_reached"}')`);
    await open(page, `emails/${id}`);
    await page.getByRole('button', { name: 'Why?', exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Why?' });
    const sentence = 'The email was not sent: Billing limit reached.';
    await dialog.getByRole('alert').getByText(sentence).waitFor();
    const decisions = dialog.getByRole('list', { name: 'Decisions' }).getByRole('listitem');
    await expect.poll(() => decisions.count()).toBe(2);
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('link', { name: 'Link to this explanation' }).click();
    await page.getByRole('heading', { name: 'Why?', level: 1 }).waitFor();
    await page.getByRole('alert').getByText(sentence).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  }));

test('an address in a sentence breaks only where it is longer than the line by itself', () =>
  world.inPage({ viewport: { width: 320, height: 800 } }, async (page) => {
    const id = newId();
    // Somewhere in the text each line ends within an address.
    const fits = Array.from({ length: 9 }, (_, n) => `mary-ann-${n}@my-shop.test`);
    const long = `${'long-'.repeat(12)}address@example.com`;
    const words = `No mailbox: ${fits.map((address, n) => `${'x'.repeat(n)} (${address})`).join(', ')}, nor ${long}.`;
    await world.database.db.count(sql`
      insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, subject, status, reason)
      values (${id}, ${project.id}, ${contact}, 'ada@example.com', ${project.sender}, 'TRANSACTIONAL', 'TRANSACTIONAL', 'Hello',
        'FAILED', ${{ code: 'provider', words }})`);
    await open(page, `emails/${id}`);
    await page.getByRole('button', { name: 'Why?', exact: true }).click();
    const note = page.getByRole('dialog', { name: 'Why?' }).getByRole('alert');
    await note.getByText(long).first().waitFor();
    /** How many lines each word with an address takes. */
    const lines = await note.evaluate(
      (element, wanted) => {
        const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        const found: Record<string, number> = {};
        for (let text = texts.nextNode(); text; text = texts.nextNode())
          for (const address of wanted) {
            const at = text.nodeValue?.indexOf(address) ?? -1;
            if (at === -1) continue;
            const range = document.createRange();
            range.setStart(text, at);
            range.setEnd(text, at + address.length);
            found[address] = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
          }
        return found;
      },
      [...fits, long],
    );
    expect(fits.map((address) => lines[address])).toEqual(fits.map(() => 1));
    expect(lines[long]).toBeGreaterThan(1);
    const sticksOut =
      '[...document.querySelectorAll("[role=dialog] *")].some((each) => each.getBoundingClientRect().right > innerWidth)';
    expect(await page.evaluate(`${sticksOut} || document.documentElement.scrollWidth > innerWidth`)).toBe(false);
    expect(await accessibilityProblems(page)).toEqual([]);
  }));

test('a campaign is asked about somebody whom it left out', () =>
  world.inPage({}, async (page) => {
    const { db } = world.database;
    const filters = [{ field: 'data.plan', operator: 'equals', value: 'pro' }];
    const audienceCondition = { logic: 'AND', groups: [{ filters }] };
    const id = await aCampaign(db, project, { audienceType: 'FILTERED', audienceCondition });
    await openSend(db, id, 1, null);
    await db.count(sql`update campaign_sends set expanded = true, closed = true where campaign_id = ${id}`);
    await db.count(sql`update campaigns set status = 'SENT' where id = ${id}`);
    await open(page, `campaigns/${id}`);
    await page.getByRole('button', { name: 'Explain a contact' }).click();
    const dialog = page.getByRole('dialog', { name: 'Explain a contact' });
    await dialog.getByLabel('Email address').fill('nobody@example.com');
    await dialog.getByRole('button', { name: 'Explain', exact: true }).click();
    await dialog.getByText('nobody@example.com').waitFor();
    await dialog.getByLabel('Email address').fill('ada@example.com');
    await dialog.getByRole('button', { name: 'Explain', exact: true }).click();
    await dialog.getByRole('alert').getByText('"data.plan" is "pro": no, it is "free".').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  }));

test('rows of the activity and of a ledger say why, and what is offered is done from there', () =>
  world.inPage({}, async (page) => {
    const { db } = world.database;
    const id = await aCampaign(db, project, {});
    await openSend(db, id, 1, null);
    await db.count(sql`update campaign_sends set expanded = true where campaign_id = ${id}`);
    await db.count(sql`
      insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, subject, campaign_id, send_seq)
      values (${newId()}, ${project.id}, ${contact}, 'ada@example.com', ${project.sender}, 'CAMPAIGN', 'MARKETING', 'Spring', ${id}, 1)`);
    await db.count(sql`update campaigns set paused_at = now() where id = ${id}`);
    await queueMail(db, project, contact, 'ada@example.com', {
      unsent: { status: 'FAILED', reason: { code: 'limit_reached' } },
    });
    await open(page, 'activity');
    await page
      .getByRole('button', { name: /^Why\? Failed/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: 'Why?' });
    await dialog.getByRole('alert').getByText('The email was not sent: Billing limit reached.').waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();

    const paused = 'The campaign is paused, and this email is pending.';
    await page.goto(`${world.url}/app/${project.id}/campaigns/${id}`);
    await page.getByRole('button', { name: 'Why? ada@example.com', exact: true }).click();
    await dialog.getByText(paused).first().waitFor();
    await dialog.getByRole('button', { name: 'Resume the campaign', exact: true }).click();
    const asked = page.getByRole('alertdialog', { name: 'Resume the campaign?' });
    expect(await accessibilityProblems(page)).toEqual([]);
    await asked.getByRole('button', { name: 'Resume the campaign', exact: true }).click();
    await dialog.getByText(paused).first().waitFor({ state: 'detached' });
    await dialog.getByRole('list', { name: 'Decisions' }).waitFor();
    const row = await db.row<{ paused: boolean }>(
      sql`select paused_at is not null as paused from campaigns where id = ${id}`,
    );
    expect(row).toEqual({ paused: false });
  }));
