import * as v from 'valibot';
import { coded, field, Instant, Integer, nameSchemas } from '../lib/validation/fields.ts';

const UsageLimit = v.object({
  limit: field('Maximum number of emails in the period; null for no limit.', v.nullable(Integer)),
  usage: field('Number of emails in the period so far.', Integer),
  percentage: field('Usage as a whole percentage of the limit; 0 without a limit.', Integer),
  isWarning: field('Whether at least 80 percent of the limit are used.', v.boolean()),
  isBlocked: field('Whether the limit is reached, so that further emails are refused.', v.boolean()),
});
export type UsageLimit = v.InferOutput<typeof UsageLimit>;

/** Limits and usage of this month (docs/contract/platform.md#6-3). */
export const BillingLimits = v.object({
  workflows: field('Limit and usage of workflow emails in this month.', UsageLimit),
  campaigns: field('Limit and usage of campaign emails in this month.', UsageLimit),
  transactional: field('Limit and usage of transactional emails in this month.', UsageLimit),
  inbound: field('Limit and usage of received emails in this month.', UsageLimit),
  daily: field(
    'Emails of today (UTC), for a project that the operator of the service has not approved.',
    v.optional(UsageLimit),
  ),
  currency: field('Currency of the account, such as `usd`; null without a customer.', v.nullable(v.string())),
});
export type BillingLimits = v.InferOutput<typeof BillingLimits>;

const largest = 2_147_483_647;
const NewLimit = v.nullable(
  v.pipe(
    v.union([v.number(), v.string()], 'must be a positive whole number, or null for no limit'),
    v.transform((value) => (typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value)),
    coded(
      'invalid_type',
      (value: number | string) => typeof value === 'number' && Number.isInteger(value),
      'must be a positive whole number, or null for no limit',
    ),
    coded('too_small', (value: number | string) => typeof value !== 'number' || value > 0, 'must be at least 1'),
    coded(
      'too_big',
      (value: number | string) => typeof value !== 'number' || value <= largest,
      `must be at most ${largest}; null is no limit`,
    ),
    v.transform(Number),
  ),
);

/** `PUT …/billing-limits`: all four are required. */
export const ChangeLimits = v.object({
  workflows: field('New monthly limit of workflow emails; null for no limit.', NewLimit),
  campaigns: field('New monthly limit of campaign emails; null for no limit.', NewLimit),
  transactional: field('New monthly limit of transactional emails; null for no limit.', NewLimit),
  inbound: field('New monthly limit of received emails; null for no limit.', NewLimit),
});
export type ChangeLimits = v.InferOutput<typeof ChangeLimits>;

/** Usage and cost of the running month so far (docs/contract/platform.md#6-5). Amounts are in the currency's smallest unit. */
export const Consumption = v.object({
  period: field(
    'The running billing period.',
    v.object({ start: field('Start of the period.', Instant), end: field('End of the period.', Instant) }),
  ),
  usage: field(
    'Usage in the period.',
    v.object({
      total: field('Number of emails in the period so far.', Integer),
      records: field('Always empty; kept for existing clients.', v.pipe(v.array(v.unknown()), v.maxLength(0))),
    }),
  ),
  credits: field(
    'Credit of the account; null without a customer.',
    v.nullable(
      v.object({
        balance: field('Balance of the account, in the smallest unit of the currency; negative for a credit.', Integer),
        hasCredits: field('Whether the account has a credit.', v.boolean()),
        creditAmount: field('Amount of the credit, in the smallest unit of the currency.', Integer),
        currency: field('Currency of the balance, such as `usd`; null without one.', v.nullable(v.string())),
      }),
    ),
  ),
  upcomingInvoice: field(
    'Preview of the next invoice; null without one.',
    v.nullable(
      v.object({
        amountDue: field('Amount due, in the smallest unit of the currency.', Integer),
        currency: field('Currency of the invoice, such as `usd`.', v.string()),
        periodStart: field('Start of the billing period.', Instant),
        periodEnd: field('End of the billing period.', Instant),
        subtotal: field('Amount before taxes, in the smallest unit of the currency.', Integer),
        total: field('Total amount, in the smallest unit of the currency.', Integer),
      }),
    ),
  ),
});
export type Consumption = v.InferOutput<typeof Consumption>;

/** Invoices of a customer (docs/contract/platform.md#6-6). */
export const InvoiceList = v.object({
  invoices: field(
    'Invoices of the project, newest first.',
    v.array(
      v.object({
        id: field('ID of the invoice at the payment processor.', v.string()),
        number: field('Number of the invoice; null for a draft.', v.nullable(v.string())),
        status: field(
          'Status of the invoice at the payment processor, such as `open` or `paid`; null without one.',
          v.nullable(v.string()),
        ),
        amountDue: field('Amount due, in the smallest unit of the currency.', Integer),
        amountPaid: field('Amount paid so far, in the smallest unit of the currency.', Integer),
        currency: field('Currency of the invoice, such as `usd`.', v.string()),
        created: field('Time at which the invoice was created.', Instant),
        periodStart: field('Start of the billing period.', Instant),
        periodEnd: field('End of the billing period.', Instant),
        hostedInvoiceUrl: field(
          "URL of the invoice's page at the payment processor; null without one.",
          v.nullable(v.string()),
        ),
        invoicePdf: field('URL of the invoice as PDF; null without one.', v.nullable(v.string())),
        subtotal: field('Amount before taxes, in the smallest unit of the currency.', Integer),
        total: field('Total amount, in the smallest unit of the currency.', Integer),
        paid: field('Whether the invoice is paid.', v.boolean()),
      }),
    ),
  ),
  hasUnpaidInvoices: field('Whether any invoice is unpaid.', v.boolean()),
  unpaidInvoices: field(
    'The unpaid invoices.',
    v.array(
      v.object({
        id: field('ID of the invoice at the payment processor.', v.string()),
        number: field('Number of the invoice; null for a draft.', v.nullable(v.string())),
        amountDue: field('Amount due, in the smallest unit of the currency.', Integer),
        currency: field('Currency of the invoice, such as `usd`.', v.string()),
        dueDate: field('Time at which the invoice is due; null without one.', v.nullable(Instant)),
        hostedInvoiceUrl: field(
          "URL of the invoice's page at the payment processor; null without one.",
          v.nullable(v.string()),
        ),
      }),
    ),
  ),
});
export type InvoiceList = v.InferOutput<typeof InvoiceList>;

export const PaymentPage = v.object({
  url: field('URL of the page at the payment processor; open it in a browser.', v.string()),
});

nameSchemas({ BillingLimits, UsageLimit, BillingConsumption: Consumption, InvoiceList, PaymentPage });
