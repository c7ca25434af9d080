import { fileURLToPath } from 'node:url';
import { compileEmail, gmailClip, plainBrand } from '@fernpost/email-document';
import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { families } from '../../dashboard/src/pages/mail/starters/index.ts';
import { sampleData } from '../../dashboard/src/pages/mail/starters/sample.ts';
import { prepareContent } from '../../src/templates/content/prepare.ts';
import { inPage, problemsInBothThemes, sharedBrowser } from '../support/browser.ts';

const starters = families.flatMap((family) => family.starters);

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
  ...sampleData,
  workspaceName: 'Bird counts of the whole Wadden Sea',
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
const picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><path fill="#bcd" d="M0 0h2v1H0z"/></svg>';

/** The HTML of a layout as it arrives; only its pictures, which are left to the writer, are drawn. */
function arriving({ subject, type, document }: (typeof starters)[number]): string {
  const body = compileEmail(document, brand, 'https://mail.test/brand/icons');
  const content = {
    subject,
    body: body.replaceAll('src=""', `src="data:image/svg+xml,${encodeURIComponent(picture)}"`),
    messageClass: type,
    projectName: 'Vogelfreunde',
    language: 'en',
    escapeContactData: true,
  };
  return prepareContent(content, settings).renderFor({ emailId: null, contact, requestData, isCampaign: true }).html;
}

test('every starter layout is shown well at every width, light and dark', () =>
  inPage(browser, {}, async (page) => {
    await page.route('https://mail.test/brand/icons/*', (route) =>
      route.fulfill({ path: `${icons}${new URL(route.request().url()).pathname.split('/').at(-1)}` }),
    );
    const problems: string[] = [];
    for (const starter of starters) {
      const html = arriving(starter);
      // Clients such as Gmail for other accounts and Outlook for Windows know no more than this.
      expect(html).not.toMatch(/display:\s*(?:flex|grid)|position:|float:|<script|<link|var\(--|calc\(/i);
      expect(Buffer.byteLength(html)).toBeLessThan(gmailClip);
      // A mail has neither title nor landmarks, which axe looks for in a page; without them it would look three times.
      const [, before = '', inside = ''] = /^(.*?<body[^>]*>)(.*)<\/body>/s.exec(html) ?? [];
      await page.setContent(`${before.replace('<title></title>', '<title>Mail</title>')}<main>${inside}</main>`);
      const found: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of [320, 600, 1000]) {
          await page.setViewportSize({ width, height: 800 });
          const needed = await page.evaluate<number>('document.documentElement.scrollWidth');
          if (needed > width) found.push(`needs ${needed} of ${width} pixels`);
          if (folder)
            await page.screenshot({ path: `${folder}/${starter.id}-${width}-${colorScheme}.png`, fullPage: true });
        }
      }
      // A letter has no heading.
      found.push(...(await problemsInBothThemes(page)).filter((problem) => !problem.includes('page-has-heading-one')));
      problems.push(...found.map((problem) => `${starter.name}: ${problem}`));
    }
    expect(problems).toEqual([]);
  }));
