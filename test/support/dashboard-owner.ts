import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { requireFreePorts } from '@fernpost/local-stack';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type TestApi, type TestProject, testApi } from './api.ts';
import { inPage } from './browser.ts';
import type { TestDatabase } from './database.ts';
import { sessionOf } from './people.ts';

const build = fileURLToPath(new URL('../../dashboard/build.ts', import.meta.url));

let built: Promise<unknown> | undefined;

/** Builds the dashboard where its sources have changed since the last build, once for a process; that takes half a minute. */
export async function builtDashboard(): Promise<void> {
  built ??= promisify(execFile)(process.execPath, [build]);
  await built;
}

/** Settings of an API on a port of its own that knows its own address, as it must to trust the requests of its pages. */
export async function ownAddress(): Promise<{ url: string; settings: Record<string, string> }> {
  for (;;) {
    // Below the ports that the system lends to connections: one of those may be taken before the API listens on it.
    const port = randomInt(12_000, 32_000);
    const isFree = await requireFreePorts([{ port, host: '127.0.0.1', wantedBy: 'a test', setting: 'PORT' }]).then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    const url = `http://127.0.0.1:${port}`;
    return { url, settings: { PORT: String(port), API_URI: url, DASHBOARD_URI: url, PUBLIC_URL: url } };
  }
}

/** An API that serves the dashboard. */
export async function apiWithDashboard(
  database: TestDatabase,
  settings: Record<string, string> = {},
): Promise<TestApi> {
  await builtDashboard();
  return testApi(database, { ...(await ownAddress()).settings, ...settings });
}

/** Gives the windows of a page the session of somebody. */
export async function signInAs(page: Page, url: string, session: Record<string, string>): Promise<void> {
  const [name = '', value = ''] = (session.Cookie ?? '').split('=');
  await page.context().addCookies([{ name, value, url }]);
}

/** Does `work` on a page where the owner of the project is signed in; what breaks on the page fails the test. */
export async function asOwner<T>(
  browser: Browser,
  { api, database, project }: { api: TestApi; database: TestDatabase; project: TestProject },
  work: (page: Page) => Promise<T>,
  options: BrowserContextOptions = {},
): Promise<T> {
  const owner = await database.db.row<{ id: string }>(
    `select user_id as id from memberships where project_id = $1 and role = 'OWNER'`,
    [project.id],
  );
  return inPage(browser, options, async (page) => {
    await signInAs(page, api.url, await sessionOf(api.config, owner?.id ?? ''));
    return work(page);
  });
}
