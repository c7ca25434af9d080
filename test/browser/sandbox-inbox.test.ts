import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { message, startSandbox } from '../../packages/mail-sandbox/test/support.ts';
import { accessibilityProblems, inPage, phone, startBrowser } from '../support/browser.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(() => browser?.close());

const withDarkStyles =
  '<html><head><meta name="color-scheme" content="light dark"><style>p { color: rgb(10, 20, 30) } ' +
  '@media (prefers-color-scheme: dark) { p { color: rgb(240, 230, 220) } }</style></head><body><p>Hi Ada</p></body></html>';

test('previews a message in light and dark by mouse and by keyboard', async () => {
  const { server, url } = await startSandbox();
  const { MessageID } = await server.sendEmail(message({ HtmlBody: withDarkStyles }));
  // An emulated color scheme would reach into frames, and hide what the inbox chose for them.
  await inPage(browser, { colorScheme: null }, async (page) => {
    await page.goto(`${url}/inbox/${MessageID}`);
    const themes = page.getByRole('navigation', { name: 'Preview theme' });
    expect(await textColor(page)).toBe('rgb(10, 20, 30)');
    await themes.getByRole('link', { name: 'Dark' }).click();
    await page.waitForURL(/scheme=dark/);
    expect(await textColor(page)).toBe('rgb(240, 230, 220)');
    await page.getByRole('link', { name: 'Load images' }).click();
    await page.waitForURL(/images=1/);
    expect(await textColor(page)).toBe('rgb(240, 230, 220)');
    await themes.getByRole('link', { name: 'Light' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/scheme=light/);
    expect(await textColor(page)).toBe('rgb(10, 20, 30)');
  });
});

test('shows headers, and how to send a first email, accessibly in both themes and on a phone', async () => {
  const { server, url } = await startSandbox();
  for (const colorScheme of ['light', 'dark'] as const) {
    await inPage(browser, { colorScheme, viewport: phone }, async (page) => {
      await page.goto(url);
      expect(await page.locator('pre').textContent()).toContain('/v1/send');
      expect(await accessibilityProblems(page)).toEqual([]);
    });
  }
  const Headers = [{ Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' }];
  const { MessageID } = await server.sendEmail(message({ Headers }));
  for (const colorScheme of ['light', 'dark'] as const) {
    await inPage(browser, { colorScheme, viewport: phone }, async (page) => {
      await page.goto(`${url}/inbox/${MessageID}`);
      await page.getByRole('link', { name: 'Headers' }).click();
      const row = page.getByRole('row', { name: 'List-Unsubscribe-Post' });
      expect(await row.getByRole('cell').textContent()).toBe('List-Unsubscribe=One-Click');
      expect(await accessibilityProblems(page)).toEqual([]);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      expect(wider).toBe(false);
    });
  }
});

async function textColor(page: Page): Promise<string> {
  const text = page.frameLocator('iframe').locator('p');
  return text.evaluate((element) => getComputedStyle(element).color);
}
