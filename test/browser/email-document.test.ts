import { fileURLToPath } from 'node:url';
import { compileEmail, gmailClip, plainBrand, starters } from '@fernpost/email-document';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { prepareContent } from '../../src/templates/content/prepare.ts';
import { accessibilityProblems, inPage, sharedBrowser } from '../support/browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await sharedBrowser();
});

// EMAIL_PICTURES names a folder for pictures of every layout, to look at.
const folder = process.env.EMAIL_PICTURES;
const icons = fileURLToPath(new URL('../../packages/email-document/icons/', import.meta.url));
const brand = {
  ...plainBrand,
  primaryColor: '#b45309',
  footer: 'Vogelfreunde am Wattenmeer e. V.\nYou get this email as a member.',
  postalAddress: 'Am Deich 1, 26721 Emden',
};
const contact = {
  id: '00000000-0000-0000-0000-000000000000',
  email: 'ada@wattenmeer.test',
  subscribed: true,
  data: {},
};
const requestData = {
  firstName: 'Ada',
  receiptNumber: 'R-2026-0815',
  receiptDate: 'March 3, 2026',
  total: '€38.50',
  inviterName: 'Grace Hopper',
  workspaceName: 'Bird counts',
  startUrl: 'https://wattenmeer.test/start',
  items: [
    {
      name: 'Field guide, 3rd edition',
      price: '€29.00',
      title: 'Herons are back',
      summary: 'Twelve pairs at the dike.',
    },
    {
      name: 'Membership of a supporter for a whole year, with the printed magazine',
      price: '€9.50',
      title: 'The count of March',
      summary: 'Meet at seven by the lighthouse.',
      url: 'https://wattenmeer.test/count',
    },
  ],
};
const settings = { pagesUrl: 'https://mail.test', apiUrl: 'https://mail.test', secret: 'x'.repeat(32) };

test.each(starters)('the starter layout $name is shown well at every width, light and dark', async (starter) => {
  const { id, subject, type, document } = starter;
  const body = compileEmail(document, brand, 'https://mail.test/brand/icons');
  const content = {
    subject,
    body,
    messageClass: type,
    projectName: 'Vogelfreunde',
    language: 'en',
    escapeContactData: true,
  };
  const { html } = prepareContent(content, settings).renderFor({
    emailId: null,
    contact,
    requestData,
    isCampaign: true,
  });
  // Clients such as Gmail for other accounts and Outlook for Windows know no more than this.
  expect(html).not.toMatch(/display:\s*(?:flex|grid)|position:|float:|<script|<link|var\(--|calc\(/i);
  expect(Buffer.byteLength(html)).toBeLessThan(gmailClip);
  await inPage(browser, {}, async (page) => {
    await page.route('https://mail.test/brand/icons/*', (route) =>
      route.fulfill({ path: `${icons}${new URL(route.request().url()).pathname.split('/').at(-1)}` }),
    );
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [320, 600, 1000]) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        await page.setContent(html, { waitUntil: 'load' });
        await expect.poll(() => page.locator('html').evaluate((root) => root.scrollWidth)).toBeLessThanOrEqual(width);
        if (folder) await page.screenshot({ path: `${folder}/${id}-${width}-${colorScheme}.png`, fullPage: true });
        if (width === 600) {
          // A mail has neither title nor landmarks, and its links may still be without an address.
          const problems = await accessibilityProblems(page);
          const known = /^(?:document-title|region|landmark|page-has)/;
          expect(problems.filter((problem) => !known.test(problem))).toEqual([]);
        }
      }
    // What says how something looks is inlined; a style sheet only adds to it.
    const bare = await page
      .locator('.ph-card :is(p, h1, h2, h3, li, a)')
      .evaluateAll((all) =>
        all.filter((element) => !element.getAttribute('style')?.includes('color')).map(({ outerHTML }) => outerHTML),
      );
    expect(bare).toEqual([]);
    await expect.poll(() => page.locator('table:not([role="presentation"])').count()).toBe(0);
  });
});
