import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { accessibilityProblems, colorRules, phone } from '../support/browser.ts';
import { actWhenCalm, untilCalm } from '../support/calm.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { type DialogSeed, seedDialogs } from '../support/dialog-seed.ts';
import { dialogsByPage, type Opening } from '../support/dialogs.ts';
import { aPerson, joins } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let seed: DialogSeed;
// One window for all of them, which has the scripts of the dashboard in its cache.
let context: BrowserContext;

const desk = { width: 1280, height: 720 };
const anything = '[role=dialog], [role=alertdialog], [role=menu]';

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  const owner = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, owner, 'OWNER');
  seed = await seedDialogs(world, project, owner);
  context = await world.browser.newContext({ viewport: desk, reducedMotion: 'reduce' });
  context.setDefaultTimeout(300_000);
  await context.addInitScript(followFocus);
  const page = await context.newPage();
  await signInAs(page, world.url, owner.session);
  await page.close();
});
afterAll(async () => {
  await context?.close();
  await world?.[Symbol.asyncDispose]();
});

/** Keeps what has had the focus, the latest last; of a menu its button, since what is in a menu is gone with it. Evaluated on the page. */
function followFocus(): void {
  const focused: Element[] = [];
  Object.assign(globalThis, { focused });
  document.addEventListener(
    'focusin',
    ({ target }) => {
      const menu = (target as Element).closest('[role=menu]');
      const element = menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : (target as Element);
      if (element) focused.push(element);
    },
    true,
  );
}

/** Remembers what had the focus before this was opened, and answers whether the focus is in it now. Evaluated on the page. */
function isFocusIn(opened: Element): boolean {
  const { focused } = globalThis as unknown as { focused: Element[] };
  const outside = focused.filter((element) => !opened.contains(element));
  Object.assign(globalThis, {
    before: outside.findLast(({ isConnected }) => isConnected),
    isGone: !outside.at(-1)?.isConnected,
  });
  return opened.contains(document.activeElement);
}

/** Whether the focus is where it was before something was opened that is closed now, or else where it is. Evaluated on the page. */
function misplacedFocus(anyOpen: string): string | null {
  const { before, isGone } = globalThis as unknown as { before: Element | undefined; isGone: boolean };
  const active = document.activeElement;
  if (active === before) return null;
  // What it was opened by is gone with what that was in: the page has the focus, or what is open still and led there.
  const open = [...document.querySelectorAll(anyOpen)].at(-1);
  if (isGone && (open ? open.contains(active) : active?.localName === 'main')) return null;
  const nameOf = (element: Element | null | undefined) =>
    element
      ? `${element.localName} “${element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40)}”`
      : 'nothing';
  return `the focus goes to ${nameOf(active)}, not to ${nameOf(before)}`;
}

/** Does what opens a dialog or a menu, and waits until it is there with what it shows. */
async function open(page: Page, { role, name, steps }: Opening): Promise<Locator> {
  for (const step of steps) {
    if (typeof step === 'function') await step(page, seed);
    else
      await page
        .getByRole('button', { name: step, exact: typeof step === 'string' })
        .first()
        .click();
  }
  const opened = page.getByRole(role, { name, exact: typeof name === 'string' });
  await opened.waitFor();
  await untilCalm(page);
  await eventually(async () => (await opened.locator('[data-slot=loading]').count()) === 0);
  return opened;
}

/** What is wrong with something that is open, at a desk and on a phone, in both themes. */
async function problemsOf(page: Page, opened: Locator): Promise<string[]> {
  const found: string[] = [];
  for (const [place, viewport] of [
    ['desk', desk],
    ['phone', phone],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await accessibilityProblems(page, undefined, opened);
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await accessibilityProblems(page, colorRules, opened);
    found.push(
      ...light.map((problem) => `${place}, light: ${problem}`),
      ...dark.map((each) => `${place}, dark: ${each}`),
    );
    const box = await opened.boundingBox();
    if (box === null) found.push(`${place}: is not there any more`);
    else if (box.x < 0 || box.y < 0 || box.x + box.width > viewport.width || box.y + box.height > viewport.height)
      found.push(`${place}: leaves the window, ${JSON.stringify(box)}`);
    if (await opened.evaluate((element) => element.scrollWidth > element.clientWidth))
      found.push(`${place}: scrolls sideways`);
  }
  await page.setViewportSize(desk);
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

test.concurrent.each(Object.entries(dialogsByPage))(
  'what opens on /%s is accessible in both themes and sizes, takes the focus, and gives it back on Escape',
  async (path, openings) => {
    const page = await context.newPage();
    actWhenCalm(page);
    const failures: string[] = [];
    page.on('pageerror', (error) => failures.push(String(error)));
    try {
      const place = path.replace(/\$(\w+)/g, (whole, name: string) => {
        const id = (seed as unknown as Record<string, unknown>)[name];
        if (typeof id !== 'string') throw new Error(`Nothing is seeded for ${whole}`);
        return id;
      });
      await page.goto(`${world.url}/app/${project.id}/${place}`, { waitUntil: 'load' });
      await page.locator('h1').first().waitFor();
      const found: Record<string, unknown> = {};
      for (const opening of openings) {
        const opened = await open(page, opening);
        const problems = await problemsOf(page, opened);
        if (!(await opened.evaluate(isFocusIn))) problems.push('does not have the focus');
        await page.keyboard.press('Escape');
        if (opening.stays) {
          if ((await opened.count()) !== 1) problems.push('is closed by Escape');
        } else {
          await opened.waitFor({ state: 'detached' });
          const misplaced = () => page.evaluate(misplacedFocus, anything);
          await eventually(async () => (await misplaced()) === null).catch(async () =>
            problems.push(`${await misplaced()}`),
          );
          // What it was opened from is open still.
          for (let left = await page.locator(anything).count(); left > 0; left -= 1) {
            await page.keyboard.press('Escape');
            await eventually(async () => (await page.locator(anything).count()) < left);
          }
        }
        if (problems.length > 0) found[`${opening.file}: ${opening.name}`] = problems;
      }
      expect(found).toEqual({});
      expect(failures).toEqual([]);
    } finally {
      await page.close();
    }
  },
);
