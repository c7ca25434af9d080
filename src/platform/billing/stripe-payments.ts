import Stripe from 'stripe';
import { isUuid } from '../../core/lib/ids.ts';
import { InvalidSignature, type PaymentEvent, type Payments, PaymentsUnreachable } from './payments.ts';
import type { InvoiceList } from './schema.ts';

/** How to use Stripe. */
export interface StripeSettings {
  secretKey: string;
  webhookSecret: string;
  apiUrl: string;
  usagePrice: string | null;
  onboardingPrice: string | null;
  meterEventName: string;
  /** Base of the pages to come back to. */
  dashboardUrl: string;
}

const callMs = 15_000;
const toleranceSeconds = 300;

/** Payments by Stripe. */
export function stripePayments(settings: StripeSettings): Payments {
  const url = new URL(settings.apiUrl);
  const stripe = new Stripe(settings.secretKey, {
    host: url.hostname,
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    protocol: url.protocol === 'https:' ? 'https' : 'http',
    timeout: callMs,
    maxNetworkRetries: 2,
    telemetry: false,
  });
  const billingTab = `${settings.dashboardUrl}/settings?tab=billing`;
  const asked = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      throw new PaymentsUnreachable('Stripe did not serve a call', { cause: error });
    }
  };
  return {
    checkout: (project, currency, now) =>
      asked(async () => {
        const session = await stripe.checkout.sessions.create({
          mode: 'subscription',
          client_reference_id: project.id,
          ...(project.customer === null ? {} : { customer: project.customer }),
          ...(currency === null ? {} : { currency }),
          line_items: [
            ...(settings.onboardingPrice === null ? [] : [{ price: settings.onboardingPrice, quantity: 1 }]),
            ...(settings.usagePrice === null ? [] : [{ price: settings.usagePrice }]),
          ],
          subscription_data: {
            billing_cycle_anchor: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1000,
            proration_behavior: 'none',
          },
          success_url: `${billingTab}&success=true`,
          cancel_url: `${billingTab}&canceled=true`,
        });
        if (session.url === null) throw new Error('Stripe named no page');
        return session.url;
      }),
    portal: (customer) =>
      asked(async () => (await stripe.billingPortal.sessions.create({ customer, return_url: billingTab })).url),
    currency: (id) =>
      asked(async () => {
        const customer = await stripe.customers.retrieve(id);
        return customer.deleted ? null : (customer.currency ?? null);
      }),
    credits: (id) =>
      asked(async () => {
        const customer = await stripe.customers.retrieve(id);
        if (customer.deleted) return null;
        const { balance } = customer;
        // A negative balance is what Stripe owes the customer.
        return {
          balance,
          hasCredits: balance < 0,
          creditAmount: Math.max(0, -balance),
          currency: customer.currency ?? null,
        };
      }),
    upcoming: (customer, subscription) =>
      asked(async () => {
        try {
          const invoice = await stripe.invoices.createPreview({ customer, subscription });
          return {
            amountDue: invoice.amount_due,
            currency: invoice.currency,
            periodStart: instant(invoice.period_start),
            periodEnd: instant(invoice.period_end),
            subtotal: invoice.subtotal,
            total: invoice.total,
          };
        } catch (error) {
          if (error instanceof Stripe.errors.StripeInvalidRequestError) return null;
          throw error;
        }
      }),
    invoices: (customer) => asked(async () => listed((await stripe.invoices.list({ customer, limit: 100 })).data)),
    subscription: (id) =>
      asked(async () => {
        try {
          const { status } = await stripe.subscriptions.retrieve(id);
          return {
            live: !['canceled', 'incomplete', 'incomplete_expired'].includes(status),
            overdue: status === 'past_due' || status === 'unpaid',
          };
        } catch (error) {
          if (isGone(error)) return { live: false, overdue: false };
          throw error;
        }
      }),
    invoicePaid: (id) => asked(async () => (await stripe.invoices.retrieve(id)).status === 'paid'),
    rename: (customer, name) => asked(async () => void (await stripe.customers.update(customer, { name }))),
    cancel: (id) =>
      asked(async () => {
        await stripe.subscriptions.cancel(id).catch((error: unknown) => {
          if (!isGone(error)) throw error;
        });
      }),
    report: ({ identifier, customer, credits, at }) =>
      asked(async () => {
        await stripe.billing.meterEvents
          .create({
            event_name: settings.meterEventName,
            identifier,
            timestamp: Math.floor(at.getTime() / 1000),
            payload: { stripe_customer_id: customer, value: String(credits) },
          })
          .catch((error: unknown) => {
            if (!isReported(error)) throw error;
          });
      }),
    event: (body, signature, now) => {
      const signedAt = Number(/(?:^|,)t=(\d+)/.exec(signature)?.[1]);
      // The library minds the past only.
      if (!(signedAt - now.getTime() / 1000 <= toleranceSeconds))
        throw new InvalidSignature('The webhook is from the future');
      try {
        return read(
          stripe.webhooks.constructEvent(
            body,
            signature,
            settings.webhookSecret,
            toleranceSeconds,
            undefined,
            now.getTime(),
          ),
        );
      } catch (error) {
        throw new InvalidSignature('The webhook is not signed by Stripe', { cause: error });
      }
    },
  };
}

function read(event: Stripe.Event): PaymentEvent {
  const { id } = event;
  switch (event.type) {
    case 'checkout.session.completed': {
      const { client_reference_id: projectId, customer, subscription } = event.data.object;
      const [customerId, subscriptionId] = [idOf(customer), idOf(subscription)];
      if (projectId === null || !isUuid(projectId) || customerId === null || subscriptionId === null) break;
      return { id, kind: 'checkout', projectId, customer: customerId, subscription: subscriptionId };
    }
    case 'invoice.paid': {
      const customer = idOf(event.data.object.customer);
      return customer === null ? { id, kind: 'other' } : { id, kind: 'paid', customer };
    }
    case 'invoice.payment_failed': {
      const { customer, billing_reason: reason, id: invoice } = event.data.object;
      const customerId = idOf(customer);
      // The first payment is part of the checkout, which tells about it itself.
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

function listed(invoices: readonly Stripe.Invoice[]): InvoiceList {
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

function isGone(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';
}

// A report that was made before, by an attempt whose answer was lost.
function isReported(error: unknown): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    (error.code === 'resource_already_exists' || /identifier/.test(error.message))
  );
}
