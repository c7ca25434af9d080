import Stripe from 'stripe';
import {
  type CustomerCredits,
  InvalidSignature,
  type Invoices,
  type PaymentEvent,
  type Payments,
  PaymentsUnreachable,
  type UpcomingInvoice,
} from './payments.ts';

const callMs = 15_000;
const toleranceSeconds = 300;

/** How to reach Stripe, and what is sold there. */
export interface StripeSettings {
  apiUrl: string;
  secretKey: string;
  webhookSecret: string;
  /** The page of the service that customers come back to. Its URL has a query. */
  billingUrl: string;
  /** Charged once, with the first invoice; null for none. */
  onboardingPrice: string | null;
  /** Charged by use; null for none. */
  usagePrice: string | null;
  /** The meter that use is reported to. */
  meterEventName: string;
}

/** Payments by Stripe. */
export function stripePayments(settings: StripeSettings): Payments {
  const stripe = openStripe(settings);
  const { customers, invoices, subscriptions } = stripe;
  return {
    checkout: (project, currency, now) => asked(checkout(stripe, settings, project, currency, now)),
    portal: (customer) =>
      asked(stripe.billingPortal.sessions.create({ customer, return_url: settings.billingUrl }).then(({ url }) => url)),
    currency: (id) =>
      asked(customers.retrieve(id).then((customer) => (customer.deleted ? null : customer.currency) ?? null)),
    credits: (id) => asked(customers.retrieve(id).then(creditsOf)),
    upcoming: (customer, subscription) =>
      asked(expecting(isInvalid, null, invoices.createPreview({ customer, subscription }).then(upcoming))),
    invoices: (customer) => asked(invoices.list({ customer, limit: 100 }).then(({ data }) => listed(data))),
    subscription: (id) =>
      asked(expecting(isGone, { live: false, overdue: false }, subscriptions.retrieve(id).then(stateOf))),
    invoicePaid: (id) => asked(invoices.retrieve(id).then(({ status }) => status === 'paid')),
    rename: (customer, name) => asked(customers.update(customer, { name }).then(ignored)),
    cancel: (id) => asked(expecting(isGone, undefined, subscriptions.cancel(id).then(ignored))),
    report: ({ identifier, customer, credits, at }) => {
      const timestamp = Math.floor(at.getTime() / 1000);
      const payload = { stripe_customer_id: customer, value: String(credits) };
      const event = { event_name: settings.meterEventName, identifier, timestamp, payload };
      return asked(expecting(isReported, undefined, stripe.billing.meterEvents.create(event).then(ignored)));
    },
    event: (body, signature, now) => verifiedEvent(stripe, settings.webhookSecret, body, signature, now),
  };
}

function openStripe({ secretKey, apiUrl }: StripeSettings): Stripe {
  const { hostname, port, protocol } = new URL(apiUrl);
  const isHttps = protocol === 'https:';
  return new Stripe(secretKey, {
    host: hostname,
    port: port || (isHttps ? 443 : 80),
    protocol: isHttps ? 'https' : 'http',
    timeout: callMs,
    maxNetworkRetries: 2,
    telemetry: false,
  });
}

async function asked<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw new PaymentsUnreachable('Stripe did not serve a call', { cause });
  }
}

const ignored = () => undefined;

async function expecting<T>(isExpected: (error: unknown) => boolean, instead: T, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (isExpected(error)) return instead;
    throw error;
  });
}

async function checkout(
  stripe: Stripe,
  { billingUrl, onboardingPrice, usagePrice }: StripeSettings,
  { id, customer }: { id: string; customer: string | null },
  currency: string | null,
  now: Date,
): Promise<string> {
  const { url } = await stripe.checkout.sessions.create({
    mode: 'subscription',
    client_reference_id: id,
    ...(customer === null ? {} : { customer }),
    ...(currency === null ? {} : { currency }),
    line_items: [
      ...(onboardingPrice === null ? [] : [{ price: onboardingPrice, quantity: 1 }]),
      ...(usagePrice === null ? [] : [{ price: usagePrice }]),
    ],
    subscription_data: {
      billing_cycle_anchor: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1000,
      proration_behavior: 'none',
    },
    success_url: `${billingUrl}&success=true`,
    cancel_url: `${billingUrl}&canceled=true`,
  });
  if (url === null) throw new Error('Stripe named no page');
  return url;
}

// A negative balance is what Stripe owes the customer.
function creditsOf(customer: Stripe.Customer | Stripe.DeletedCustomer): CustomerCredits | null {
  if (customer.deleted) return null;
  const { balance, currency = null } = customer;
  return { balance, hasCredits: balance < 0, creditAmount: Math.max(0, -balance), currency };
}

function upcoming(invoice: Stripe.Invoice): UpcomingInvoice | null {
  const { amount_due: amountDue, currency, period_start, period_end, subtotal, total } = invoice;
  return { amountDue, currency, periodStart: instant(period_start), periodEnd: instant(period_end), subtotal, total };
}

function stateOf({ status }: Stripe.Subscription) {
  const live = !['canceled', 'incomplete', 'incomplete_expired'].includes(status);
  return { live, overdue: status === 'past_due' || status === 'unpaid' };
}

function verifiedEvent(stripe: Stripe, secret: string, body: Buffer, signature: string, now: Date): PaymentEvent {
  const signedAt = Number(/(?:^|,)t=(\d+)/.exec(signature)?.[1]);
  // The library refuses what is too old only.
  if (!(signedAt - now.getTime() / 1000 <= toleranceSeconds))
    throw new InvalidSignature('The webhook is from the future');
  try {
    return read(stripe.webhooks.constructEvent(body, signature, secret, toleranceSeconds, undefined, now.getTime()));
  } catch (cause) {
    throw new InvalidSignature('The webhook is not signed by Stripe', { cause });
  }
}

function read(event: Stripe.Event): PaymentEvent {
  const { id } = event;
  switch (event.type) {
    case 'checkout.session.completed': {
      const { client_reference_id: projectId, customer, subscription } = event.data.object;
      const [customerId, subscriptionId] = [idOf(customer), idOf(subscription)];
      if (projectId === null || customerId === null || subscriptionId === null) break;
      return { id, kind: 'checkout', projectId, customer: customerId, subscription: subscriptionId };
    }
    case 'invoice.paid': {
      const customer = idOf(event.data.object.customer);
      return customer === null ? { id, kind: 'other' } : { id, kind: 'paid', customer };
    }
    case 'invoice.payment_failed': {
      const { customer, billing_reason: reason, id: invoice } = event.data.object;
      const customerId = idOf(customer);
      // The first payment is part of the checkout, which has an event of its own.
      if (customerId === null || reason === 'subscription_create') break;
      return { id, kind: 'unpaid', customer: customerId, invoice };
    }
    case 'customer.subscription.deleted': {
      const { id: subscription, customer } = event.data.object;
      return { id, kind: 'ended', subscription, customer: idOf(customer) ?? '' };
    }
  }
  return { id, kind: 'other' };
}

function idOf(reference: string | { id: string } | null): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null);
}

function listed(invoices: readonly Stripe.Invoice[]): Invoices {
  const unpaid = invoices.filter(({ status }) => status === 'open' || status === 'uncollectible');
  return {
    invoices: invoices.map((invoice) => ({
      id: invoice.id,
      number: invoice.number,
      status: invoice.status,
      amountDue: invoice.amount_due,
      amountPaid: invoice.amount_paid,
      currency: invoice.currency,
      created: instant(invoice.created),
      periodStart: instant(invoice.period_start),
      periodEnd: instant(invoice.period_end),
      hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
      invoicePdf: invoice.invoice_pdf ?? null,
      subtotal: invoice.subtotal,
      total: invoice.total,
      paid: invoice.status === 'paid',
    })),
    hasUnpaidInvoices: unpaid.length > 0,
    unpaidInvoices: unpaid.map((invoice) => ({
      id: invoice.id,
      number: invoice.number,
      amountDue: invoice.amount_due,
      currency: invoice.currency,
      dueDate: invoice.due_date === null ? null : instant(invoice.due_date),
      hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    })),
  };
}

function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

const isInvalid = (error: unknown) => error instanceof Stripe.errors.StripeInvalidRequestError;

const isGone = (error: unknown) =>
  error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';

// A report that was made before, by an attempt whose answer was lost.
const isReported = (error: unknown) =>
  error instanceof Stripe.errors.StripeInvalidRequestError &&
  (error.code === 'resource_already_exists' || /identifier/.test(error.message));
