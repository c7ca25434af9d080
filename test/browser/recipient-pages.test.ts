import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { languages } from '../../src/lib/texts/pages.ts';
import { linkToken } from '../../src/templates/content/links.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../support/api.ts';
import { accessibilityProblems, inPage, sharedBrowser } from '../support/browser.ts';
import { plainPicture } from '../support/dashboard-seed.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
});
beforeEach(() => database.db.count('delete from recipient_visits'));
afterAll(async () => {
  await api?.close();
  await database?.close();
});

async function linkOf(page: string, email: string, data: Record<string, unknown> = {}): Promise<string> {
  const { body } = await api.call(project.secretKey, 'POST', '/contacts', { email, data });
  return `${api.url}/${page}/${body.id}?t=${linkToken(body.id, api.config.LINK_SECRET)}`;
}

const longAddress = `${'very-long-local-part-of-an-address'.slice(0, 60)}.anna.katharina@subdomain.of-some-company.example`;

describe('in Chromium', () => {
  test('a recipient leaves, comes back and leaves again without JavaScript, by keyboard alone', async () => {
    const link = await linkOf('unsubscribe', 'x.1.anna@kunde.example');
    await inPage(browser, { javaScriptEnabled: false }, async (page) => {
      const asked: string[] = [];
      page.on('request', (request) =>
        asked.push(`${request.method()} ${new URL(request.url()).pathname.split('/')[1]}`),
      );
      const heads = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await page.goto(link);
      await heads('Unsubscribe');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await heads('You have been unsubscribed');
      await page.reload();
      await heads('You have been unsubscribed');
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await heads('You are subscribed');
      await page.getByRole('link', { name: 'Email preferences' }).click();
      await page.getByRole('button', { name: 'Unsubscribe' }).click();
      await page.getByText('is not subscribed').waitFor();
      // The icon aside, which browsers ask for by themselves, nothing was loaded but the pages.
      expect(asked.filter((one) => !one.endsWith('favicon.ico'))).toEqual([
        'GET unsubscribe',
        'POST manage',
        'GET unsubscribe',
        'GET unsubscribe',
        'POST manage',
        'GET subscribe',
        'GET manage',
        'POST manage',
        'GET manage',
      ]);
    });
  });

  test.each(['light', 'dark'] as const)(
    'every page is accessible and breaks no policy in %s colours at 320 pixels',
    async (colorScheme) => {
      const known = await linkOf('unsubscribe', longAddress);
      const pages = ['unsubscribe', 'subscribe', 'manage'].flatMap((page) => [
        known.replace('/unsubscribe/', `/${page}/`),
        known.replace('/unsubscribe/', `/${page}/`).replace(/\?.*/, ''),
      ]);
      await inPage(browser, { colorScheme, viewport: { width: 320, height: 640 } }, async (page) => {
        const complaints: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error' && /policy/i.test(message.text())) complaints.push(message.text());
        });
        for (const url of pages) {
          await page.goto(url);
          expect(await accessibilityProblems(page), url).toEqual([]);
          const { wide, background } = await page.evaluate<{ wide: number; background: string }>(`({
          wide: document.documentElement.scrollWidth,
          background: getComputedStyle(document.body).backgroundColor,
        })`);
          expect(wide, `${url} scrolls sideways`).toBeLessThanOrEqual(320);
          expect(background).toBe(colorScheme === 'light' ? 'rgb(243, 244, 246)' : 'rgb(15, 19, 24)');
        }
        expect(complaints).toEqual([]);
      });
    },
  );

  test('the focus is seen, and what can be pressed is large enough', async () => {
    const link = await linkOf('unsubscribe', 'x.2.ben@kunde.example');
    await inPage(browser, {}, async (page) => {
      await page.goto(link);
      for (const target of ['button', 'a']) {
        await page.keyboard.press('Tab');
        const { outline, height } = await page.evaluate<{ outline: string; height: number }>(`(() => {
          const element = document.querySelector('${target}');
          const style = getComputedStyle(element);
          return {
            outline: element === document.activeElement ? style.outlineStyle + ' ' + style.outlineWidth : 'not focused',
            height: element.getBoundingClientRect().height,
          };
        })()`);
        expect(outline, target).toBe('solid 3px');
        expect(height, target).toBeGreaterThanOrEqual(24);
      }
    });
  });

  test('each language is said to the browser, and reads without a missing character', async () => {
    await inPage(browser, { viewport: { width: 320, height: 640 } }, async (page) => {
      for (const locale of languages) {
        await page.goto(await linkOf('unsubscribe', `leser@${locale.toLowerCase()}.example`, { locale }));
        await expect.poll(() => page.locator('html').getAttribute('lang')).toBe(locale);
        await expect.poll(() => page.locator('body').textContent()).not.toContain('\uFFFD');
        expect(await accessibilityProblems(page), locale).toEqual([]);
      }
    });
  });

  test.each(['light', 'dark'] as const)(
    'pages carry the brand of their project, whatever it says, in %s colors',
    async (colorScheme) => {
      const own = await aProject(database, 'Vogelfreunde');
      const form = new FormData();
      form.set('image', new Blob([plainPicture(240, 90)], { type: 'image/png' }), 'logo.png');
      const headers = { Authorization: `Bearer ${own.secretKey}` };
      const upload = await fetch(`${api.url}/uploads/image`, { method: 'POST', headers, body: form });
      const { url } = (await upload.json()) as { url: string };
      // Tests listen elsewhere than their settings say.
      const logoUrl = new URL(new URL(url).pathname, api.url).href;
      const hostile = '</style><script>document.title="run"</script>"\' onerror=alert(1)';
      const kits = [
        { logoUrl, logoAlt: 'The heron', primaryColor: '#ffee00', postalAddress: 'Deichstraße 4\n25813 Husum' },
        { logoUrl: `${logoUrl}?${hostile}`, logoAlt: hostile, primaryColor: '#101010', postalAddress: hostile },
      ];
      const { body } = await api.call(own.secretKey, 'POST', '/contacts', { email: `x.${colorScheme}@kunde.example` });
      const link = `${api.url}/manage/${body.id}?t=${linkToken(body.id, api.config.LINK_SECRET)}`;
      for (const [kind, kit] of kits.entries()) {
        expect((await api.call(own.secretKey, 'PUT', '/brand', kit)).status).toBe(200);
        for (const viewport of [
          { width: 320, height: 640 },
          { width: 1280, height: 900 },
        ])
          await inPage(browser, { colorScheme, viewport }, async (page) => {
            await page.goto(link);
            expect(await accessibilityProblems(page)).toEqual([]);
            await expect.poll(() => page.title()).toContain('Vogelfreunde');
            await page.getByText(kind === 0 ? '25813 Husum' : hostile, { exact: false }).waitFor();
            await page.getByRole('img', { name: kit.logoAlt, exact: true }).waitFor();
            if (kind === 0)
              await expect.poll(() => page.evaluate(`document.querySelector('img').naturalWidth`)).toBe(240);
            await expect.poll(() => page.locator('script').count()).toBe(0);
          });
      }
    },
  );
});
