import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { orEnvelope } from '../http/error-schemas.ts';
import { reply, route } from '../http/route.ts';
import { AppError, bareBadRequest, bareNotFound } from '../lib/errors.ts';
import { field } from '../lib/validation/fields.ts';
import { billingProject } from './daily-queries.ts';
import { changeLimits, readLimits } from './notices.ts';
import { type Payments, PaymentsUnreachable } from './payments/payments.ts';
import { BillingLimits, ChangeLimits, Consumption, InvoiceList, PaymentPage } from './schema.ts';
import { sumOf, usageOf } from './usage-queries.ts';
import { paymentWebhookReplySchema, takePaymentWebhook } from './webhook.ts';

const currencies = new Set(['usd', 'eur', 'gbp']);

const paid = {
  access: 'project',
  guard: onlyWithBilling,
  bareRefusals: [400, 404, 'default'],
  tag: 'billing',
} as const;

/** Routes of limits, usage and payment. */
export const billingRoutes = [
  route.post('/users/@me/projects/:id/checkout', {
    ...paid,
    refusals: [503],
    role: 'ADMIN',
    summary: 'Get the URL of the checkout page',
    operationId: 'openCheckout',
    query: v.object({ currency: field('Currency of the subscription, such as `usd`.', v.optional(v.string())) }),
    returns: 'The `url` of the checkout page; open it in a browser. Nothing is charged yet.',
    reply: PaymentPage,
    async handle({ app, db, project, query }) {
      const found = await billingProject(db, project.id);
      if (found.subscription !== null) throw bareBadRequest('The project has a subscription already');
      const currency = query.currency?.toLowerCase() ?? null;
      if (currency !== null && !currencies.has(currency))
        throw bareBadRequest('"currency" must be one of usd, eur and gbp');
      if (app.config.STRIPE_PRICE_EMAIL_USAGE === null)
        throw new AppError(500, 'INTERNAL_SERVER_ERROR', 'The operator has not set STRIPE_PRICE_EMAIL_USAGE', {}, true);
      return { url: await asked(app, (payments) => payments.checkout(found, currency, app.clock())) };
    },
  }),
  route.post('/users/@me/projects/:id/billing-portal', {
    ...paid,
    role: 'ADMIN',
    summary: 'Get the URL of the billing portal',
    operationId: 'openBillingPortal',
    returns: 'The `url` of the billing portal; open it in a browser.',
    reply: PaymentPage,
    async handle({ app, db, project }) {
      const { customer } = await billingProject(db, project.id);
      if (customer === null) throw bareBadRequest('The project has never had a subscription');
      return { url: await asked(app, (payments) => payments.portal(customer)) };
    },
  }),
  route.get('/users/@me/projects/:id/billing-limits', {
    access: 'project',
    summary: 'Get limits and usage of this month',
    operationId: 'getBillingLimits',
    tag: 'billing',
    returns: 'The limit and the usage of each kind of email in this month.',
    reply: BillingLimits,
    handle: ({ app, db, project }) => readLimits({ ...app, db }, project.id),
  }),
  route.put('/users/@me/projects/:id/billing-limits', {
    bareRefusals: [400],
    access: 'project',
    role: 'ADMIN',
    summary: 'Set the monthly limits',
    operationId: 'updateBillingLimits',
    description: 'All four, each a positive number of mails or null for no limit. They apply before this returns.',
    tag: 'billing',
    body: ChangeLimits,
    example: { workflows: 10_000, campaigns: 50_000, transactional: null, inbound: null },
    returns: 'The new limits, with the usage of this month.',
    reply: BillingLimits,
    handle: ({ app, db, project, body }) => changeLimits({ ...app, db }, project.id, body),
  }),
  route.get('/users/@me/projects/:id/billing-consumption', {
    ...paid,
    summary: 'Get the consumption of this month',
    operationId: 'getBillingConsumption',
    returns: 'The emails of this month so far, the credit of the account, and a preview of the next invoice.',
    reply: Consumption,
    async handle({ app, db, project }) {
      const { customer, subscription } = await billingProject(db, project.id);
      if (customer === null || subscription === null) throw bareBadRequest('The project has no subscription');
      const now = app.clock();
      const [used, [credits, upcomingInvoice]] = await Promise.all([
        usageOf(db, project.id),
        asked(app, (payments) => Promise.all([payments.credits(customer), payments.upcoming(customer, subscription)])),
      ]);
      const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
      return {
        period: { start: start.toISOString(), end: now.toISOString() },
        usage: { total: sumOf(used), records: [] },
        credits,
        upcomingInvoice,
      };
    },
  }),
  route.get('/users/@me/projects/:id/billing-invoices', {
    ...paid,
    summary: 'List the latest invoices',
    operationId: 'listInvoices',
    returns: 'The latest 100 invoices, newest first, and those that are unpaid.',
    reply: InvoiceList,
    async handle({ app, db, project }) {
      const { customer } = await billingProject(db, project.id);
      if (customer === null) throw bareBadRequest('The project has never had a subscription');
      return asked(app, (payments) => payments.invoices(customer));
    },
  }),
  route.post('/webhooks/incoming/:processor', {
    pathTexts: { processor: 'Payment processor: `stripe`.' },
    refusals: [400, 404],
    access: 'none',
    summary: 'Receive webhooks of the payment processor',
    operationId: 'receivePaymentWebhook',
    description: 'For Stripe only, as /webhooks/incoming/stripe, signed with STRIPE_WEBHOOK_SECRET.',
    tag: 'webhooks',
    bodyKind: 'raw',
    bodyLimit: 'paymentWebhook',
    returns: 'The webhook is accepted; `received` is true.',
    reply: paymentWebhookReplySchema,
    errorReply: orEnvelope(paymentWebhookReplySchema),
    async handle({ app, db, params, body, header }) {
      if (params.processor !== 'stripe')
        throw new AppError(404, 'RESOURCE_NOT_FOUND', 'No such payment processor: only stripe');
      const signature = header('stripe-signature');
      const answer = await takePaymentWebhook({ ...app, db }, body as unknown as Buffer, signature);
      return reply(answer.status, answer.body);
    },
  }),
];

function onlyWithBilling({ config }: App): void {
  if (!config.billingEnabled) throw bareNotFound('Billing is not enabled');
}

async function asked<T>({ payments, log }: App, call: (payments: Payments) => Promise<T>): Promise<T> {
  if (payments === null) throw bareNotFound('Billing is not enabled');
  try {
    return await call(payments);
  } catch (error) {
    if (!(error instanceof PaymentsUnreachable)) throw error;
    log.warn({ err: error }, 'the payment processor did not serve a call');
    throw new AppError(503, 'EXTERNAL_SERVICE_ERROR', 'The payment processor could not be asked. Try again later');
  }
}
