import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { actWhenCalm, untilCalm } from './calm.ts';

// The first is Chromium without its windows, which starts, and opens a page, for a fraction of the processor time.
const usualPlaces = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The window of people at a desk. */
export const desktop = { width: 1280, height: 900 };
/** A window in which an email is written with its preview beside it. */
export const wide = { width: 1600, height: 900 };
/** The window of people with a phone in their hand. */
export const phone = { width: 390, height: 844 };
// A loaded machine may take long over one step; a step that never comes about must still be named before the test runs out.
const patience = 300_000;

let shared: Promise<Browser> | undefined;

/** The Chromium that the test files of a process share. The first one that asks starts it; it ends with the process. */
export async function sharedBrowser(): Promise<Browser> {
  shared ??= startBrowser();
  if (!(await shared).isConnected()) shared = startBrowser();
  return shared;
}

/**
 * Starts the machine's Chromium, with `more` arguments of its command line.
 * @throws when there is none: a test of what people see must not pass unseen
 */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  const setting = process.env.CHROMIUM_PATH;
  const executablePath = (setting ? [setting] : usualPlaces).find(isProgram);
  if (executablePath === undefined)
    throw new Error(
      setting
        ? `CHROMIUM_PATH names ${setting}, which is no program.`
        : `No Chromium was found (${usualPlaces.join(', ')}). Install it (Debian: apt-get install chromium-headless-shell) or set CHROMIUM_PATH to one.`,
    );
  // As root, and in containers, Chromium's own sandbox cannot start.
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...more],
    timeout: patience,
  });
}

/**
 * Does something on a page of a window of its own, which is 1280 pixels wide unless `options` say otherwise, and answers what
 * it answers. Fails when scripts of the page failed, and tells what the page showed when `work` failed.
 */
export async function inPage<T>(
  browser: Browser,
  options: BrowserContextOptions,
  work: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(patience);
  const failures: string[] = [];
  try {
    const page = await context.newPage();
    actWhenCalm(page);
    page.on('pageerror', (error) => failures.push(String(error)));
    const result = await work(page).catch(async (error: unknown) => {
      throw new Error(`${error}\nThe page showed:\n${await shown(page)}`, { cause: error });
    });
    if (failures.length > 0) throw new Error(`Scripts of the page failed: ${failures.join('; ')}`);
    return result;
  } finally {
    await context.close();
  }
}

/** The texts of a page without its navigation, and those of its dialogs. */
async function shown(page: Page): Promise<string> {
  const parts = page.locator('main, [role="dialog"], [role="alertdialog"], [role="alert"]');
  const texts = await parts.allInnerTexts().catch(() => []);
  return [
    page.url(),
    ...(texts.length > 0 ? texts : [await page.textContent('body', { timeout: 1_000 }).catch(() => '')]),
  ]
    .join('\n')
    .replaceAll(/\s*\n\s*/g, ' | ');
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Tells from now on whether every request of the page has been answered. */
export function followRequests(page: Page): () => boolean {
  const open = new Set<Request>();
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return () => open.size === 0;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const allRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules that look at colors, which are all that a theme changes. */
export const colorRules = ['color-contrast', 'link-in-text-block'];

/**
 * What axe-core finds wrong on a page by WCAG 2.2 AA and its best practices, one line for each place. Only what it finds each time
 * that it looks counts: a button that comes back to life while it looks has the colours of both. Only `within` where that is named.
 */
export async function accessibilityProblems(
  page: Page,
  rules: readonly string[] = allRules,
  within: Locator = page.locator('html'),
): Promise<string[]> {
  // Evaluated by the debugger, so that the page's own policy against scripts stands.
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axeSource);
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  for (let looks = 1; ; looks += 1) {
    const found = await axeFindings(within, rules);
    if (found.length === 0 || looks === 3) return found;
    await page.waitForTimeout(500);
    // On a busy machine a transition may be under way for longer.
    await page.waitForFunction(() =>
      document
        .getAnimations()
        .every(({ playState, effect }) => playState !== 'running' || effect?.getTiming().iterations === Infinity),
    );
  }
}

/** The same in both themes: by every rule in the light one, by those on colors in the dark one. The page stays dark. */
export async function problemsInBothThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await accessibilityProblems(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await accessibilityProblems(page, colorRules);
  return [...light.map((problem) => `light: ${problem}`), ...dark.map((problem) => `dark: ${problem}`)];
}

function axeFindings(within: Locator, rules: readonly string[]): Promise<string[]> {
  return within.evaluate(
    async (element, runOnly) => {
      const { axe } = globalThis as unknown as {
        axe: {
          run(
            context: Element,
            options: object,
          ): Promise<{ violations: { id: string; help: string; nodes: { html: string }[] }[] }>;
        };
      };
      const { violations } = await axe.run(element, { runOnly, resultTypes: ['violations'] });
      return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
    },
    [...rules],
  );
}

/** Waits until a page shows what it is made of: its answers are drawn, its pictures and fonts are there, and nothing stands in for a part. */
export async function untilShown(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await untilCalm(page);
  await eventually(() =>
    page.evaluate<boolean>(
      `document.querySelector('[data-slot=loading], [aria-busy=true]') === null && document.fonts.status === 'loaded'
        && [...document.images].every(({ complete, loading }) => complete || loading === 'lazy')`,
    ),
  );
}

/** Holds back what a page asks for at addresses like this one, until `arrive`; `asked` counts how often it did. */
export async function withheld(page: Page, addresses: string): Promise<{ asked: () => number; arrive: () => void }> {
  let count = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    count += 1;
    await promise;
    await route.continue();
  });
  return { asked: () => count, arrive: resolve };
}
