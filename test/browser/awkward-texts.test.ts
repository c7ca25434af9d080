import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { desktop, phone, sharedBrowser, untilShown } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { awkwardNames } from '../support/dashboard-seed.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;
let own: AutomationHand;
const places: string[] = [''];

/** One word without a place to break, as long as the text with the spaces. */
const unbroken = 'Donaudampfschifffahrtsgesellschaftskapitänsmütze'.repeat(5).slice(0, 200);
const pasted =
  '<img src=x onerror="window.pwned = true"><script>window.pwned = true</script><b class="pasted">bold</b>';
const texts = [...awkwardNames, unbroken, pasted];
const longest = `${'x'.repeat(60)}@${`${'y'.repeat(60)}.`.repeat(2)}kunde.example`;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database, `${pasted}${unbroken}`.slice(0, 100));
  own = automationHand(api, project);
  const contact = await own.contact(longest, Object.fromEntries(texts.map((text, place) => [`field ${place}`, text])));
  await own.contact('anna@kunde.example', {
    [unbroken.slice(0, 60)]: pasted,
    [awkwardNames[1] ?? '']: awkwardNames[2],
  });
  places.push('contacts', `contacts/${contact}`, 'contact-fields');
  places.push(`contact-fields?field=${encodeURIComponent(`data.${unbroken.slice(0, 60)}`)}`);
  for (const [place, text] of texts.entries()) {
    const condition = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: text }] }],
    };
    const segment = await own.done('POST', '/segments', { name: text.slice(0, 100), description: text, condition });
    const mail = { subject: text, body: `<p>${text}</p>`, from: project.sender, fromName: text.slice(0, 100) };
    const template = await own.done('POST', '/templates', { name: text, ...mail });
    const { data: campaign } = await own.done('POST', '/campaigns', { name: text, ...mail, audienceType: 'ALL' });
    const { id: workflow } = await own.automation({ name: text, eventName: text });
    const tracked = { email: longest, event: text, data: { text } };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', tracked)).status).toBe(200);
    await own.done('POST', '/suppressions', {
      name: text.slice(0, 100),
      kind: 'DOMAIN',
      pattern: `${'z'.repeat(60)}.of-birds-${place}.example`,
    });
    // The lists show all of them; pages of their own have the two that are hardest to hold.
    if (place < awkwardNames.length) continue;
    places.push(`segments/${segment.id}`, `segments/${segment.id}/edit`, `templates/${template.id}`);
    places.push(`campaigns/${campaign.id}`, `workflows/${workflow}/executions`);
  }
  places.push('segments', 'templates', 'campaigns', 'workflows', 'activity', 'events', 'suppressions', 'domains');
  places.push(
    `events?name=${encodeURIComponent(unbroken)}`,
    'settings',
    'settings?tab=keys',
    'settings?tab=team',
    'account',
  );
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

/**
 * What sticks out of its box: of the window, or of the box that holds it. What scrolls by itself, such as a wide table, may be
 * wider inside; a text that ends in an ellipsis is cut on purpose.
 */
const sticksOut = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const cut = (element) => ['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(element).overflowX);
    const isCut = (element) => element !== null && (cut(element) || isCut(element.parentElement));
    const name = (element) => element.tagName.toLowerCase() + '.' + element.className + ': ' + element.textContent.slice(0, 60);
    const found = [];
    const all = document.querySelectorAll('main *, aside *, [role=dialog] *, [role=alertdialog] *, [role=menu] *');
    for (const element of all) {
      if (element.closest('svg, .visually-hidden, .cm-editor, .react-flow, canvas') || isCut(element.parentElement)) continue;
      const { left, right, width } = element.getBoundingClientRect();
      if (width === 0) continue;
      if (left < -1 || right > window.innerWidth + 1) found.push('window: ' + name(element));
      else if (!cut(element) && getComputedStyle(element).display !== 'inline' && element.scrollWidth > element.clientWidth + 1)
        found.push('box: ' + name(element));
    }
    if (document.documentElement.scrollWidth > window.innerWidth) found.push('the page scrolls sideways');
    return found;
  })()`);

test('pasted HTML, long, right-to-left and emoji texts stay in their boxes on every page', async () => {
  const problems: Record<string, string[]> = {};
  await asOwner(browser, { api, database, project }, async (page) => {
    for (const place of places) {
      await page.setViewportSize(phone);
      await page.goto(`${api.url}/app/${project.id}/${place}`);
      for (const viewport of [phone, desktop]) {
        await page.setViewportSize(viewport);
        await untilShown(page);
        const found = await sticksOut(page);
        if (found.length > 0) problems[`${place} at ${viewport.width} pixels`] = found.slice(0, 5);
        await expect.poll(() => page.locator('.pasted').count(), { message: `${place} takes a text for HTML` }).toBe(0);
        expect(await page.evaluate('window.pwned'), `${place} runs a text`).toBeUndefined();
      }
    }
  });
  expect(problems).toEqual({});
});

describe.each([
  ['1280 pixels', desktop],
  ['390 pixels', phone],
] as const)('at %s', (_, viewport) => {
  test('they stay in the boxes of dialogs, menus and messages as well', async () => {
    await asOwner(
      browser,
      { api, database, project },
      async (page) => {
        const menu = async () => {
          if (viewport === phone) await page.getByRole('button', { name: 'Menu' }).click();
        };
        await page.goto(`${api.url}/app/${project.id}/segments`);
        await untilShown(page);
        await menu();
        await page.getByRole('button', { name: /Switch project/ }).click();
        await page.getByRole('menu').waitFor();
        expect(await sticksOut(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await page.getByRole('menu').waitFor({ state: 'detached' });
        for (const text of [unbroken, pasted]) {
          await page.goto(`${api.url}/app/${project.id}/segments`);
          await page.getByRole('link', { name: text.slice(0, 100), exact: true }).click();
          await page.getByRole('button', { name: 'Delete', exact: true }).click();
          const dialog = page.getByRole('alertdialog');
          await dialog.waitFor();
          expect(await sticksOut(page)).toEqual([]);
          await dialog.getByRole('button', { name: 'Cancel' }).click();
          await dialog.waitFor({ state: 'detached' });
          await page.getByRole('button', { name: 'Refresh count' }).click();
          await page.locator('[data-slot=toast]').first().waitFor();
          expect(await sticksOut(page)).toEqual([]);
        }
        await page.goto(`${api.url}/app/${project.id}/contacts?search=${encodeURIComponent(longest)}`);
        await page.getByRole('link', { name: longest }).click();
        if (viewport === phone) {
          // Unsubscribed on the larger screen: that needs a reason.
          await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
          const dialog = page.getByRole('dialog', { name: /^Resubscribe/ }).or(page.getByRole('alertdialog'));
          await dialog.waitFor();
          expect(await sticksOut(page)).toEqual([]);
          await dialog.getByLabel('Reason').fill('Asked for it on the phone');
          await dialog.getByRole('button', { name: 'Resubscribe', exact: true }).click();
        } else await page.getByRole('button', { name: 'Unsubscribe', exact: true }).click();
        await page.locator('[data-slot=toast]', { hasText: longest }).waitFor();
        expect(await sticksOut(page)).toEqual([]);
      },
      { viewport },
    );
  });
});
