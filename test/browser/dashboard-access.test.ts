import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { desktop, phone, problemsInBothThemes } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { outsidePlaces, placeOf, projectPlaces, type Seeded, seedDashboard } from '../support/dashboard-seed.ts';
import { focusOf } from '../support/hands.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

const dist = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url));
let world: DashboardWorld;
let project: TestProject;
let person: Person;
let seeded: Seeded;

beforeAll(async () => {
  world = await dashboardWorld();
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await joins(world.database.db, project.id, person, 'OWNER');
  seeded = await seedDashboard({ url: world.url, project, sender: project.sender });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const signedIn = (page: Page) => signInAs(page, world.url, person.session);

/** Opens an address and waits until it has what it shows. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(world.url + path, { waitUntil: 'load' });
  await page.locator('h1').first().waitFor();
  await page.waitForLoadState('networkidle');
  await settled(page);
}
/** What the page has loaded of the dashboard, compressed, in bytes; also what came from the cache of the window. */
async function weightOf(page: Page): Promise<number> {
  const loaded = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`,
  );
  const named = new Set(loaded.filter((path) => path.startsWith('/assets/')).map((path) => path.slice(1)));
  expect([...named].some((name) => name.endsWith('.js'))).toBe(true);
  return ['index.html', ...named]
    .map((name) => statSync(join(dist, existsSync(join(dist, `${name}.br`)) ? `${name}.br` : name)).size)
    .reduce((sum, size) => sum + size, 0);
}
// What is only needed to change a page, such as the editors of emails and of HTML, menus and dialogs, is loaded once somebody
// uses the page. The canvas of workflows comes with the page that it is for.
const kilobyte = 1_000;
const heaviest = (path: string) =>
  /\/workflows\/[^/]+(\/executions\/[^/]+)?$/.test(path)
    ? 228 * kilobyte
    : /\/(templates|campaigns)\/[^/]+$/.test(path)
      ? 222 * kilobyte
      : 195 * kilobyte;
const settled = (page: Page) => eventually(async () => (await page.locator('[data-slot=loading]').count()) === 0);

interface Control {
  kind: string;
  /** Drawn by our styles, or covered by what is. */
  isOurs: boolean;
}

// What can be read of a page or is read aloud, without the sources of emails and code.
const texts = `(() => {
  const isSource = (element) => element.closest('pre, code, textarea, script, style, [contenteditable], .cm-editor') !== null;
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { parentElement: parent, data } = walk.currentNode;
    if (data.trim() !== '' && !isSource(parent) && (parent.checkVisibility() || parent.closest('option'))) found.push(data.trim());
  }
  for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
    for (const element of document.querySelectorAll('body [' + name + ']'))
      if (!isSource(element)) found.push(element.getAttribute(name));
  return found;
})()`;

// Controls that browsers draw each in their own way. A number has no spinner where it looks like a text.
const controls = `[...document.querySelectorAll('input, select, progress, meter')].flatMap((element) => {
  const kind = element instanceof HTMLInputElement ? element.type : element.localName;
  const { appearance, opacity } = getComputedStyle(element);
  const ours = { checkbox: 'none', radio: 'none', select: 'none', progress: 'none', meter: 'none', range: 'none', number: 'textfield' };
  if (kind === 'file') return element.hidden ? [] : [{ kind, isOurs: opacity === '0' }];
  return kind in ours && element.checkVisibility() ? [{ kind, isOurs: appearance === ours[kind] }] : [];
})`;

describe('on a phone and at a desk, in both themes', () => {
  // One window for all of them, which has the scripts of the dashboard in its cache.
  let context: BrowserContext;
  beforeAll(async () => {
    context = await world.browser.newContext({ viewport: phone, reducedMotion: 'reduce' });
    context.setDefaultTimeout(300_000);
  });
  afterAll(() => context?.close());

  test.concurrent.each([...outsidePlaces, ...projectPlaces])(
    '$path is accessible and does not scroll sideways',
    async (place) => {
      const page = await context.newPage();
      try {
        if (place.path.startsWith('/app')) await signedIn(page);
        await open(page, placeOf(place, seeded));
        expect(await weightOf(page), 'compressed bytes of its first load').toBeLessThan(heaviest(place.path));
        for (const viewport of [phone, desktop]) {
          await page.setViewportSize(viewport);
          await settled(page);
          expect(await problemsInBothThemes(page), `${viewport.width} pixels`).toEqual([]);
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
          expect(wide, 'scrolls sideways').toBeLessThanOrEqual(viewport.width);
        }
      } finally {
        await page.close();
      }
    },
  );
});

describe('by keyboard alone', () => {
  const focused = (page: Page) =>
    page.evaluate<string>(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()`,
    );
  /** Waits until what has this name has the focus. */
  const focusOn = (page: Page, name: string) => expect.poll(() => focused(page)).toBe(name);

  /** How far the list is from its two ends, in pixels. */
  const ends = (page: Page) =>
    page.evaluate<[number, number]>(`(() => {
      const { scrollTop, scrollHeight, clientHeight } = document.querySelector('[data-slot=rows]');
      return [scrollTop, scrollHeight - clientHeight - scrollTop];
    })()`);
  const isIn = (page: Page, role: string) =>
    page.evaluate<boolean>(`document.activeElement?.closest('[role=${role}]') != null`);

  test('the first key leads past the menu to the page', async () => {
    await world.inPage({}, async (page) => {
      await signedIn(page);
      await open(page, `/app/${project.id}/campaigns`);
      await page.keyboard.press('Tab');
      await focusOn(page, 'Skip to content');
      await page.keyboard.press('Enter');
      await page.locator('main:focus').waitFor();
      await page.keyboard.press('Tab');
      await focusOn(page, 'New campaign');
    });
  });

  test.each(projectPlaces)('$path shows the focus wherever it is, and its main action is near', async (place) => {
    await world.inPage({}, async (page) => {
      await signedIn(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await open(page, placeOf(place, seeded));
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        const stops = [];
        while (stops.length < 40) {
          await page.keyboard.press('Tab');
          const stop = await page.evaluate(focusOf);
          if (!stop.isInMain) break;
          stops.push(stop);
        }
        expect(
          stops.filter(({ isShown }) => !isShown),
          colorScheme,
        ).toEqual([]);
        if ((await page.locator('main .bg-solid:visible').count()) === 0) continue;
        const [first = 40] = stops.flatMap(({ isPrimary }, index) => (isPrimary ? [index] : []));
        expect(first, stops.map(({ name }) => name).join(', ')).toBeLessThan(12);
      }
    });
  });

  test('the menu of projects opens, moves by arrows, closes by Escape and gives the focus back', async () => {
    await world.inPage({}, async (page) => {
      await signedIn(page);
      await open(page, `/app/${project.id}`);
      const trigger = page.getByRole('button', { name: /Switch project/ });
      await trigger.focus();
      await page.keyboard.press('Enter');
      await focusOn(page, project.name);
      await page.keyboard.press('ArrowDown');
      await focusOn(page, 'New project');
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      await focusOn(page, `Project: ${project.name}. Switch project`);
      await page.keyboard.press('Enter');
      await focusOn(page, project.name);
      await page.keyboard.press('ArrowDown');
      await focusOn(page, 'New project');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Create a project' }).waitFor();
    });
  });

  test('a dialog takes the focus, keeps it, and gives it back on Escape', async () => {
    await world.inPage({}, async (page) => {
      await signedIn(page);
      await open(page, `/app/${project.id}/contacts`);
      const opener = page.getByRole('button', { name: 'Import' }).first();
      await opener.focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await eventually(() => isIn(page, 'dialog'));
      for (let presses = 0; presses < 6; presses += 1) {
        await page.keyboard.press('Tab');
        await expect.poll(() => isIn(page, 'dialog')).toBe(true);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await focusOn(page, 'Import');
    });
  });

  test('a long list scrolls, and its rows open', async () => {
    await world.inPage({}, async (page) => {
      await signedIn(page);
      await open(page, `/app/${project.id}/contacts`);
      const list = page.getByRole('region', { name: 'Contacts' });
      await list.focus();
      await page.keyboard.press('End');
      await eventually(async () => (await ends(page))[1] < 2);
      expect((await ends(page))[0]).toBeGreaterThan(100);
      await page.keyboard.press('Home');
      await eventually(async () => (await ends(page))[0] === 0);
      // The rows of the other end are gone once the first is there again; the focus would go with them.
      const first = list.locator('li[data-index="0"]').getByRole('link');
      await first.waitFor();
      expect(await first.textContent(), 'the name, then the address').toMatch(/^[^@]+ \S+@\S+$/);
      await list.locator('li[data-index="0"]').getByRole('checkbox').focus();
      await page.keyboard.press('Tab');
      await focusOn(page, (await first.textContent()) ?? '');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/contacts\/[0-9a-f-]{36}$/);
    });
  });
});

describe('on every page', () => {
  /** What each page says, and which of its controls are the browser's, by its address. */
  const pages = new Map<string, { texts: string[]; controls: Control[] }>();
  const look = async (page: Page, name: string) => {
    pages.set(name, {
      texts: await page.evaluate<string[]>(texts),
      controls: await page.evaluate<Control[]>(controls),
    });
  };
  const everywhere = <T>(of: (seen: { texts: string[]; controls: Control[] }) => readonly T[]) =>
    [...pages].flatMap(([path, seen]) => of(seen).map((found) => [path, found] as const));

  beforeAll(async () => {
    const { call } = world.api;
    const key = project.secretKey;
    const done = async (method: string, path: string, body: object) => {
      const answer = await call(key, method, path, body);
      expect(answer.status, `${method} ${path}`).toBeLessThan(300);
      return answer.body;
    };
    const subject = '{{ firstName ?? "you" }}, the {% if plan %}{{ plan }}{% endif %} herons are back';
    const letter = { subject, body: '<p>Hi {{ firstName ?? "you" }}</p>', from: project.sender, type: 'MARKETING' };
    const template = await done('POST', '/templates', { ...letter, name: 'Herons' });
    const draft = async (name: string) =>
      (await done('POST', '/campaigns', { ...letter, name, audienceType: 'ALL' })).data.id as string;
    const [sent, unsent, sending] = [await draft('Herons'), await draft('Storks'), await draft('Terns')];
    await done('POST', `/campaigns/${sent}/send`, {});
    await eventually(async () => (await call(key, 'GET', `/campaigns/${sent}`)).body.data.status === 'SENT');
    const { db } = world.database;
    await db.count(
      `update campaigns set status = 'SENDING', paused_at = now(), total_recipients = 9, sent_count = 4 where id = '${sending}'`,
    );
    await done('POST', '/suppressions', { name: 'Test traffic', kind: 'DOMAIN', pattern: 'qa.test', enabled: true });
    for (const to of ['a@qa.test', 'ada.holm@example.com'])
      await done('POST', '/v1/send', { ...letter, to, type: undefined });
    const workflow = await done('POST', '/workflows', { name: 'Wait for a delivery', eventName: 'email.click' });
    for (const step of [
      { type: 'WAIT_FOR_EVENT', name: 'Arrived', config: { eventName: 'email.delivery', timeout: 86_400 } },
      { type: 'EXIT', name: 'Out', config: {} },
    ]) {
      const place = { position: { x: 100, y: step.type === 'EXIT' ? 420 : 260 }, autoConnect: true };
      await done('POST', `/workflows/${workflow.id}/steps`, { ...step, ...place });
    }
    await done('PATCH', `/workflows/${workflow.id}`, { enabled: true });
    const { id: run } = await done('POST', `/workflows/${workflow.id}/executions`, { contactId: seeded.contact });
    const path = `/workflows/${workflow.id}/executions/${run}`;
    await eventually(async () => (await call(key, 'GET', path)).body.waitingFor === 'event email.delivery');

    await world.inPage({ viewport: desktop }, async (page) => {
      await signedIn(page);
      for (const place of projectPlaces) {
        await open(page, placeOf(place, seeded));
        await look(page, place.path);
      }
      const at = (of: string) => open(page, `/app/${project.id}${of}`);
      const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
      for (const [name, of] of [
        ['a sent campaign', `/campaigns/${sent}`],
        ['a campaign that is sending', `/campaigns/${sending}`],
        ['a template', `/templates/${template.id}`],
        ['a run', path],
        ['a workflow', `/workflows/${workflow.id}`],
      ] as const) {
        await at(of);
        await look(page, name);
      }
      await page.locator('.react-flow__node', { hasText: 'Arrived' }).click();
      await page.getByLabel('Name', { exact: true }).waitFor();
      await look(page, 'a step');

      await at(`/campaigns/${unsent}?step=send`);
      await page.getByLabel('Send to a few contacts first').check();
      await page.getByLabel('First recipients').waitFor();
      await page.getByRole('region', { name: 'Sample messages' }).waitFor();
      await look(page, 'the confirmation of a send');
      await at('/suppressions?tab=mail');
      await press('Show the email to a@qa.test');
      await page.getByRole('dialog').getByText('Suppressed by').waitFor();
      await look(page, 'suppressed mail');
      await at(`/campaigns/${sent}`);
      await press('Follow up');
      await page.getByRole('dialog').getByText('Creates a draft with the same content.').waitFor();
      await look(page, 'the confirmation of a follow-up');
      await at('/contacts');
      await press('Import');
      await page.getByRole('dialog').getByLabel('File').waitFor();
      await look(page, 'an import');
      await at('/settings?tab=keys');
      await press('Create key');
      await page.getByRole('dialog').getByLabel('Test key').check();
      await look(page, 'a new key');
    });
  });

  test('no variable is shown as it is written but where it is edited', () => {
    const isEditor = (path: string) =>
      /^a template$|(templates|campaigns)\/(\$|new$)|workflows\/\$workflow$/.test(path);
    const raw = everywhere(({ texts: said }) => said.filter((text) => /\{\{|\{%/.test(text)));
    expect(raw.filter(([path]) => !isEditor(path))).toEqual([]);
    const isShown = (path: string, text: string) => pages.get(path)?.texts.some((said) => said.includes(text));
    for (const path of ['/app/$project/activity', '/app/$project/emails', '/app/$project/templates', 'suppressed mail'])
      expect([path, isShown(path, '[first name]') || isShown(path, 'you, the')]).toEqual([path, true]);
  });

  test('names of the code are said in words', () => {
    // Endpoints of webhooks are asked for events by the names that their requests have.
    const isOfApi = (path: string) => /webhooks/.test(path);
    const internal =
      /\bemail\.(?:sent|delivery|open|click|bounce|complaint|failed|received)\b|(?<!Atlantic\/)\bcanary\b|\bheadless\b|\bexecutions?\b|^either$/i;
    const found = everywhere(({ texts: said }) => said.filter((text) => internal.test(text)));
    expect(found.filter(([path]) => !isOfApi(path))).toEqual([]);
    const run = pages.get('a run')?.texts.join(' ');
    expect(run).toContain('the event “Email delivered”');
  });

  test('no control is the browser’s own', () => {
    const kinds = everywhere(({ controls: found }) => found.map(({ kind }) => kind)).map(([, kind]) => kind);
    expect([...new Set(kinds)].sort()).toEqual(['checkbox', 'file', 'number', 'progress', 'radio', 'select']);
    expect(everywhere(({ controls: found }) => found.filter(({ isOurs }) => !isOurs).map(({ kind }) => kind))).toEqual(
      [],
    );
  });
});

test('the overview says what happened lately, although the latest are all events of a campaign', async () => {
  await world.inPage({ viewport: desktop }, async (page) => {
    await signedIn(page);
    await open(page, `/app/${project.id}`);
    const lately = page.locator('section', { has: page.getByRole('heading', { name: 'Recent activity' }) });
    await eventually(async () => (await lately.getByRole('listitem').count()) === 8);
  });
});

test('the overview asks once for all it shows, and nothing moves while it loads', async () => {
  await world.inPage({ viewport: desktop }, async (page) => {
    await signedIn(page);
    await page.addInitScript(`
      globalThis.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch') asked.push(new URL(request.url()).pathname);
    });
    await open(page, `/app/${project.id}`);
    const card = (name: string) => page.locator('[data-slot=card]', { has: page.getByRole('heading', { name }) });
    await card('Emails by day').locator('canvas').waitFor();
    // Beside who is signed in and their projects, which every page needs, one answer has all that the page shows.
    const ofPage = new Set(asked.filter((path) => !path.startsWith('/users/@me')));
    expect([...ofPage]).toEqual([`/projects/${project.id}/overview`]);
    const shift = await page.evaluate<number>('shift');
    expect(shift).toBeLessThan(0.02);

    const campaigns = card('Latest campaigns').getByRole('listitem');
    await expect.poll(() => campaigns.count()).toBeGreaterThan(0);
    expect(await campaigns.count()).toBeLessThanOrEqual(3);
    expect(await campaigns.first().textContent()).toMatch(/Opened [\d.]+% \([\d,]+\)Clicked [\d.]+% \([\d,]+\)/);
    expect(await card('Last 30 days').textContent()).toMatch(/Delivered[\d.]+%[\d,]+ · (None before|No change)/);
    expect(await page.getByText(/Nothing is running|Nothing scheduled/).count()).toBe(0);
  });
});

test('what every page is made of is below 158 kB compressed, the typeface included', () => {
  const index = readFileSync(join(dist, 'index.html'));
  const named = [...index.toString().matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((found) => found[1] ?? '');
  const fonts = readdirSync(join(dist, 'assets')).filter((name) => name.endsWith('.woff2'));
  expect(fonts).toHaveLength(1);
  expect(named.some((name) => name.endsWith('.js'))).toBe(true);
  expect(named.some((name) => name.endsWith('.css'))).toBe(true);
  // React for development is half as large again, slower, and complains to whoever looks into the console.
  const scripts = readdirSync(join(dist, 'assets')).filter((name) => name.endsWith('.js'));
  const forDevelopment = scripts.filter((name) =>
    /React DevTools|jsxDEV/.test(readFileSync(join(dist, 'assets', name), 'utf8')),
  );
  expect(forDevelopment).toEqual([]);
  const sizes = [
    index,
    ...[...new Set([...named, ...fonts.map((name) => `assets/${name}`)])].map((name) => readFileSync(join(dist, name))),
  ].map((content) => brotliCompressSync(content).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(158 * kilobyte);
});
