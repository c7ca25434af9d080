/** The credit of a customer; amounts are in the currency's smallest unit. */
export interface CustomerCredits {
  balance: number;
  hasCredits: boolean;
  creditAmount: number;
  currency: string | null;
}

/** An invoice that is still being added to. Instants are ISO 8601. */
export interface UpcomingInvoice {
  amountDue: number;
  currency: string;
  periodStart: string;
  periodEnd: string;
  subtotal: number;
  total: number;
}

/** An invoice of the past. */
interface Invoice extends UpcomingInvoice {
  id: string;
  number: string | null;
  status: string | null;
  amountPaid: number;
  created: string;
  hostedInvoiceUrl: string | null;
  invoicePdf: string | null;
  paid: boolean;
}

/** Invoices of a customer, and which of them are still to be paid. */
export interface Invoices {
  invoices: Invoice[];
  hasUnpaidInvoices: boolean;
  unpaidInvoices: (Pick<Invoice, 'id' | 'number' | 'amountDue' | 'currency' | 'hostedInvoiceUrl'> & {
    dueDate: string | null;
  })[];
}

/** A subscription as the processor has it now. */
interface SubscriptionState {
  /** Whether it goes on: a canceled or never completed one does not. */
  live: boolean;
  /** Whether a payment is overdue. */
  overdue: boolean;
}

/** One mail to charge for. */
interface UsageReport {
  /** The same report twice is charged once. */
  identifier: string;
  customer: string;
  credits: number;
  at: Date;
}

/** A verified message of the processor, as far as it concerns us. */
export type PaymentEvent = { id: string } & (
  | { kind: 'checkout'; projectId: string; customer: string; subscription: string }
  | { kind: 'paid'; customer: string }
  | { kind: 'unpaid'; customer: string; invoice: string }
  | { kind: 'ended'; customer: string; subscription: string }
  | { kind: 'other' }
);

/** The payment processor. Every call rejects with `PaymentsUnreachable` when it cannot be asked. */
export interface Payments {
  /** The page on which a project subscribes. */
  checkout(project: { id: string; customer: string | null }, currency: string | null, now: Date): Promise<string>;
  /** The page on which a customer manages what they pay with. */
  portal(customer: string): Promise<string>;
  /** The customer's currency; null for none. */
  currency(customer: string): Promise<string | null>;
  credits(customer: string): Promise<CustomerCredits | null>;
  /** The cost of the running period; null when there is no such invoice. */
  upcoming(customer: string, subscription: string): Promise<UpcomingInvoice | null>;
  /** The latest 100 invoices. */
  invoices(customer: string): Promise<Invoices>;
  subscription(id: string): Promise<SubscriptionState>;
  invoicePaid(id: string): Promise<boolean>;
  rename(customer: string, name: string): Promise<void>;
  /** Ends a subscription at once; one that is gone counts as ended. */
  cancel(subscription: string): Promise<void>;
  report(usage: UsageReport): Promise<void>;
  /** Reads a webhook. @throws InvalidSignature */
  event(body: Buffer, signature: string, now: Date): PaymentEvent;
}

/** The processor cannot be asked at the moment. */
export class PaymentsUnreachable extends Error {
  override name = 'PaymentsUnreachable';
}

/** A webhook that is not the processor's, or too old. */
export class InvalidSignature extends Error {
  override name = 'InvalidSignature';
}
