import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tellOfUsage } from '../../../src/billing/notices.ts';
import { reportUsage } from '../../../src/billing/reports.ts';
import { reserveMail } from '../../../src/billing/service.ts';
import type { Database, Query } from '../../../src/store/sql.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type StripeServer, startStripeServer } from '../../support/stripe-server.ts';

const webhookSecret = 'whsec_of_the_tests';
let database: TestDatabase;
let stripe: StripeServer;
let api: TestApi;
let plain: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  stripe = await startStripeServer('sk_test_1');
  api = await testApi(database, {
    STRIPE_SK: 'sk_test_1',
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_PRICE_EMAIL_USAGE: 'price_usage',
    STRIPE_PRICE_ONBOARDING: 'price_onboarding',
    STRIPE_API_URL: stripe.url,
    DASHBOARD_URI: 'https://app.acme.example',
  });
  plain = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await plain.close();
  await stripe[Symbol.asyncDispose]();
  await database.close();
});
beforeEach(async () => {
  project = await aProject(database);
  stripe.calls.length = 0;
  stripe.answers.clear();
});

const billing = (name: string, method = 'GET', body?: unknown, through = api) =>
  through.call(project.secretKey, method, `/users/@me/projects/${project.id}/${name}`, body);
const noLimits = { workflows: null, campaigns: null, transactional: null, inbound: null };
const row = () =>
  database.db.row<{ customer: string | null; subscription: string | null; disabled: boolean; reason: string | null }>(
    'select customer, subscription, disabled, disabled_reason as reason from projects where id = $1',
    [project.id],
  );

/** Makes the project a paying one and answers its customer. */
async function subscribed(): Promise<string> {
  const customer = `cus_${randomBytes(5).toString('hex')}`;
  await database.db.count(`update projects set customer = $2, subscription = 'sub_1' where id = $1`, [
    project.id,
    customer,
  ]);
  await api.app.directory.forgetEverywhere(project.id);
  stripe.answers.set(`GET /v1/customers/${customer}`, {
    id: customer,
    object: 'customer',
    balance: -200,
    currency: 'eur',
  });
  return customer;
}

describe('without Stripe', () => {
  test.each([
    ['POST', 'checkout'],
    ['POST', 'billing-portal'],
    ['GET', 'billing-consumption'],
    ['GET', 'billing-invoices'],
  ])('%s %s says that billing is not enabled, before it asks who calls', async (method, name) => {
    const answer = await plain.call(null, method, `/users/@me/projects/${project.id}/${name}`);
    expect([answer.status, answer.body]).toEqual([404, { error: 'Billing is not enabled' }]);
  });

  test('limits can be read and set freely, and hold on every process before the answer', async () => {
    const empty = { limit: null, usage: 0, percentage: 0, isWarning: false, isBlocked: false };
    const none = { workflows: empty, campaigns: empty, transactional: empty, inbound: empty, currency: null };
    expect((await billing('billing-limits', 'GET', undefined, plain)).body).toEqual(none);
    const send = (through: TestApi) =>
      through.call(project.secretKey, 'POST', '/v1/send', {
        to: 'a@example.com',
        from: project.sender,
        subject: 'Heron',
        body: 'Look up.',
      });
    expect((await send(api)).status).toBe(200);
    const changed = await billing('billing-limits', 'PUT', { ...noLimits, transactional: '5' }, plain);
    expect(changed.status).toBe(200);
    expect(changed.body.transactional).toEqual({
      limit: 5,
      usage: 1,
      percentage: 20,
      isWarning: false,
      isBlocked: false,
    });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => send(n % 2 === 0 ? api : plain)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect((await billing('billing-limits', 'GET', undefined, plain)).body.transactional).toEqual({
      limit: 5,
      usage: 5,
      percentage: 100,
      isWarning: true,
      isBlocked: true,
    });
    await billing('billing-limits', 'PUT', { ...noLimits, transactional: 6 }, plain);
    expect([(await send(api)).status, (await send(plain)).status]).toEqual([200, 402]);
    await billing('billing-limits', 'PUT', noLimits, plain);
    expect((await send(plain)).status).toBe(200);
    expect((await billing('billing-limits', 'GET', undefined, plain)).body.transactional.usage).toBe(7);
  });

  test.each([
    [{ workflows: 1, campaigns: 1, transactional: 1 }, 'inbound', 'invalid_type'],
    [{ ...noLimits, campaigns: 0 }, 'campaigns', 'too_small'],
    [{ ...noLimits, campaigns: -5 }, 'campaigns', 'too_small'],
    [{ ...noLimits, campaigns: 1.5 }, 'campaigns', 'invalid_type'],
    [{ ...noLimits, campaigns: 'many' }, 'campaigns', 'invalid_type'],
    [{ ...noLimits, campaigns: 3e9 }, 'campaigns', 'too_big'],
  ])('the limits %o are 422', async (limits, field, code) => {
    const { status, body } = await billing('billing-limits', 'PUT', limits, plain);
    expect([status, body.error.errors[0].field, body.error.errors[0].code]).toEqual([422, field, code]);
  });

  test('its webhook is 404', async () => {
    const answer = await plain.call(null, 'POST', '/webhooks/incoming/stripe', {});
    expect([answer.status, answer.body]).toEqual([404, { success: false, error: 'Billing is disabled' }]);
  });
});

describe('subscribing', () => {
  test('leads to a checkout that is anchored to the first of the next month', async () => {
    stripe.answers.set('POST /v1/checkout/sessions', { id: 'cs_1', url: 'https://checkout.stripe.com/c/1' });
    const { status, body } = await billing('checkout?currency=EUR', 'POST');
    expect([status, body]).toEqual([200, { url: 'https://checkout.stripe.com/c/1' }]);
    const form = stripe.calls[0]?.form ?? {};
    expect(form).toMatchObject({
      mode: 'subscription',
      client_reference_id: project.id,
      currency: 'eur',
      'line_items[0][price]': 'price_onboarding',
      'line_items[1][price]': 'price_usage',
      success_url: 'https://app.acme.example/settings?tab=billing&success=true',
      cancel_url: 'https://app.acme.example/settings?tab=billing&canceled=true',
    });
    const anchor = new Date(Number(form['subscription_data[billing_cycle_anchor]']) * 1000);
    expect([anchor.getUTCDate(), anchor.getUTCHours(), anchor > new Date()]).toEqual([1, 0, true]);
  });

  test('again, or in another currency, is a bare 400', async () => {
    expect((await billing('checkout?currency=chf', 'POST')).body).toEqual({
      error: expect.stringContaining('currency'),
    });
    await subscribed();
    const again = await billing('checkout', 'POST');
    expect([again.status, Object.keys(again.body)]).toEqual([400, ['error']]);
  });

  test('while Stripe is away is 503', async () => {
    stripe.answers.set('POST /v1/checkout/sessions', {
      status: 402,
      error: { type: 'card_error', message: 'Stripe is not in the mood' },
    });
    const { status, body } = await billing('checkout', 'POST');
    expect([status, body.error.code]).toEqual([503, 'EXTERNAL_SERVICE_ERROR']);
    expect(JSON.stringify(body)).not.toContain('mood');
  });
});

describe('a paying project', () => {
  test('has a portal, limits in its currency, consumption and invoices', async () => {
    const customer = await subscribed();
    stripe.answers.set('POST /v1/billing_portal/sessions', { url: 'https://billing.stripe.com/p/1' });
    expect((await billing('billing-portal', 'POST')).body).toEqual({ url: 'https://billing.stripe.com/p/1' });
    expect((await billing('billing-limits', 'PUT', { ...noLimits, campaigns: 5000 })).body).toMatchObject({
      campaigns: { limit: 5000, usage: 0 },
      currency: 'eur',
    });
    const preview = {
      currency: 'eur',
      amount_due: 152,
      subtotal: 152,
      total: 152,
      period_start: 1772323200,
      period_end: 1775001600,
    };
    stripe.answers.set('POST /v1/invoices/create_preview', preview);
    expect((await billing('billing-consumption')).body).toEqual({
      period: { start: expect.stringMatching(/-01T00:00:00\.000Z$/), end: expect.any(String) },
      usage: { total: 0, records: [] },
      credits: { balance: -200, hasCredits: true, creditAmount: 200, currency: 'eur' },
      upcomingInvoice: {
        amountDue: 152,
        currency: 'eur',
        periodStart: '2026-03-01T00:00:00.000Z',
        periodEnd: '2026-04-01T00:00:00.000Z',
        subtotal: 152,
        total: 152,
      },
    });
    const invoice = {
      ...preview,
      id: 'in_1',
      number: 'A-0001',
      status: 'paid',
      amount_paid: 152,
      created: 1775001600,
      due_date: null,
    };
    const open = {
      ...invoice,
      id: 'in_2',
      number: 'A-0002',
      status: 'open',
      amount_paid: 0,
      due_date: 1775001600,
      hosted_invoice_url: 'https://i/2',
    };
    stripe.answers.set('GET /v1/invoices', {
      object: 'list',
      data: [open, invoice],
      has_more: false,
      url: '/v1/invoices',
    });
    const { body } = await billing('billing-invoices');
    expect(body.invoices).toHaveLength(2);
    expect(body.invoices[1]).toEqual({
      id: 'in_1',
      number: 'A-0001',
      status: 'paid',
      amountDue: 152,
      amountPaid: 152,
      currency: 'eur',
      created: '2026-04-01T00:00:00.000Z',
      periodStart: '2026-03-01T00:00:00.000Z',
      periodEnd: '2026-04-01T00:00:00.000Z',
      hostedInvoiceUrl: null,
      invoicePdf: null,
      subtotal: 152,
      total: 152,
      paid: true,
    });
    expect(body).toMatchObject({
      hasUnpaidInvoices: true,
      unpaidInvoices: [
        {
          id: 'in_2',
          amountDue: 152,
          currency: 'eur',
          dueDate: '2026-04-01T00:00:00.000Z',
          hostedInvoiceUrl: 'https://i/2',
        },
      ],
    });
    expect(stripe.calls.at(-1)?.form).toEqual({ customer, limit: '100' });
  });

  test('that has no upcoming invoice, or whose customer is deleted, reads null there', async () => {
    const customer = await subscribed();
    stripe.answers.set(`GET /v1/customers/${customer}`, { id: customer, object: 'customer', deleted: true });
    const { body } = await billing('billing-consumption');
    expect([body.credits, body.upcomingInvoice]).toEqual([null, null]);
  });

  test('and only it, sets limits and asks for what it pays', async () => {
    for (const [name, method, body] of [
      ['billing-limits', 'PUT', noLimits],
      ['billing-portal', 'POST', undefined],
      ['billing-consumption', 'GET', undefined],
      ['billing-invoices', 'GET', undefined],
    ] as const) {
      const answer = await billing(name, method, body);
      expect([name, answer.status, Object.keys(answer.body)]).toEqual([name, 400, ['error']]);
    }
  });

  test('of another owner is not found', async () => {
    const other = await aProject(database);
    const answer = await api.call(other.secretKey, 'GET', `/users/@me/projects/${project.id}/billing-limits`);
    expect([403, 404]).toContain(answer.status);
  });
});

describe('the free tier', () => {
  test('is one allowance that all categories show', async () => {
    const free = { freeTier: 1000, publicDailyEmails: null };
    await reserveMail(database.db, free, { projectId: project.id, category: 'CAMPAIGN', count: 850 });
    const { body } = await billing('billing-limits');
    const shared = { limit: 1000, usage: 850, percentage: 85, isWarning: true, isBlocked: false };
    expect(body).toEqual({
      workflows: shared,
      campaigns: shared,
      transactional: shared,
      inbound: shared,
      currency: null,
    });
  });
});

describe('notices of usage', () => {
  const mails = () =>
    database.db.rows<{ kind: string }>(
      `select kind from system_mails where to_address in (
         select u.email from users u join memberships m on m.user_id = u.id where m.project_id = $1) order by created_at`,
      [project.id],
    );
  const tell = () =>
    tellOfUsage({ db: database.db, freeTier: null, tell: api.app.tellMembers, dispatchSoon: () => undefined });

  test('come once at 80 % and once at the limit, and again when the limit changes', async () => {
    await billing('billing-limits', 'PUT', { ...noLimits, campaigns: 100 }, plain);
    const use = (count: number) =>
      reserveMail(
        database.db,
        { freeTier: null, publicDailyEmails: null },
        { projectId: project.id, category: 'CAMPAIGN', count },
      );
    await use(79);
    await tell();
    expect(await mails()).toEqual([]);
    await use(1);
    await Promise.all([tell(), tell()]);
    await tell();
    expect((await mails()).map(({ kind }) => kind)).toEqual(['usage-warning']);
    await use(20);
    await tell();
    await tell();
    expect((await mails()).map(({ kind }) => kind)).toEqual(['usage-warning', 'usage-reached']);
    // Counting begins anew from the ledger when a limit changes.
    await database.db.count(`update usage_counters set settled = 100 where project_id = $1`, [project.id]);
    await billing('billing-limits', 'PUT', { ...noLimits, campaigns: 110 }, plain);
    await use(1);
    await tell();
    expect((await mails()).map(({ kind }) => kind)).toEqual(['usage-warning', 'usage-reached', 'usage-warning']);
  });
});

describe('webhooks of Stripe', () => {
  const signed = (payload: string, { secret = webhookSecret, at = Date.now() } = {}) =>
    Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(at / 1000) });
  const post = (payload: string, signature: string | null) =>
    api.call(
      null,
      'POST',
      '/webhooks/incoming/stripe',
      payload,
      signature === null ? {} : { 'Stripe-Signature': signature },
    );
  const event = (type: string, object: object, id = `evt_${randomBytes(6).toString('hex')}`) =>
    JSON.stringify({ id, object: 'event', type, data: { object } }, null, 2);
  const deliver = (payload: string) => post(payload, signed(payload));
  const subscription = (id: string, status: string) =>
    stripe.answers.set(`GET /v1/subscriptions/${id}`, { id, object: 'subscription', status });

  test('without, with a forged, an old or a future signature are refused and change nothing', async () => {
    const customer = await subscribed();
    const payload = event('invoice.payment_failed', { id: 'in_9', customer, billing_reason: 'subscription_cycle' });
    const missing = await post(payload, null);
    expect([missing.status, missing.body]).toEqual([400, { success: false, error: 'Missing signature' }]);
    for (const signature of [
      signed(payload, { secret: 'whsec_of_somebody_else' }),
      signed(`${payload} `),
      signed(payload, { at: Date.now() - 301_000 }),
      signed(payload, { at: Date.now() + 310_000 }),
      't=1,v1=00',
      'nonsense',
    ]) {
      const answer = await post(payload, signature);
      expect([answer.status, answer.body]).toEqual([400, { success: false, error: 'Invalid signature' }]);
    }
    expect((await row())?.disabled).toBe(false);
  });

  test('of another processor are 404', async () => {
    expect((await api.call(null, 'POST', '/webhooks/incoming/paypal', {})).status).toBe(404);
  });

  test('subscribe a project once, whatever is sent again or beside each other', async () => {
    const customer = `cus_${randomBytes(5).toString('hex')}`;
    subscription('sub_7', 'active');
    stripe.answers.set(`POST /v1/customers/${customer}`, { id: customer });
    const payload = event('checkout.session.completed', {
      client_reference_id: project.id,
      customer,
      subscription: 'sub_7',
    });
    const answers = await Promise.all([deliver(payload), deliver(payload), deliver(payload)]);
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      Array(3).fill([200, { success: true, received: true }]),
    );
    expect(await row()).toMatchObject({ customer, subscription: 'sub_7' });
    expect(stripe.calls.filter(({ method, path }) => method === 'POST' && path.startsWith('/v1/customers'))).toEqual([
      { method: 'POST', path: `/v1/customers/${customer}`, form: { name: 'Acme' } },
    ]);
    // Much later the same event comes once more, after the subscription has ended.
    await deliver(event('customer.subscription.deleted', { id: 'sub_7', customer }));
    await deliver(payload);
    expect(await row()).toMatchObject({ customer, subscription: null });
  });

  test('that come in the wrong order leave what is true now', async () => {
    const customer = `cus_${randomBytes(5).toString('hex')}`;
    subscription('sub_8', 'canceled');
    await deliver(event('customer.subscription.deleted', { id: 'sub_8', customer }));
    await deliver(
      event('checkout.session.completed', { client_reference_id: project.id, customer, subscription: 'sub_8' }),
    );
    expect(await row()).toMatchObject({ customer, subscription: null });

    await subscribed();
    const paying = (await row())?.customer;
    stripe.answers.set('GET /v1/invoices/in_3', { id: 'in_3', status: 'paid' });
    await deliver(
      event('invoice.payment_failed', { id: 'in_3', customer: paying, billing_reason: 'subscription_cycle' }),
    );
    expect((await row())?.disabled).toBe(false);
    await deliver(event('customer.subscription.deleted', { id: 'sub_of_before', customer: paying }));
    expect((await row())?.subscription).toBe('sub_1');
  });

  test('pause a project whose payment fails, tell its members, and resume it when it is paid', async () => {
    const customer = await subscribed();
    stripe.answers.set('GET /v1/invoices/in_4', { id: 'in_4', status: 'open' });
    await deliver(event('invoice.payment_failed', { id: 'in_4', customer, billing_reason: 'subscription_create' }));
    expect((await row())?.disabled).toBe(false);
    await deliver(event('invoice.payment_failed', { id: 'in_4', customer, billing_reason: 'subscription_cycle' }));
    await deliver(event('invoice.payment_failed', { id: 'in_4', customer, billing_reason: 'subscription_cycle' }));
    expect(await row()).toMatchObject({ disabled: true, reason: 'PAYMENT_FAILED' });
    const mails = await database.db.rows(`select 1 from system_mails where kind = 'payment-failed'`);
    expect(mails).toHaveLength(1);
    const write = () => api.call(project.secretKey, 'POST', '/contacts', { email: 'a@example.com' });
    expect((await write()).body.error.code).toBe('PROJECT_DISABLED');

    subscription('sub_1', 'past_due');
    await deliver(event('invoice.paid', { id: 'in_of_before', customer }));
    expect((await row())?.disabled).toBe(true);
    subscription('sub_1', 'active');
    await deliver(event('invoice.paid', { id: 'in_4', customer }));
    expect(await row()).toMatchObject({ disabled: false, reason: null });
    expect((await write()).status).not.toBe(403);
  });

  test('never enable a project that was disabled for something else', async () => {
    const customer = await subscribed();
    subscription('sub_1', 'active');
    await database.db.count(`update projects set disabled = true, disabled_reason = 'REPUTATION' where id = $1`, [
      project.id,
    ]);
    stripe.answers.set('GET /v1/invoices/in_5', { id: 'in_5', status: 'open' });
    await deliver(event('invoice.payment_failed', { id: 'in_5', customer, billing_reason: 'subscription_cycle' }));
    await deliver(event('invoice.paid', { id: 'in_5', customer }));
    expect(await row()).toMatchObject({ disabled: true, reason: 'REPUTATION' });
  });

  test('that concern nobody here, or nothing, are taken and ignored', async () => {
    for (const payload of [
      event('invoice.paid', { id: 'in_6', customer: 'cus_unknown' }),
      event('customer.subscription.updated', { id: 'sub_1', customer: 'cus_unknown' }),
      event('charge.refunded', { id: 'ch_1' }),
      event('checkout.session.completed', { client_reference_id: null, customer: 'cus_1', subscription: 'sub_1' }),
      event('checkout.session.completed', {
        client_reference_id: "x' or 1=1",
        customer: 'cus_1',
        subscription: 'sub_1',
      }),
    ])
      expect((await deliver(payload)).status).toBe(200);
  });

  test('that cannot be processed are 500, and count when they come again', async () => {
    const customer = `cus_${randomBytes(5).toString('hex')}`;
    const away = { status: 402, error: { type: 'api_error', message: 'away' } };
    stripe.answers.set('GET /v1/subscriptions/sub_9', away);
    const payload = event('checkout.session.completed', {
      client_reference_id: project.id,
      customer,
      subscription: 'sub_9',
    });
    const failed = await deliver(payload);
    expect([failed.status, failed.body]).toEqual([500, { success: false, error: 'Webhook processing failed' }]);
    subscription('sub_9', 'active');
    expect((await deliver(payload)).status).toBe(200);
    expect(await row()).toMatchObject({ customer, subscription: 'sub_9' });
  });
});

describe('reporting', () => {
  test('charges one credit for each mail that was taken, two with attachments, once however often it runs', async () => {
    const customer = await subscribed();
    stripe.answers.delete('GET /v1/invoices');
    await database.db.count(
      `insert into usage_reports (project_id, reported_through) values ($1, '00000000-0000-0000-0000-000000000000')`,
      [project.id],
    );
    const mail = { from: project.sender, subject: 'Heron', body: 'Look up.' };
    const send = (more: object) => api.call(project.secretKey, 'POST', '/v1/send', { ...mail, ...more });
    const plainMail = (await send({ to: ['a@example.com', 'b@example.com', 'c@example.com'] })).body.data.emails;
    const file = { filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' };
    const withFile = (await send({ to: 'd@example.com', attachments: [file] })).body.data.emails;
    const ids: string[] = [...plainMail, ...withFile].map(({ email }: { email: string }) => email);
    const [one, failing, waiting, attached] = ids as [string, string, string, string];
    await database.db.count(`update emails set status = 'SENT', sent_at = now() where id = any ($1::uuid[])`, [
      [one, attached],
    ]);
    await database.db.count(`update emails set status = 'FAILED' where id = $1`, [failing]);
    const run = (until: string) => {
      // In place of the instant before which no further mail appears.
      const row = async (query: Query) =>
        query.text.includes('pg_stat_activity') ? { at: until } : database.db.row(query);
      const db = { ...database.db, row: row as Database['row'] };
      return reportUsage({ db, payments: api.app.payments, log: api.app.log }, () => true);
    };
    const soon = new Date(Date.now() + 60_000).toISOString();
    expect(await run(soon)).toBe(2);
    expect(Object.fromEntries(stripe.metered)).toMatchObject({
      [`email_${one}`]: { customer, value: 1 },
      [`email_${attached}`]: { customer, value: 2 },
    });
    expect(await run(soon)).toBe(0);
    await database.db.count(`update emails set status = 'SENT', sent_at = now() where id = $1`, [waiting]);
    expect(await run(soon)).toBe(1);
    // As after a crash before the place was noted: the processor knows the identifiers already.
    await database.db.count(
      `update usage_reports set reported_through = '00000000-0000-0000-0000-000000000000' where project_id = $1`,
      [project.id],
    );
    expect(await run(soon)).toBe(3);
    expect(stripe.metered.size).toBe(3);
  });
});

describe('GET /config', () => {
  test('says what is offered, without a secret', async () => {
    const { status, body, headers } = await api.call(null, 'GET', '/config');
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=60']);
    expect(body).toEqual({
      environment: 'test',
      urls: {
        api: api.config.API_URI,
        dashboard: 'https://app.acme.example',
        landing: 'https://app.acme.example',
        wiki: null,
      },
      features: {
        billing: { enabled: true },
        storage: { s3Enabled: false, uploadsEnabled: true, driver: 'local' },
        authProviders: { github: false, google: false },
        signup: { signupsDisabled: false },
        email: { trackingToggleEnabled: true, provider: 'sandbox' },
        sponsor: { enabled: false },
        smtp: { enabled: false, domain: null, ports: null },
      },
      aws: { sesRegion: null, mailFromSubdomain: 'pm-bounces' },
    });
    expect(JSON.stringify(body)).not.toMatch(/sk_|whsec|price_/);
  });
});
