import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems, phone, problemsInBothThemes } from '../support/browser.ts';
import { type DesignerWorld, designerWorld, press, stepOn } from '../support/designer.ts';

let designer: DesignerWorld;

beforeAll(async () => {
  designer = await designerWorld();
}, 180_000);
afterAll(() => designer?.[Symbol.asyncDispose]());

/** An automation that is higher than any window: TRIGGER → Tag 1. → … → Tag 12. */
async function tall(name: string): Promise<string> {
  const { id } = await designer.own.automation({ name });
  for (let n = 1; n <= 12; n += 1)
    await designer.own.step(
      id,
      n === 7 ? 'UPDATE_CONTACT' : 'DELAY',
      n === 7 ? { updates: { stage: 'half' } } : { amount: n, unit: 'days' },
      { name: `Tag ${n}.`, position: { x: 100, y: 100 + n * 180 } },
    );
  return id;
}

const boxOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).first().boundingBox();
  if (box === null) throw new Error(`${selector} is not to be seen`);
  return box;
};

test('the graph takes what head, bar and panel leave of the window, at every size, and nothing scrolls beside it', async () => {
  const { inDashboard, open } = designer;
  const id = await tall('Ganz hoch');
  await inDashboard(async (page) => {
    for (const size of [
      { width: 1280, height: 800 },
      { width: 1920, height: 1080 },
      { width: 800, height: 1000 },
      phone,
    ]) {
      await page.setViewportSize(size);
      await open(page, `workflows/${id}`);
      await stepOn(page, 'Tag 12.').waitFor();
      const scrolls = await page.evaluate(() =>
        [document.documentElement, document.querySelector('main')].map((part) =>
          part ? [part.scrollHeight > part.clientHeight, part.scrollWidth > part.clientWidth] : null,
        ),
      );
      expect([size.width, ...scrolls]).toEqual([size.width, [false, false], [false, false]]);
      const [head, flow, bar] = [
        await boxOf(page, 'main header'),
        await boxOf(page, '.react-flow'),
        await boxOf(page, '.designer-bar'),
      ];
      const foot = await boxOf(page, '.canvas-foot');
      // The rest of the window, but for the page's own margins.
      const rest = size.height - (head.y + head.height) - bar.height - foot.height;
      expect(Math.round(rest - flow.height)).toBeLessThanOrEqual(32);
      // One line of buttons.
      expect(bar.height).toBeLessThan(48);
      expect(await page.locator('.designer-bar').evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(false);
    }
    expect(await problemsInBothThemes(page)).toEqual([]);
    // On a phone the panel comes when something is selected, and leaves what is selected in sight.
    await stepOn(page, 'Tag 1.').click();
    await page.getByRole('complementary', { name: 'Selection' }).waitFor();
    const step = await boxOf(page, '.react-flow__node:has(.step[data-selected=true])');
    const flow = await boxOf(page, '.react-flow');
    expect(step.y).toBeGreaterThanOrEqual(flow.y);
    expect(step.y + step.height).toBeLessThanOrEqual(flow.y + flow.height);
    await press(page, 'Side panel');
    await page.getByRole('complementary', { name: 'Selection' }).waitFor({ state: 'detached' });
  });
});

test('a step is found by name and by type, with the keyboard and with the mouse, and shown in the middle', async () => {
  const { inDashboard, open } = designer;
  const id = await tall('Suchen');
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Tag 12.').waitFor();
    const isCentered = async (name: string) => {
      const [flow, step] = [await boxOf(page, '.react-flow'), await stepOn(page, name).boundingBox()];
      if (step === null) return false;
      const [x, y] = [step.x + step.width / 2 - flow.x, step.y + step.height / 2 - flow.y];
      return Math.abs(x - flow.width / 2) < 40 && Math.abs(y - flow.height / 2) < 40;
    };
    const search = page.getByRole('combobox', { name: 'Find a step' });
    await stepOn(page, 'Trigger').focus();
    await page.keyboard.press('/');
    await search.waitFor();
    await page.keyboard.type('tag 11');
    await expect.poll(() => page.getByRole('option').count()).toBe(1);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Tag 11.' }).waitFor();
    await expect.poll(() => isCentered('Tag 11.')).toBe(true);
    // The focus is on it, so arrows go on from there.
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { level: 2, name: 'Tag 12.' }).waitFor();

    await page.locator('.react-flow__pane').click({ position: { x: 20, y: 200 } });
    await page.keyboard.press('Control+f');
    await search.fill('update contact');
    await page.getByRole('option', { name: 'Tag 7.' }).click();
    await page.getByRole('heading', { level: 2, name: 'Tag 7.' }).waitFor();
    await expect.poll(() => isCentered('Tag 7.')).toBe(true);

    await press(page, 'Find a step');
    await search.fill('nowhere');
    await page.getByText('No step matches “nowhere”').waitFor();
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    // What was selected still is.
    await page.getByRole('heading', { level: 2, name: 'Tag 7.' }).waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);
  });
});
