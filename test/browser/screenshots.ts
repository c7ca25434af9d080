import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { eventually } from '../../packages/local-stack/test/fakes.ts';
import { startBrowser } from '../support/browser.ts';
import { outsidePlaces, placeOf, projectPlaces, seedDashboard } from '../support/dashboard-seed.ts';
import { aPlace, startIn } from '../support/npm-start.ts';

/*
 * `npm run screenshots` takes a picture of every page into docs/screenshots. It starts a service of its own below a temporary
 * folder, fills it with the people of test/data and stops it again. With the path of a first-project.json it fills and shows
 * the project of a service that runs already: `npm run screenshots -- data/first-project.json`.
 *
 * Names in other scripts and emoji are boxes where no font has them: apt-get install fonts-noto-core fonts-noto-cjk
 * fonts-noto-color-emoji.
 */
const folder = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));
/** What a picture may weigh, in bytes: they are part of the repository. */
const heaviest = 150_000;

interface FirstProject {
  baseUrl: string;
  projectId: string;
  publicKey: string;
  secretKey: string;
  sender: string;
  login: { email: string; password: string };
}

const desktop = { colorScheme: 'light', viewport: { width: 1280, height: 800 } } as const;
const dark = { ...desktop, colorScheme: 'dark' } as const;
const phone = { colorScheme: 'light', viewport: { width: 390, height: 844 } } as const;
/** Pages that are shown in the dark and on a phone as well. */
const more = new Set([
  'overview',
  'campaigns-one-campaign',
  'contacts',
  'emails',
  'emails-one-email',
  'settings-keys',
  'webhooks-one-endpoint',
  'settings-log',
]);

const given = process.argv[2];
if (given === undefined) await onOwnService();
else await picture(JSON.parse(readFileSync(given, 'utf8')) as FirstProject);

async function onOwnService(): Promise<void> {
  using place = await aPlace();
  await using run = startIn(place);
  await run.untilReady();
  await picture(JSON.parse(readFileSync(join(place.dataDir, 'first-project.json'), 'utf8')) as FirstProject);
}

async function picture({ baseUrl, projectId, secretKey, publicKey, sender, login }: FirstProject): Promise<void> {
  const seeded = await seedDashboard({ url: baseUrl, project: { id: projectId, secretKey, publicKey }, sender });
  mkdirSync(folder, { recursive: true });
  const browser = await startBrowser();
  try {
    const all = [...outsidePlaces, ...projectPlaces].map((place) => ({
      name: place.name,
      path: placeOf(place, seeded),
    }));
    await shoot(browser, baseUrl, login, desktop, '', all);
    const some = all.filter(({ name }) => more.has(name));
    await shoot(browser, baseUrl, login, dark, '-dark', some);
    await shoot(browser, baseUrl, login, phone, '-phone', some);
  } finally {
    await browser.close();
  }
}

async function shoot(
  browser: Browser,
  url: string,
  login: FirstProject['login'],
  look: BrowserContextOptions,
  suffix: string,
  places: { name: string; path: string }[],
): Promise<void> {
  const context = await browser.newContext({
    ...look,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  let isIn = false;
  for (const { name, path } of places) {
    if (path.startsWith('/app') && !isIn) {
      await context.request.post(`${url}/auth/login`, { data: login });
      isIn = true;
    }
    await page.goto(url + path);
    await page.locator('h1').first().waitFor();
    await page.waitForLoadState('networkidle');
    await eventually(async () => (await page.locator('[data-slot=loading]').count()) === 0);
    const file = join(folder, `${name}${suffix}.png`);
    const size = await lightEnough(page, file);
    console.log(`${name}${suffix}.png, ${Math.ceil(size / 1000)} kB`);
  }
  await context.close();
}

// A page full of text weighs much: then its upper part must do.
async function lightEnough(page: Page, path: string): Promise<number> {
  const { width, height } = page.viewportSize() ?? desktop.viewport;
  for (const part of [1, 0.75, 0.5]) {
    await page.screenshot({ path, animations: 'disabled', clip: { x: 0, y: 0, width, height: height * part } });
    const { size } = statSync(path);
    if (size <= heaviest) return size;
  }
  throw new Error(`${path} weighs more than ${heaviest} bytes`);
}
