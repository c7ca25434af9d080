import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { untilCalm } from './calm.ts';

/** A file that somebody chooses. */
export interface ChosenFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

type Target = Locator | string;

/** What somebody does on a page, with whatever they work. A text names a button to press, or a field by its label. */
export interface Hand {
  /** Presses a button, a link, an item of a menu, a tab or a step. */
  press(target: Target): Promise<void>;
  /** Replaces what a field says. */
  type(target: Target, text: string): Promise<void>;
  /** Chooses the option of a list that reads so. */
  pick(target: Target, option: string): Promise<void>;
  /** Checks a box, or chooses one of several. */
  check(target: Target): Promise<void>;
  attach(target: Target, file: ChosenFile): Promise<void>;
  /** Selects the block of an email that says this. */
  selectBlock(body: Locator, text: string): Promise<void>;
}

const button = (page: Page, target: Target) =>
  typeof target === 'string' ? page.getByRole('button', { name: target, exact: true }) : target;
const field = (page: Page, target: Target) =>
  typeof target === 'string' ? page.getByLabel(target, { exact: true }) : target;

/** Works by mouse. */
export const mouse = (page: Page): Hand => ({
  press: (target) => button(page, target).click(),
  type: (target, text) => field(page, target).fill(text),
  async pick(target, option) {
    await field(page, target).selectOption({ label: option });
  },
  check: (target) => field(page, target).check(),
  attach: (target, file) => field(page, target).setInputFiles(file),
  selectBlock: (body, text) => body.getByText(text).click(),
});

/**
 * Works by keys alone. Each target is reached from where the focus is, and a focus that was lost, a place that shows no focus and one
 * that is too far away fail the test.
 */
export function keyboard(page: Page, farthest = 70): Hand {
  let before: string | undefined;
  const key = (name: string) => page.keyboard.press(name);
  // Heard from the beginning: a key may open the chooser of files sooner than the browser is told to hand it over.
  let chosen: ChosenFile | undefined;
  page.on('filechooser', async (chooser) => {
    if (chosen) await chooser.setFiles(chosen);
    chosen = undefined;
  });
  /** Gives the focus to the target by the keys that lead there. */
  const reach = async (target: Locator): Promise<Locator> => {
    await target.waitFor();
    await untilCalm(page);
    if (before !== undefined)
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.tagName), {
          message: `lost the focus after ${before}`,
        })
        .not.toBe('BODY');
    const passed: string[] = [];
    for (;;) {
      const next = await target.evaluate(keyTowards);
      if (next === null) break;
      if (passed.length === farthest) throw new Error(`${target} is out of reach. Passed: ${passed.join(', ')}`);
      await key(next);
      const stop = await page.evaluate(focusOf);
      passed.push(stop.name);
      if (!stop.isShown) throw new Error(`The focus is not seen on ${stop.name}. Passed: ${passed.join(', ')}`);
    }
    before = String(target);
    return target;
  };
  return {
    async press(target) {
      const pressed = await reach(button(page, target));
      await expect.poll(() => pressed.isEnabled()).toBe(true);
      await key('Enter');
    },
    async type(target, text) {
      await reach(field(page, target));
      await key('ControlOrMeta+a');
      if (text === '') await key('Delete');
      else await page.keyboard.type(text);
    },
    async pick(target, option) {
      const list = await reach(field(page, target));
      await list.locator('option', { hasText: option }).first().waitFor({ state: 'attached' });
      await page.keyboard.type(option);
      const chosen = () => list.evaluate((element) => (element as HTMLSelectElement).selectedOptions[0]?.label.trim());
      await expect.poll(chosen).toBe(option);
    },
    async check(target) {
      const box = await reach(field(page, target));
      if (!(await box.isChecked())) await key('Space');
      await expect.poll(() => box.isChecked()).toBe(true);
    },
    async attach(target, file) {
      await reach(field(page, target));
      chosen = file;
      await key('Enter');
      await expect.poll(() => chosen).toBe(undefined);
    },
    async selectBlock(body, text) {
      await reach(body);
      await key('ControlOrMeta+Home');
      const selected = body.locator('.ProseMirror-selectednode', { hasText: text });
      for (let lines = 0; (await selected.count()) === 0; lines += 1) {
        if (lines === farthest) throw new Error(`No block that says “${text}” was selected.`);
        await key('ArrowDown');
      }
    },
  };
}

/** The key that leads from the focus towards an element; null once it has the focus. */
function keyTowards(target: Element): string | null {
  const active = document.activeElement ?? document.body;
  if (active === target) return null;
  if (target.closest('[role=menu]')?.contains(active)) return 'ArrowDown';
  const list = target.closest('[role=tablist]');
  if (list?.contains(active)) return 'ArrowRight';
  const { name, type } = target as HTMLInputElement;
  if (type === 'radio' && active instanceof HTMLInputElement && active.type === type && active.name === name)
    return 'ArrowDown';
  const isBefore = target.compareDocumentPosition(active) & Node.DOCUMENT_POSITION_FOLLOWING;
  return isBefore && active !== document.body ? 'Shift+Tab' : 'Tab';
}

/** What has the focus on a page. */
interface Focus {
  name: string;
  /** Whether people see it: by a ring on it or around it, or by the cursor of a text. */
  isShown: boolean;
  isInMain: boolean;
  isPrimary: boolean;
}

/** Tells what has the focus; evaluated on the page. */
export function focusOf(): Focus {
  const active = document.activeElement ?? document.body;
  const labels = [...((active as HTMLInputElement).labels ?? [])].map((label) => label.textContent);
  const name = active.getAttribute('aria-label') ?? (labels.join(' ') || active.textContent) ?? '';
  const isOutlined = (element: Element | null) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element ?? document.body);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
  };
  const path = active.querySelector('.react-flow__edge-path');
  const isThick = path !== null && Number.parseFloat(getComputedStyle(path).strokeWidth) >= 3;
  const isText = active.matches('[contenteditable=true]');
  const isShown = isText || isThick || isOutlined(active) || isOutlined(active.parentElement);
  return {
    name: `${active.role ?? active.tagName.toLowerCase()} “${name.trim().slice(0, 40)}”`,
    isShown: isShown || active.matches('body, main, iframe'),
    isInMain: active.matches('main *'),
    isPrimary: active.matches('.bg-solid'),
  };
}
