import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems, phone, problemsInBothThemes } from '../support/browser.ts';
import { type DesignerWorld, designerWorld, press, save, stepOn } from '../support/designer.ts';

let designer: DesignerWorld;

beforeAll(async () => {
  designer = await designerWorld();
});
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
      // The rest of the window, but for the page's own margins. What is still being loaded may make the head or the bar higher.
      const beside = () =>
        page.evaluate(() => {
          const heights = ['.react-flow', '.designer-bar', '.canvas-foot'].map(
            (each) => document.querySelector(each)?.getBoundingClientRect().height ?? Number.NaN,
          );
          const head = document.querySelector('main header')?.getBoundingClientRect().bottom ?? Number.NaN;
          return Math.round(innerHeight - head - heights.reduce((sum, height) => sum + height, 0));
        });
      await expect.poll(beside).toBeLessThanOrEqual(32);
      const bar = await boxOf(page, '.designer-bar');
      // One line of buttons.
      expect(bar.height).toBeLessThan(48);
      await expect
        .poll(() => page.locator('.designer-bar').evaluate((each) => each.scrollWidth > each.clientWidth))
        .toBe(false);
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
    await expect.poll(() => page.getByRole('listbox', { name: 'Steps found' }).getByRole('option').count()).toBe(1);
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

test('steps are copied, cut, pasted and duplicated with the keyboard, into another workflow as well, and undone', async () => {
  const { own, inDashboard, open } = designer;
  const id = await tall('Von hier');
  const other = await own.automation({ name: 'Nach dort' });
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Tag 2.').waitFor();
    await stepOn(page, 'Tag 2.').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByRole('heading', { level: 2, name: '2 steps selected' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Control+c');
    await page.getByText('2 steps copied').waitFor();
    await page.keyboard.press('Control+v');
    // They have names of their own, the path between them, and are selected.
    await stepOn(page, 'Tag 2. 2').waitFor();
    await stepOn(page, 'Tag 3. 2').waitFor();
    await page.getByText('3 changes not saved').waitFor();
    await page.keyboard.press('Control+z');
    await page.getByText('No changes', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Workflows', exact: true }).first().click();
    await page.getByRole('link', { name: 'Nach dort' }).click();
    await stepOn(page, 'Trigger').waitFor();
    await stepOn(page, 'Trigger').focus();
    await page.keyboard.press('Control+v');
    await stepOn(page, 'Tag 2.').waitFor();
    await save(page);
    expect(await own.ways(other.id)).toEqual(['Tag 2. → Tag 3.']);

    await stepOn(page, 'Tag 3.').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+d');
    await page.getByRole('heading', { level: 2, name: 'Tag 3. 2' }).waitFor();
    await stepOn(page, 'Tag 2.').focus();
    await page.keyboard.press('Control+a');
    await page.getByRole('heading', { level: 2, name: '4 steps selected' }).waitFor();
    await page.keyboard.press('Control+x');
    // The trigger stays.
    await page.getByText('3 steps cut').waitFor();
    await expect.poll(() => page.locator('.react-flow__node').count()).toBe(1);
    await press(page, 'Undo');
    await expect.poll(() => page.locator('.react-flow__node').count()).toBe(4);
  });
  // The first workflow is as it was.
  expect((await own.done('GET', `/workflows/${id}`)).steps).toHaveLength(13);
});

test('with the mouse: steps are selected by clicks and by a frame, copied from the menu, and deleted together', async () => {
  const { own, inDashboard, open } = designer;
  const id = await tall('Mit Maus');
  await inDashboard(async (page) => {
    await page.setViewportSize({ width: 1280, height: 1150 });
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Tag 12.').waitFor();
    // Both are in sight at first: what is not, a pointer cannot reach.
    await stepOn(page, 'Tag 2.').click();
    await page.getByRole('heading', { level: 2, name: 'Tag 2.' }).waitFor();
    // A hand that trembles draws a frame of some pixels, which holds nothing.
    const below = await boxOf(page, '.react-flow__node:has-text("Tag 3.")');
    await page.keyboard.down('Shift');
    await page.locator('.react-flow__pane.selection').waitFor();
    await page.mouse.move(below.x + below.width / 2, below.y + below.height / 2);
    await page.mouse.down();
    await page.mouse.move(below.x + below.width / 2 + 2, below.y + below.height / 2 + 1, { steps: 2 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.getByRole('heading', { level: 2, name: '2 steps selected' }).waitFor();
    await stepOn(page, 'Tag 1.').click({ modifiers: ['Shift'] });
    await page.getByRole('heading', { level: 2, name: '3 steps selected' }).waitFor();
    await stepOn(page, 'Tag 1.').click({ modifiers: ['Shift'] });
    await page.getByRole('heading', { level: 2, name: '2 steps selected' }).waitFor();
    await press(page, 'Edit steps');
    await page.getByRole('menuitem', { name: 'Copy' }).click();
    await page.getByText('2 steps copied').waitFor();
    await press(page, 'Edit steps');
    await page.getByRole('menuitem', { name: 'Paste' }).click();
    await stepOn(page, 'Tag 3. 2').waitFor();
    await page.getByRole('complementary', { name: 'Selection' }).getByRole('button', { name: 'Delete steps' }).click();
    await stepOn(page, 'Tag 3. 2').waitFor({ state: 'detached' });
    await page.getByText('No changes', { exact: true }).waitFor();

    // A frame around the first three, which the beginning of the graph shows.
    await page.getByRole('button', { name: 'Fit View' }).click();
    const canvas = await boxOf(page, '.react-flow');
    const bottomOf = async (name: string) => {
      const box = await stepOn(page, name).boundingBox();
      return box === null ? 0 : box.y + box.height;
    };
    await expect.poll(() => bottomOf('Tag 3.')).toBeLessThan(canvas.y + canvas.height);
    await expect.poll(() => bottomOf('Trigger')).toBeGreaterThan(canvas.y);
    const [first, third] = [await stepOn(page, 'Tag 1.').boundingBox(), await stepOn(page, 'Tag 3.').boundingBox()];
    if (first === null || third === null) throw new Error('A step is not to be seen');
    await page.keyboard.down('Shift');
    await page.locator('.react-flow__pane.selection').waitFor();
    await page.mouse.move(first.x - 30, first.y - 4);
    await page.mouse.down();
    await page.mouse.move(third.x + third.width + 30, third.y + third.height + 2, { steps: 8 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.getByRole('heading', { level: 2, name: '3 steps selected' }).waitFor();
    await page.keyboard.press('Delete');
    await page.getByText('3 steps deleted').waitFor();
    await save(page);
    expect(await problemsInBothThemes(page)).toEqual([]);
  });
  // What led to them leads past them.
  expect(await own.ways(id)).toContain('Trigger: user.signup → Tag 4.');
});

test('text that holds no steps is not pasted, and the reason is said', async () => {
  const { inDashboard, open } = designer;
  const id = await tall('Nichts da');
  await inDashboard(async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Tag 1.').waitFor();
    await page.evaluate(() =>
      navigator.clipboard.writeText('{"type":"fernpost/workflow-steps","version":1,"steps":[{}]}'),
    );
    await stepOn(page, 'Tag 1.').focus();
    await page.keyboard.press('Control+v');
    await page.getByText('The clipboard has no workflow steps.').waitFor();
    await page.getByText('No changes', { exact: true }).waitFor();
  });
});

test('a note is written at a step, shown on the canvas, read aloud and named before publishing', async () => {
  const { own, inDashboard, open, waiting } = designer;
  const { id, wait } = await waiting('Mit Notiz');
  const text = 'Frag Jördis, bevor du das kürzt 🪶';
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Wait a month').waitFor();
    await stepOn(page, 'Wait a month').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Note', { exact: true }).fill(text);
    await stepOn(page, 'Wait a month').locator('.step-note').getByText(text).waitFor();
    await expect.poll(() => stepOn(page, 'Wait a month').getAttribute('aria-label')).toContain(`Note: ${text}`);
    expect(await problemsInBothThemes(page)).toEqual([]);
    await press(page, 'Review and publish');
    await page.getByRole('dialog').getByText('(note)').waitFor();
    await press(page, 'Publish');
    await page.getByText('No changes', { exact: true }).waitFor();
    await page.reload();
    await stepOn(page, text).waitFor();
  });
  const { steps } = await own.done('GET', `/workflows/${id}`);
  expect(steps.find((step: { id: string }) => step.id === wait).note).toBe(text);
});

test('paths show who took them and who dropped off, in the time that is chosen, in words as well', async () => {
  const { own, inDashboard, open, world } = designer;
  const { id } = await own.automation({ name: 'Figuren' });
  const ask = await own.step(
    id,
    'CONDITION',
    { field: 'data.plan', operator: 'equals', value: 'pro' },
    { name: 'Pays?', position: { x: 100, y: 280 } },
  );
  const wait = await own.step(
    id,
    'DELAY',
    { amount: 30, unit: 'days' },
    { name: 'A month', position: { x: 100, y: 480 } },
  );
  const done = await own.step(id, 'EXIT', {}, { name: 'Over', position: { x: 100, y: 680 } });
  await own.connect(id, ask, wait, { branch: 'yes' });
  await own.connect(id, ask, done, { branch: 'no' });
  await own.enable(id);
  const runs: string[] = [];
  for (const [n, plan] of ['pro', 'pro', 'pro', 'free', 'free'].entries()) {
    const contactId = await own.contact(`figures-${n}@wattenmeer.test`, { plan });
    runs.push((await own.done('POST', `/workflows/${id}/executions`, { contactId })).id);
  }
  const waiting = () => own.done('GET', `/workflows/${id}/executions?status=WAITING`);
  await expect.poll(async () => (await waiting()).total).toBe(3);
  await own.done('DELETE', `/workflows/${id}/executions/${runs[0]}`);
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await page.getByText('yes · 3 · 60%', { exact: true }).waitFor();
    await page.getByText('no · 2 · 40%', { exact: true }).waitFor();
    await page.getByText('−33%', { exact: true }).waitFor();
    await stepOn(page, 'A month').getByText('1 dropped off (33%)').waitFor();
    const words =
      '0 of 3 contacts that reached “A month” took this path (0%). 1 dropped off (33%) at this step. 2 are still there.';
    // For the pointer, and for whoever comes by keyboard or hears the page.
    await page.locator('.path-label', { hasText: '−33%' }).hover();
    await page.getByRole('tooltip', { name: words }).waitFor();
    await page.mouse.move(5, 5, { steps: 5 });
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
    const path = page.getByRole('group', { name: `Path from A month to Over. ${words}` });
    await path.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Selection' }).getByText(words).waitFor();
    expect(await problemsInBothThemes(page)).toEqual([]);

    await world.database.db.count(
      `update automation_step_runs set started_at = started_at - interval '8 days' where step_id = $1`,
      [ask],
    );
    const period = page.getByLabel('Path counts:');
    await period.selectOption({ label: 'Last 7 days' });
    await page.getByText('yes · 3 · 60%', { exact: true }).waitFor({ state: 'detached' });
    await page.getByText('−33%', { exact: true }).waitFor();
    await period.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByText('yes · 3 · 60%', { exact: true }).waitFor();
    await expect.poll(() => period.inputValue()).toBe('30');
  });
});

/** An automation of sixty steps below each other: Trigger → Tag 1. → … → Tag 59. */
async function sixtySteps(workflow: string): Promise<{ id: string; names: string[] }> {
  const { own } = designer;
  const { id, trigger } = await own.automation({ name: workflow });
  const names = Array.from({ length: 59 }, (_, n) => `Tag ${n + 1}.`);
  const step = (name: string, n: number) => ({
    id: name,
    type: 'DELAY',
    name,
    position: { x: 100, y: n * 190 },
    config: { amount: 1, unit: 'days' },
  });
  await own.done('PUT', `/workflows/${id}/graph`, {
    steps: [
      {
        id: trigger,
        type: 'TRIGGER',
        name: 'Trigger',
        position: { x: 100, y: 0 },
        config: { eventName: 'user.signup' },
      },
      ...names.map((name, n) => step(name, n + 1)),
    ],
    transitions: names.map((name, n) => ({ fromStepId: n === 0 ? trigger : names[n - 1], toStepId: name })),
  });
  return { id, names };
}

test('of sixty steps those in sight are drawn at first, and all once the page is used, or after a while', async () => {
  const { inDashboard, open } = designer;
  const { id } = await sixtySteps('Nur das Sichtbare');
  const nodes = (page: Page) => page.locator('.react-flow__node').count();
  // Notes how many nodes there are after each change; with `isPatient` no time that passes has the others drawn.
  const watch = (page: Page, isPatient: boolean) =>
    page.addInitScript((waits) => {
      const all = globalThis as unknown as { drawn: number[] };
      all.drawn = [];
      new MutationObserver(() => {
        const count = document.querySelectorAll('.react-flow__node').length;
        if (count > 0 && count !== all.drawn.at(-1)) all.drawn.push(count);
      }).observe(document, { childList: true, subtree: true });
      const later = globalThis.setTimeout;
      const patient = (call: () => void, ms?: number) => (ms === 3_000 ? 0 : later(call, ms));
      if (waits) globalThis.setTimeout = patient as typeof setTimeout;
    }, isPatient);
  await inDashboard(async (page) => {
    await watch(page, true);
    await open(page, `workflows/${id}`);
    await page.getByText('No changes', { exact: true }).waitFor();
    await stepOn(page, 'Tag 2.').waitFor();
    const atFirst = await nodes(page);
    expect(atFirst).toBeLessThan(12);
    // A path leads on to what is not drawn, and the minimap shows the whole graph.
    const last = await page.locator('.react-flow__node').last().textContent();
    const names = await page.locator('.react-flow__edge').evaluateAll((all) => all.map((each) => each.ariaLabel));
    expect(names).toContainEqual(expect.stringMatching(`^Path from ${last?.match(/Tag \d+\./)?.[0]} to`));
    expect(await page.locator('.react-flow__minimap-node').count()).toBe(60);
    const path = page.locator('.react-flow__edge-path').last();
    const [drawn, place] = [await path.getAttribute('d'), await stepOn(page, 'Tag 2.').boundingBox()];
    await page.mouse.move(300, 300);
    await page.mouse.move(320, 320);
    await expect.poll(() => nodes(page)).toBe(60);
    expect(await page.evaluate('drawn')).toEqual([expect.any(Number), 60]);
    // What was in sight stays where it was.
    expect(await stepOn(page, 'Tag 2.').boundingBox()).toEqual(place);
    expect(await page.locator(`.react-flow__edge-path[d="${drawn}"]`).count()).toBe(1);
  });
  // A screen reader needs neither pointer nor keys of the page.
  await inDashboard(async (page) => {
    await watch(page, false);
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Tag 59.').waitFor();
    const drawn = await page.evaluate<number[]>('drawn');
    expect(drawn[0]).toBeLessThan(12);
    expect(drawn.at(-1)).toBe(60);
  });
});

test('sixty steps are readable: Arrange makes columns, fit stops at legible text, and the outline leads to any step', async () => {
  const { inDashboard, open } = designer;
  const { id, names } = await sixtySteps('Sechzig Schritte');
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await stepOn(page, 'Tag 59.').waitFor();
    const zoom = () =>
      page.locator('.react-flow__viewport').evaluate((each) => new DOMMatrix(getComputedStyle(each).transform).a);
    // The smallest text of a step has 12 px.
    await expect.poll(async () => 12 * (await zoom())).toBeGreaterThanOrEqual(11);
    await press(page, 'Arrange');
    const lefts = () =>
      page
        .locator('.react-flow__node')
        .evaluateAll((all) => new Set(all.map((each) => Math.round(each.getBoundingClientRect().x))).size);
    await expect.poll(lefts).toBeGreaterThan(3);
    await press(page, 'Zoom Out');
    await press(page, 'Zoom Out');
    await press(page, 'Zoom Out');
    await expect.poll(async () => 12 * (await zoom())).toBeLessThan(11);
    await press(page, 'Fit View');
    await expect.poll(async () => 12 * (await zoom())).toBeGreaterThanOrEqual(11);
    // The beginning of the graph is what it shows.
    const isInSight = async (name: string) => {
      const [flow, box] = [await boxOf(page, '.react-flow'), await stepOn(page, name).boundingBox()];
      return (
        box !== null &&
        box.x >= flow.x &&
        box.y >= flow.y &&
        box.x + box.width <= flow.x + flow.width &&
        box.y + box.height <= flow.y + flow.height
      );
    };
    await expect.poll(() => isInSight('Trigger')).toBe(true);
    // Below the buttons above it, one of which ends at the trigger's left.
    const below = await boxOf(page, '.step-search');
    const isCovered = async () => {
      const trigger = await stepOn(page, 'Trigger').boundingBox();
      return trigger === null || (trigger.y < below.y + below.height && trigger.x < below.x + below.width);
    };
    await expect.poll(isCovered).toBe(false);

    await press(page, 'Outline');
    const outline = page.getByRole('navigation', { name: 'Outline' });
    expect(await outline.getByRole('button').allTextContents()).toEqual(
      ['Trigger', ...names].map((name, n) => expect.stringContaining(`${n + 1}${name}`)),
    );
    // By keyboard alone, and the focus stays in the list.
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Tag 58.' }).waitFor();
    await expect.poll(() => isInSight('Tag 58.')).toBe(true);
    // Beside the outline, not below it.
    const { x, width } = await boxOf(page, 'nav[aria-label="Outline"]');
    await expect.poll(async () => (await stepOn(page, 'Tag 58.').boundingBox())?.x).toBeGreaterThan(x + width);
    await expect.poll(() => outline.locator('[aria-current]').textContent()).toContain('Tag 58.');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Tag 58.');
    expect(await problemsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await outline.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Outline');
  });
});
