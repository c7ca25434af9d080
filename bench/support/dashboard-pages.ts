import type { Browser, Page, Request } from 'playwright-core';
import { desktop } from '../../test/support/browser.ts';
import { signInAs } from '../../test/support/dashboard-owner.ts';

/** A user of the dashboard. */
export interface Viewer {
  browser: Browser;
  url: string;
  session: Record<string, string>;
}

/** The cost of opening a page by its address; times in milliseconds. */
export interface Opened {
  /** From the request of the address until nothing on the page is loading any more. */
  shown: number;
  calls: number;
  /** The path that was called most, with ids left out, and how often. */
  mostCalled: [path: string, times: number];
  slowest: [path: string, time: number];
}

const longestMs = 60_000;
// So long must a page go on saying that nothing is loading before it is believed.
const settledMs = 400;

/** Opens an address in a new window that has nothing in its cache, waits until it shows all it has, and closes it. */
export function openPage(viewer: Viewer, path: string): Promise<Opened> {
  return inWindow(viewer, async (page) => {
    const calls = callsOf(page);
    await page.addInitScript(whenShown);
    await page.goto(viewer.url + path, { waitUntil: 'commit' });
    const shown = await untilShown(page, calls);
    const problem = await page
      .locator('main [role=alert]')
      .first()
      .textContent({ timeout: 1 })
      .catch(() => null);
    if (problem !== null) throw new Error(`${path} shows a problem: ${problem}`);
    const counts = new Map<string, number>();
    for (const { path: called } of calls.done) counts.set(called, (counts.get(called) ?? 0) + 1);
    const mostCalled = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
    const slowest = calls.done.reduce((one, other) => (other.time > one.time ? other : one), { path: '', time: 0 });
    return { shown, calls: calls.done.length, mostCalled, slowest: [slowest.path, slowest.time] };
  });
}

/** The smoothness of scrolling through a list. */
export interface Scrolled {
  frames: number;
  /** Frames that took longer than 100 ms, and the longest, in milliseconds. */
  slow: number;
  longest: number;
  /** The most rows that existed at any moment, and the place that was reached, counted in rows. */
  mostRows: number;
  reached: number;
}

/** Scrolls the list of a page (`[data-slot=rows]`) downwards for some seconds, a sixth of its height with each frame. */
export function scrollList(viewer: Viewer, path: string, seconds: number, prepare?: (page: Page) => Promise<void>) {
  return inWindow(viewer, async (page) => {
    const calls = callsOf(page);
    await page.addInitScript(whenShown);
    await page.goto(viewer.url + path, { waitUntil: 'commit' });
    await untilShown(page, calls);
    await prepare?.(page);
    await page.locator('[data-slot=rows] li').first().waitFor();
    const scrolled = await page.evaluate<Scrolled>(`(${scrolling})(${seconds * 1_000})`);
    return { ...scrolled, calls: calls.done.length };
  });
}

/** Opens an address with a script of one's own, waits until it shows all it has, and does something there. `before` is done first. */
export function atPage<T>(
  viewer: Viewer,
  path: string,
  script: string,
  work: (page: Page) => Promise<T>,
  before?: (page: Page) => Promise<void>,
): Promise<T> {
  return inWindow(viewer, async (page) => {
    const calls = callsOf(page);
    await page.addInitScript(whenShown);
    await page.addInitScript(script);
    await before?.(page);
    await page.goto(viewer.url + path, { waitUntil: 'commit' });
    await untilShown(page, calls);
    return work(page);
  });
}

async function inWindow<T>({ browser, url, session }: Viewer, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: desktop });
  context.setDefaultTimeout(longestMs);
  try {
    const page = await context.newPage();
    await signInAs(page, url, session);
    return await work(page);
  } finally {
    await context.close();
  }
}

interface Calls {
  underWay: Set<Request>;
  done: { path: string; time: number }[];
}

const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function callsOf(page: Page): Calls {
  const calls: Calls = { underWay: new Set(), done: [] };
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch' || request.resourceType() === 'xhr') calls.underWay.add(request);
  });
  const over = (request: Request) => {
    if (!calls.underWay.delete(request)) return;
    const { pathname, search } = new URL(request.url());
    const path = `${request.method()} ${`${pathname}${search}`.replaceAll(id, ':id').replace(/\?.*/, '')}`;
    calls.done.push({
      path,
      time: Math.max(0, request.timing().responseEnd - Math.max(0, request.timing().requestStart)),
    });
  };
  page.on('requestfinished', over);
  page.on('requestfailed', over);
  return calls;
}

async function untilShown(page: Page, { underWay }: Calls): Promise<number> {
  const began = Date.now();
  for (;;) {
    const shown = await page.evaluate<number | null>('window.shownAt ?? null').catch(() => null);
    const now = await page.evaluate<number>('performance.now()').catch(() => 0);
    if (shown !== null && underWay.size === 0 && now - shown > settledMs) return shown;
    if (Date.now() - began > longestMs) throw new Error(`${page.url()} was still loading after a minute`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Notes when the page last began to have a heading and nothing that is loading, in milliseconds since it was asked for.
const whenShown = `(() => {
  const look = () => {
    const complete = document.querySelector('main h1') !== null && document.querySelector('[data-slot=loading]') === null;
    if (!complete) window.shownAt = null;
    else window.shownAt ??= performance.now();
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})()`;

const scrolling = `async (forMs) => {
  const list = document.querySelector('[data-slot=rows]');
  const found = { frames: 0, slow: 0, longest: 0, mostRows: 0, reached: 0 };
  const frame = () => new Promise(requestAnimationFrame);
  const began = await frame();
  let before = began;
  while (before - began < forMs) {
    list.scrollTop += list.clientHeight / 6;
    const now = await frame();
    const took = now - before;
    before = now;
    found.frames += 1;
    if (took > 100) found.slow += 1;
    found.longest = Math.max(found.longest, took);
    found.mostRows = Math.max(found.mostRows, list.querySelectorAll('li').length);
    const last = list.querySelector('li:last-of-type');
    found.reached = Math.max(found.reached, Number(last?.getAttribute('aria-posinset') ?? 0));
  }
  return found;
}`;
