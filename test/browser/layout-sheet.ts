import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileEmail, plainBrand } from '@fernpost/email-document';
import type { Browser, Page } from 'playwright-core';
import { families } from '../../dashboard/src/pages/mail/starters/index.ts';
import { sampled } from '../../dashboard/src/pages/mail/starters/sample.ts';
import { startBrowser } from '../support/browser.ts';

/*
 * `node test/browser/layout-sheet.ts` takes the picture of all layouts, which needs no service; `npm run screenshots` does so too.
 */
const place = fileURLToPath(new URL('../../docs/screenshots/layouts.webp', import.meta.url));
const brand = {
  ...plainBrand,
  primaryColor: '#b45309',
  footer: 'You get this email as a customer.',
  postalAddress: 'Main Street 1',
};
/** Pixels that a mail is laid out for, and that its picture is wide and high at most. */
const [laidOut, wide, high] = [640, 240, 300];

/** Draws every layout, small and in its family, into one picture. */
export async function shootLayouts(browser: Browser): Promise<void> {
  const page = await browser.newPage({ viewport: { width: laidOut, height: (laidOut * high) / wide } });
  const pictures: string[] = [];
  for (const { name, starters } of families) {
    pictures.push(`<h2>${name}</h2>`);
    for (const starter of starters) {
      await page.setContent(compileEmail(sampled(starter.document), brand));
      const picture = (await webp(page, 90)).toString('base64');
      pictures.push(
        `<figure><img src="data:image/webp;base64,${picture}" alt=""><figcaption>${starter.name}</figcaption></figure>`,
      );
    }
  }
  await page.setViewportSize({ width: 6 * (wide + 20) + 20, height: 4 * (high + 84) + 24 });
  await page.setContent(`<style>
    body { margin: 12px 20px; display: grid; grid-template-columns: repeat(6, ${wide}px); gap: 12px 20px; font: 14px sans-serif; color: #27272a; background: #fff }
    h2 { grid-column: 1 / -1; margin: 4px 0 0; font-size: 16px }
    figure { margin: 0 } figcaption { padding-top: 4px }
    img { display: block; width: ${wide}px; height: ${high}px; border: 1px solid #d4d4d8; border-radius: 6px }
  </style>${pictures.join('')}`);
  const sheet = await webp(page, 75);
  writeFileSync(place, sheet);
  await page.close();
  console.log(`layouts.webp, ${Math.ceil(sheet.length / 1000)} kB`);
}

/** The window as WebP, which weighs half of what a PNG does. */
export async function webp(page: Page, quality: number): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
  await session.detach();
  return Buffer.from(data, 'base64');
}

if (import.meta.main) {
  const browser = await startBrowser();
  await shootLayouts(browser).finally(() => browser.close());
}
