import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, testApi } from '../support/api.ts';
import { accessibilityProblems, desktop, inPage, phone, sharedBrowser } from '../support/browser.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { buildDownloads } from '../support/published.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;

beforeAll(async () => {
  await buildDownloads();
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

test.each([
  ['light', desktop],
  ['light', phone],
  ['dark', desktop],
  ['dark', phone],
] as const)(
  'guides and reference are accessible and break no policy in %s colors, %o',
  async (colorScheme, viewport) => {
    await inPage(browser, { colorScheme, viewport }, async (page) => {
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      for (const path of ['/docs/quick-start', '/docs/reference', '/docs/reference/api-keys', '/downloads/']) {
        await page.goto(`${api.url}${path}`);
        await page.locator('search').waitFor();
        // What is folded is looked at as well.
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
        expect(await accessibilityProblems(page), path).toEqual([]);
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
        expect(wide, `${path} scrolls sideways`).toBeLessThanOrEqual(viewport.width);
      }
      expect(complaints).toEqual([]);
    });
  },
);

test('readers choose a language once for all snippets, by keyboard too', async () => {
  await inPage(browser, {}, async (page) => {
    await page.goto(`${api.url}/docs/quick-start`);
    const first = page.getByRole('tablist').first();
    await first.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('TypeScript');
    await page.reload();
    await page.getByRole('tab', { name: 'TypeScript', selected: true }).first().waitFor();
    await expect.poll(() => page.getByRole('tabpanel', { name: 'curl' }).count()).toBe(0);
    await page.goto(`${api.url}/docs/reference/emails`);
    await page.getByRole('tabpanel', { name: 'TypeScript' }).first().getByText('await fernpost.send(').waitFor();
  });
});

test('readers copy a snippet and find an endpoint', async () => {
  await inPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.goto(`${api.url}/docs/reference/emails`);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toMatch(/^curl -X POST "\$FERNPOST_URL\/v1\/send"/);
    await page.keyboard.press('/');
    await page.keyboard.type('cancel campaign');
    const found = page.getByRole('listbox', { name: 'Search results' });
    await found.getByRole('option', { name: 'POST /campaigns/{id}/cancel' }).click();
    await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#cancelCampaign');
  });
});

test('readers search in full by keyboard, with typos, and the results are accessible', async () => {
  await inPage(browser, {}, async (page) => {
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${api.url}/docs/quick-start`);
    await page.keyboard.press('/');
    const input = page.getByRole('combobox', { name: 'Search the docs' });
    const options = page.getByRole('listbox', { name: 'Search results' }).getByRole('option');
    await page.keyboard.type('idempotncy key');
    await options.first().waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    const [active] = await options.all();
    await expect.poll(() => active?.getAttribute('aria-selected')).toBe('true');
    await expect.poll(() => input.getAttribute('aria-activedescendant')).toBe(await active?.getAttribute('id'));
    await page.keyboard.press('Escape');
    await expect.poll(() => options.count()).toBe(0);
    await expect.poll(() => input.inputValue()).toBe('');
    // A field, by its name.
    await page.keyboard.type('publicKeyRequestsPerMinute');
    await options.filter({ hasText: 'Field · Projects API' }).first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

test('everything can be read without scripts, and the menu opens on a phone', async () => {
  await inPage(browser, { javaScriptEnabled: false, viewport: phone }, async (page) => {
    await page.goto(`${api.url}/docs/quick-start`);
    await page.getByRole('link', { name: 'API keys' }).waitFor();
    await expect.poll(() => page.locator('.snippet').first().isVisible()).toBe(true);
    await page.goto(`${api.url}/docs/reference/emails`);
    await page.getByText('curl -X POST "$FERNPOST_URL/v1/send"').waitFor();
    await page.getByText('await fernpost.send(').waitFor();
  });
  await inPage(browser, { viewport: phone }, async (page) => {
    await page.goto(`${api.url}/docs`);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Emails' }).click();
    await page.getByRole('heading', { level: 1, name: 'Emails' }).waitFor();
  });
});
