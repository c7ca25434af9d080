import { compileEmail, plainBrand, starters } from '@posthorn/email-document';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentAsWritten } from '../../src/content/rendering/index.ts';
import { accessibilityProblems, inPage, startBrowser } from '../support/browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

// EMAIL_PICTURES names a folder for pictures of every layout, to look at.
const folder = process.env.EMAIL_PICTURES;
const brand = {
  ...plainBrand,
  primaryColor: '#b45309',
  footer: 'Vogelfreunde am Wattenmeer e. V.',
  postalAddress: 'Am Deich 1',
};

describe.each(starters)('the starter layout $name', ({ id, subject, document }) => {
  test.each([
    [320, 'light'],
    [600, 'light'],
    [1000, 'light'],
    [320, 'dark'],
    [1000, 'dark'],
  ] as const)('fits %i pixels and reads well on %s', async (width, colorScheme) => {
    const { html } = contentAsWritten({ subject, body: compileEmail(document, brand) });
    await inPage(browser, { viewport: { width, height: 800 }, colorScheme }, async (page) => {
      await page.setContent(html);
      expect(await page.locator('html').evaluate((root) => root.scrollWidth)).toBeLessThanOrEqual(width);
      // A mail has neither title nor landmarks, and its links may still be without an address.
      const problems = await accessibilityProblems(page);
      expect(problems.filter((problem) => !/^(?:document-title|region|landmark|page-has)/.test(problem))).toEqual([]);
      if (folder) await page.screenshot({ path: `${folder}/${id}-${width}-${colorScheme}.png`, fullPage: true });
    });
  });
});
