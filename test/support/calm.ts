import type { Locator, Page, Request } from 'playwright-core';

// Longer than a page takes to load on a loaded machine; a test that holds a request back goes on after it.
const longestMs = 2_000;
// What an answer changes is drawn within two frames of it.
const drawnAfterMs = 100;

const actions = [
  'click',
  'dblclick',
  'fill',
  'clear',
  'check',
  'uncheck',
  'selectOption',
  'press',
  'pressSequentially',
  'setInputFiles',
  'dragTo',
] as const;

/** Follows the requests of a page. */
class Traffic {
  readonly #open = new Set<Request>();
  #endedAt = 0;

  constructor(page: Page) {
    const end = (request: Request) => {
      if (this.#open.delete(request)) this.#endedAt = performance.now();
    };
    page.on('request', (request) => this.#open.add(request));
    page.on('requestfinished', end);
    page.on('requestfailed', end);
  }

  /** Whether nothing is being loaded, and what was has been drawn. */
  get isCalm(): boolean {
    return this.#open.size === 0 && performance.now() - this.#endedAt > drawnAfterMs;
  }
}

const followed = new WeakMap<Page, Traffic>();
let isSet = false;

/**
 * Lets actions on a page wait, for two seconds at most, until it has loaded and drawn what it asks the service for, as people do: of a press
 * whose target moves between the button's going down and coming up, the browser makes no click. Opening an address ends as late, so that
 * what is measured next is the page and not what stands in for it.
 */
export function actWhenCalm(page: Page): void {
  followed.set(page, new Traffic(page));
  const goto = page.goto.bind(page);
  page.goto = async (...given) => {
    const response = await goto(...given);
    await untilCalm(page);
    return response;
  };
  if (isSet) return;
  isSet = true;
  const prototype = Object.getPrototypeOf(page.locator('body')) as Record<
    (typeof actions)[number],
    (this: Locator, ...given: unknown[]) => Promise<unknown>
  >;
  for (const action of actions) {
    const act = prototype[action];
    prototype[action] = async function (...given) {
      await untilCalm(this.page());
      return act.apply(this, given);
    };
  }
}

/** Waits until a page has loaded and drawn what it asks for, for two seconds at most. */
export async function untilCalm(page: Page): Promise<void> {
  const traffic = followed.get(page);
  const until = performance.now() + longestMs;
  while (traffic !== undefined && !traffic.isCalm && performance.now() < until) await page.waitForTimeout(20);
}
