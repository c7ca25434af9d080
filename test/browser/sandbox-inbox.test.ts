import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { message, startSandbox } from '../../tools/mail-sandbox/test/support.ts';
import { accessibilityProblems, inPage, phone, sharedBrowser, startBrowser } from '../support/browser.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedBrowser();
});

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
  const { server, url } = await startSandbox({ serviceUrls: ['http://localhost:3000'] });
  for (const colorScheme of ['light', 'dark'] as const) {
    await inPage(browser, { colorScheme, viewport: phone }, async (page) => {
      await page.goto(url);
      await expect.poll(() => page.locator('pre').textContent()).toContain('/v1/send');
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
      await expect.poll(() => row.getByRole('cell').textContent()).toBe('List-Unsubscribe=One-Click');
      expect(await accessibilityProblems(page)).toEqual([]);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      expect(wider).toBe(false);
    });
  }
});

test('previews in light on a dark system', async () => {
  const { server, url } = await startSandbox();
  const { MessageID } = await server.sendEmail(message({ HtmlBody: withDarkStyles }));
  const dark = await startBrowser(['--blink-settings=preferredColorScheme=0']);
  try {
    await inPage(dark, { colorScheme: null }, async (page) => {
      await page.goto(`${url}/inbox/${MessageID}`);
      expect(await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true);
      expect(await textColor(page)).toBe('rgb(240, 230, 220)');
      await page.getByRole('link', { name: 'Light', exact: true }).click();
      await page.waitForURL(/scheme=light/);
      expect(await textColor(page)).toBe('rgb(10, 20, 30)');
    });
  } finally {
    await dark.close();
  }
});

test('keeps the list and its search beside the message on wide screens, and one column on a phone', async () => {
  const { server, url } = await startSandbox();
  await server.sendEmailBatch(['Letter one', 'A note', 'Letter two'].map((Subject) => message({ Subject })));
  for (const colorScheme of ['light', 'dark'] as const) {
    await inPage(browser, { colorScheme, viewport: { width: 1400, height: 900 } }, async (page) => {
      await page.goto(`${url}/?q=letter`);
      await page.getByRole('link', { name: 'Letter one' }).click();
      const list = page.getByRole('navigation', { name: 'Messages' });
      const subjects = (await list.getByRole('link').allTextContents()).map((text) => text.replace(', unread', ''));
      expect(subjects).toEqual(['Letter two', 'Letter one']);
      await list.getByRole('link', { name: 'Letter two' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Letter two' }).waitFor();
      await page.getByRole('link', { name: 'Source', exact: true }).click();
      await page.waitForURL(/view=source/);
      await expect.poll(() => list.locator('[aria-current]').allTextContents()).toEqual(['Letter two']);
      await expect.poll(() => list.getByRole('link').count()).toBe(2);
      await page.getByRole('button', { name: 'Complaint' }).click();
      await page.waitForURL(/done=complaint/);
      await expect.poll(() => list.getByRole('link').count()).toBe(2);
      expect(await accessibilityProblems(page)).toEqual([]);
    });
    await inPage(browser, { colorScheme, viewport: phone }, async (page) => {
      await page.goto(`${url}/?q=letter`);
      await page.getByRole('link', { name: 'Letter one' }).click();
      await page.getByRole('heading', { level: 1, name: 'Letter one' }).waitFor();
      await expect.poll(() => page.getByRole('navigation', { name: 'Messages' }).count()).toBe(0);
      await page.getByRole('link', { name: 'All messages' }).click();
      await page.waitForURL(/q=letter/);
    });
  }
});

async function textColor(page: Page): Promise<string> {
  const text = page.frameLocator('iframe').locator('p');
  return text.evaluate((element) => getComputedStyle(element).color);
}
