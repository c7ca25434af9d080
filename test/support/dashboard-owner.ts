import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { hashPassword } from '../../src/accounts/passwords.ts';
import { freePorts } from '../../src/main/local/ports.ts';
import { type TestApi, type TestProject, testApi } from './api.ts';
import type { TestDatabase } from './database.ts';

const build = fileURLToPath(new URL('../../dashboard/build.ts', import.meta.url));
const password = 'a long way to Tipperary';

/** Builds the dashboard where its sources have changed since the last build; that takes half a minute. */
async function builtDashboard(): Promise<void> {
  await promisify(execFile)(process.execPath, [build]);
}

/** An API that serves the dashboard at an address it knows to be its own, as it must to trust the requests of its pages. */
export async function apiWithDashboard(
  database: TestDatabase,
  settings: Record<string, string> = {},
): Promise<TestApi> {
  await builtDashboard();
  const [port = 0] = await freePorts(1);
  const own = `http://127.0.0.1:${port}`;
  return testApi(database, { PORT: String(port), API_URI: own, DASHBOARD_URI: own, PUBLIC_URL: own, ...settings });
}

/** Does `work` on a page where the owner of the project has signed in; what breaks on the page fails the test. */
export async function asOwner<T>(
  browser: Browser,
  { api, database, project }: { api: TestApi; database: TestDatabase; project: TestProject },
  work: (page: Page) => Promise<T>,
  options: BrowserContextOptions = {},
): Promise<T> {
  const owner = await database.db.row<{ email: string }>(
    `update users set password_hash = $2 where id =
       (select user_id from memberships where project_id = $1 and role = 'OWNER') returning email`,
    [project.id, await hashPassword(password)],
  );
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  try {
    const page = await context.newPage();
    const broken: string[] = [];
    page.on('pageerror', (error) => broken.push(error.message));
    await page.goto(api.url);
    await page.getByLabel('Email address').fill(owner?.email ?? '');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`**/app/${project.id}**`);
    const result = await work(page);
    if (broken.length > 0) throw new Error(`The page broke: ${broken.join('; ')}`);
    return result;
  } finally {
    await context.close();
  }
}
