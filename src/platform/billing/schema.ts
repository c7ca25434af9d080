import { nameSchemas } from '@fernpost/openapi/names';
import { coded, Instant } from '@fernpost/validation';
import * as v from 'valibot';

const UsageLimit = v.object({
  limit: v.nullable(v.number()),
  usage: v.number(),
  /** Of the limit; 0 without one. */
  percentage: v.number(),
  isWarning: v.boolean(),
  isBlocked: v.boolean(),
});
export type UsageLimit = v.InferOutput<typeof UsageLimit>;

/** Limits and usage of this month (contract page 3, 6.3). */
export const BillingLimits = v.object({
  workflows: UsageLimit,
  campaigns: UsageLimit,
  transactional: UsageLimit,
  inbound: UsageLimit,
  daily: v.pipe(
    v.optional(UsageLimit),
    v.description('Emails of today (UTC), for a project that the operator of the service has not approved.'),
  ),
  currency: v.nullable(v.string()),
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
  workflows: NewLimit,
  campaigns: NewLimit,
  transactional: NewLimit,
  inbound: NewLimit,
});
export type ChangeLimits = v.InferOutput<typeof ChangeLimits>;

/** What the running month came to so far (contract page 3, 6.5). Amounts are in the currency's smallest unit. */
export const Consumption = v.object({
  period: v.object({ start: Instant, end: Instant }),
  usage: v.object({ total: v.number(), records: v.array(v.never()) }),
  credits: v.nullable(
    v.object({
      balance: v.number(),
      hasCredits: v.boolean(),
      creditAmount: v.number(),
      currency: v.nullable(v.string()),
    }),
  ),
  upcomingInvoice: v.nullable(
    v.object({
      amountDue: v.number(),
      currency: v.string(),
      periodStart: Instant,
      periodEnd: Instant,
      subtotal: v.number(),
      total: v.number(),
    }),
  ),
});
export type Consumption = v.InferOutput<typeof Consumption>;

/** Invoices of a customer (contract page 3, 6.6). */
export const InvoiceList = v.object({
  invoices: v.array(
    v.object({
      id: v.string(),
      number: v.nullable(v.string()),
      status: v.nullable(v.string()),
      amountDue: v.number(),
      amountPaid: v.number(),
      currency: v.string(),
      created: Instant,
      periodStart: Instant,
      periodEnd: Instant,
      hostedInvoiceUrl: v.nullable(v.string()),
      invoicePdf: v.nullable(v.string()),
      subtotal: v.number(),
      total: v.number(),
      paid: v.boolean(),
    }),
  ),
  hasUnpaidInvoices: v.boolean(),
  unpaidInvoices: v.array(
    v.object({
      id: v.string(),
      number: v.nullable(v.string()),
      amountDue: v.number(),
      currency: v.string(),
      dueDate: v.nullable(Instant),
      hostedInvoiceUrl: v.nullable(v.string()),
    }),
  ),
});
export type InvoiceList = v.InferOutput<typeof InvoiceList>;

export const PaymentPage = v.object({ url: v.string() });

nameSchemas({ BillingLimits, UsageLimit, BillingConsumption: Consumption, InvoiceList, PaymentPage });
