import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser, untilShown } from '../support/browser.ts';
import { actWhenCalm } from '../support/calm.ts';
import { outsidePlaces, placeOf, projectPlaces } from '../support/dashboard-seed.ts';
import { aPlace, startIn } from '../support/npm-start.ts';
import { type PicturedProject, picturedProject } from '../support/pictured-project.ts';
import { shootLayouts, webp } from './layout-sheet.ts';

/*
 * `npm run screenshots` takes pictures of every page into docs/screenshots: in light and dark, at a desk and on a phone. It starts a service
 * of its own below a temporary folder, fills it with eight months of a society that counts birds, and stops it again. With names, such as
 * `npm run screenshots -- contacts segments`, it takes only those.
 *
 * Names in other scripts and emoji are boxes where no font has them: apt-get install fonts-noto-core fonts-noto-cjk
 * fonts-noto-color-emoji.
 */
const folder = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));
/** What a picture may weigh, in bytes: they are part of the repository. */
const heaviest = 150_000;

const desk = { width: 1280, height: 800 };
const hand = { width: 390, height: 844 };
const looks: Record<string, BrowserContextOptions> = {
  '': { colorScheme: 'light', viewport: desk },
  '-dark': { colorScheme: 'dark', viewport: desk },
  '-phone': { colorScheme: 'light', viewport: hand },
  '-phone-dark': { colorScheme: 'dark', viewport: hand },
};

const wanted = new Set(process.argv.slice(2));
const isWanted = (name: string) => wanted.size === 0 || wanted.has(name);

using place = await aPlace();
await using run = startIn(place);
await run.untilReady();
const project = await picturedProject(place);
mkdirSync(folder, { recursive: true });
for (const old of readdirSync(folder)) if (wanted.size === 0 && /\.(png|webp)$/.test(old)) rmSync(join(folder, old));
const browser = await startBrowser();
try {
  for (const [suffix, look] of Object.entries(looks)) await shoot(browser, project, look, suffix);
  if (isWanted('layouts')) await shootLayouts(browser);
} finally {
  await browser.close();
}

async function shoot(
  browser: Browser,
  { login, seeded }: PicturedProject,
  look: BrowserContextOptions,
  suffix: string,
): Promise<void> {
  const context = await browser.newContext({
    ...look,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  actWhenCalm(page);
  let isIn = false;
  for (const shown of [...outsidePlaces, ...projectPlaces]) {
    if (!isWanted(shown.name)) continue;
    const path = placeOf(shown, seeded);
    if (path.startsWith('/app') && !isIn) {
      await context.request.post(`${place.baseUrl}/auth/login`, { data: login });
      isIn = true;
    }
    await page.goto(place.baseUrl + path);
    await untilShown(page);
    await picture(page, `${shown.name}${suffix}`);
  }
  if (isWanted('docs')) {
    await page.goto(`${place.baseUrl}/docs`);
    await picture(page, `docs${suffix}`);
  }
  if (isWanted('inbox')) await shootInbox(page, suffix);
  await context.close();
}

/** The sandbox's inbox, a message of it, and where its recipient may leave. */
async function shootInbox(page: Page, suffix: string): Promise<void> {
  await page.goto(place.sandboxUrl);
  await page.getByText('Live', { exact: true }).waitFor();
  await picture(page, `inbox${suffix}`);
  await page
    .getByRole('link', { name: /^Welcome, / })
    .first()
    .click();
  // The message opens beside the list, on a page whose stream of changes never ends.
  await page.frameLocator('iframe').getByText('Good to have you').waitFor();
  await picture(page, `inbox-one-message${suffix}`);
  await page.goto(await preferencesLink());
  await picture(page, `recipient-preferences${suffix}`);
}

/** Where a recipient of the newest campaign may leave, as its mail says. */
async function preferencesLink(): Promise<string> {
  const answer = await fetch(`${place.sandboxUrl}/api/messages?subject=herons&limit=1&bodies=1`);
  const { messages } = (await answer.json()) as { messages: { html: string }[] };
  const [, link] = /href="(http[^"]*\/manage\/[^"]*)"/.exec(messages[0]?.html ?? '') ?? [];
  if (link === undefined) throw new Error('The mail of the campaign has no link to the preferences');
  return link.replaceAll('&amp;', '&');
}

/** Takes a picture of the window. */
async function picture(page: Page, name: string): Promise<void> {
  await page.evaluate('document.activeElement?.blur?.()');
  const bytes = await webp(page, 82);
  if (bytes.length > heaviest) throw new Error(`${name} weighs ${bytes.length} bytes, more than ${heaviest}`);
  writeFileSync(join(folder, `${name}.webp`), bytes);
  console.log(`${name}.webp, ${Math.ceil(bytes.length / 1000)} kB`);
}
