import { createSandbox, type Sandbox } from '@fernpost/mail-sandbox';
import { pino } from 'pino';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startWorker } from '../../src/main/worker/worker-runtime.ts';
import { type TestApi, testApi } from './api.ts';
import { inPage, sharedBrowser } from './browser.ts';
import { builtDashboard, ownAddress } from './dashboard-owner.ts';
import { type TestDatabase, testDatabase } from './database.ts';

/** A mail that has arrived in the sandbox. */
interface ArrivedMail {
  to: { email: string }[];
  subject: string;
  html: string;
}

/** The whole service with its dashboard, and a browser: API, worker and mail sandbox on a database of their own. */
export interface DashboardWorld extends AsyncDisposable {
  url: string;
  api: TestApi;
  database: TestDatabase;
  sandbox: Sandbox;
  browser: Browser;
  /** Mail that has arrived for an address, newest first. */
  mailTo(email: string): Promise<ArrivedMail[]>;
  /** Does something on a page of its own; fails when scripts of the page failed. */
  inPage(options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void>;
}

/** Builds the dashboard where it is not up to date, and starts everything; `prepare` comes before anybody uses the database. */
export async function dashboardWorld(
  settings: Record<string, string> = {},
  prepare: (database: TestDatabase) => Promise<unknown> = async () => undefined,
): Promise<DashboardWorld> {
  await builtDashboard();
  const closing: (() => PromiseLike<unknown>)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const browser = await sharedBrowser();
    const database = await testDatabase();
    closing.push(() => database.close());
    await prepare(database);
    const { url, settings: own } = await ownAddress();
    const webhook = { webhookUser: 'fernpost', webhookPassword: 'dashboard' };
    const sandbox = await createSandbox({
      host: '127.0.0.1',
      port: 0,
      dataDir: null,
      webhookUrl: `${url}/webhooks/postmark`,
      ...webhook,
      delayMs: 0,
      keep: 10_000,
    });
    closing.push(() => sandbox.close());
    const api = await testApi(database, {
      POSTMARK_API_URL: sandbox.url,
      SANDBOX_URL: sandbox.url,
      POSTMARK_WEBHOOK_USER: webhook.webhookUser,
      POSTMARK_WEBHOOK_PASSWORD: webhook.webhookPassword,
      ...own,
      SIGNUP_RATE_LIMIT_PER_IP: '0',
      ...settings,
    });
    closing.push(() => api.close());
    const worker = await startWorker(api.config, pino({ level: 'silent' }));
    closing.push(() => worker.close());
    await worker.ready;
    return {
      url,
      api,
      database,
      sandbox,
      browser,
      async mailTo(email) {
        const answer = await fetch(`${sandbox.url}/api/messages?bodies=1&to=${encodeURIComponent(email)}`);
        return ((await answer.json()) as { messages: ArrivedMail[] }).messages;
      },
      inPage: (options, work) => inPage(browser, options, work),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
