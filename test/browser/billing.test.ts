import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { accessibilityProblems, sharedBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type StripeServer, startStripeServer } from '../support/stripe-server.ts';

let database: TestDatabase;
let stripe: StripeServer;
let api: TestApi;
let browser: Browser;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  stripe = await startStripeServer('sk_test_1');
  api = await apiWithDashboard(database, {
    STRIPE_SK: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_the_tests',
    STRIPE_PRICE_EMAIL_USAGE: 'price_usage',
    STRIPE_PRICE_ONBOARDING: 'price_onboarding',
    STRIPE_API_URL: stripe.url,
  });
});
afterAll(async () => {
  await api?.close();
  await stripe?.[Symbol.asyncDispose]();
  await database?.close();
});

/** Opens the billing of the project; pages of the processor are answered by their address alone. */
const inBilling = (project: TestProject, work: (page: Page) => Promise<void>) =>
  asOwner(
    browser,
    { api, database, project },
    async (page) => {
      await page.route('https://*.stripe.com/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: `<h1>${new URL(route.request().url()).pathname}</h1>` }),
      );
      await page.goto(`${api.url}/app/${project.id}/settings?tab=billing`);
      await work(page);
    },
    { locale: 'en-US' },
  );

test('a project without a subscription is led to the checkout in the currency that was chosen', async () => {
  const project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  stripe.answers.set('POST /v1/checkout/sessions', { id: 'cs_1', url: 'https://checkout.stripe.com/c/1' });
  await inBilling(project, async (page) => {
    await page.getByText('This project has no subscription.').waitFor();
    await page.getByText('No invoices yet').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByLabel('Currency').selectOption('gbp');
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByRole('heading', { name: '/c/1' }).waitFor();
  });
  const asked = stripe.calls.find(({ path }) => path === '/v1/checkout/sessions');
  expect(asked?.form).toMatchObject({ client_reference_id: project.id, currency: 'gbp' });
});

test('a processor that is away is told in words that help', async () => {
  const project = await aProject(database, 'Seehundstation Friedrichskoog');
  stripe.answers.set('POST /v1/checkout/sessions', {
    status: 500,
    error: { type: 'api_error', message: 'down' },
  });
  await inBilling(project, async (page) => {
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.getByRole('alert').textContent()).not.toContain('down');
  });
});

test('a paying project sees its month, its invoices and its limits, and the way to the portal', async () => {
  const project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  const customer = 'cus_ringelgans';
  await database.db.count(`update projects set customer = $2, subscription = 'sub_1' where id = $1`, [
    project.id,
    customer,
  ]);
  await api.app.directory.forgetEverywhere(project.id);
  const invoice = {
    currency: 'eur',
    amount_due: 1250,
    amount_paid: 1250,
    subtotal: 1250,
    total: 1250,
    created: 1775001600,
    period_start: 1772323200,
    period_end: 1775001600,
    due_date: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
  };
  const answers: Record<string, object> = {
    [`GET /v1/customers/${customer}`]: { id: customer, object: 'customer', balance: -200, currency: 'eur' },
    'POST /v1/invoices/create_preview': { ...invoice, amount_due: 152, total: 152 },
    'GET /v1/invoices': {
      object: 'list',
      url: '/v1/invoices',
      has_more: false,
      data: [
        {
          ...invoice,
          id: 'in_2',
          number: 'A-0002',
          status: 'open',
          amount_paid: 0,
          hosted_invoice_url: 'https://invoice.stripe.com/i/2',
        },
        { ...invoice, id: 'in_1', number: 'A-0001', status: 'paid' },
      ],
    },
    'POST /v1/billing_portal/sessions': { url: 'https://billing.stripe.com/p/1' },
  };
  for (const [call, answer] of Object.entries(answers)) stripe.answers.set(call, answer);
  await inBilling(project, async (page) => {
    const figure = (name: string) => page.locator('[data-slot=figure]', { hasText: name }).locator('dd').textContent();
    await expect.poll(() => figure('Next invoice so far')).toBe('€1.52');
    await expect.poll(() => figure('Credit')).toBe('€2.00');
    const invoices = page.getByRole('region', { name: 'Invoices' });
    await invoices.getByRole('row', { name: /A-0001 .*€12\.50 Paid/ }).waitFor();
    await invoices.getByRole('row', { name: /A-0002 .*€12\.50 Unpaid/ }).waitFor();
    await page.getByText('1 unpaid').waitFor();
    const document = invoices.getByRole('link', { name: 'Open A-0002' });
    await expect.poll(() => document.getAttribute('href')).toBe('https://invoice.stripe.com/i/2');
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByRole('button', { name: 'Change limits' }).click();
    await page.getByLabel('Campaigns').fill('5000');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('row', { name: 'Campaigns 0 5,000 0% used' }).waitFor();

    await page.getByRole('button', { name: 'Manage billing' }).click();
    await page.getByRole('heading', { name: '/p/1' }).waitFor();
  });
});
