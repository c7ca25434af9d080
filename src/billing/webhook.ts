import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { isUuid } from '../lib/ids.ts';
import { field } from '../lib/validation/fields.ts';
import { noteReceipt } from '../store/columns.ts';
import type { OutboxTicket } from '../store/outbox/queries.ts';
import type { Database } from '../store/sql.ts';
import { noteCustomer, noteEnd, pauseForPayment, projectOfCustomer, resumeAfterPayment } from './daily-queries.ts';
import { InvalidSignature, type PaymentEvent, type Payments } from './payments/payments.ts';
import { beginReports } from './reports.ts';
import { stopCounting } from './usage-queries.ts';

/** The parts of the service that webhooks change. */
interface PaymentWebhookDeps
  extends Pick<App, 'db' | 'directory' | 'payments' | 'tellMembers' | 'outbox' | 'log' | 'clock'> {}

/** The body of every answer to the processor, of refusals too. */
export const paymentWebhookReplySchema = v.object({
  success: field('Whether the webhook was processed.', v.boolean()),
  error: field('Why the webhook was refused; absent when it was processed.', v.optional(v.string())),
  received: field('Always true; absent when the webhook was refused.', v.optional(v.literal(true))),
});

export interface PaymentWebhookAnswer {
  status: 200 | 400 | 404 | 500;
  body: v.InferOutput<typeof paymentWebhookReplySchema>;
}

interface Effect {
  /** The project whose row changed; null for none. */
  projectId: string | null;
  tickets: OutboxTicket[];
  /** A customer to rename once all is written down. */
  customer?: { id: string; name: string };
}

const nothing: Effect = { projectId: null, tickets: [] };

/**
 * Takes one webhook (docs/contract/platform.md#6-8): what is not signed by the processor is refused, each event counts once, and
 * where the order of events would matter the processor is asked how things stand now. Never rejects.
 */
export async function takePaymentWebhook(
  deps: PaymentWebhookDeps,
  body: Buffer,
  signature: string,
): Promise<PaymentWebhookAnswer> {
  const { payments } = deps;
  if (payments === null) return refused(404, 'Billing is disabled');
  if (signature === '') return refused(400, 'Missing signature');
  let event: PaymentEvent;
  try {
    event = payments.event(body, signature, deps.clock());
  } catch (error) {
    if (!(error instanceof InvalidSignature)) throw error;
    return refused(400, 'Invalid signature');
  }
  try {
    await apply(deps, payments, event);
    return { status: 200, body: { success: true, received: true } };
  } catch (error) {
    deps.log.error({ err: error, event: event.id }, 'a webhook of the payment processor could not be processed');
    return refused(500, 'Webhook processing failed');
  }
}

async function apply(deps: PaymentWebhookDeps, payments: Payments, event: PaymentEvent): Promise<void> {
  // A checkout that names no project of ours is somebody else's.
  if (event.kind === 'other' || (event.kind === 'checkout' && !isUuid(event.projectId))) return;
  const change = await changeFor(deps, payments, event);
  const effect = await deps.db.transaction(async (tx) => {
    return (await noteReceipt(tx, 'stripe', event.id)) ? change(tx) : nothing;
  });
  deps.outbox.dispatchSoon(...effect.tickets);
  if (effect.projectId !== null) await deps.directory.forgetEverywhere(effect.projectId);
  if (effect.customer === undefined) return;
  await payments.rename(effect.customer.id, effect.customer.name).catch((error: unknown) => {
    deps.log.warn({ err: error, projectId: effect.projectId }, 'a customer could not be renamed to its project');
  });
}

/** Asks what the event leaves open, and answers the change to make in the transaction that notes the event. */
async function changeFor(
  deps: PaymentWebhookDeps,
  payments: Payments,
  event: Exclude<PaymentEvent, { kind: 'other' }>,
): Promise<(tx: Database) => Promise<Effect>> {
  if (event.kind === 'checkout') {
    const { projectId, customer } = event;
    // Its end may have been reported before its beginning.
    const { live } = await payments.subscription(event.subscription);
    return async (tx) => {
      if (!(await noteCustomer(tx, projectId, customer, live ? event.subscription : null))) {
        deps.log.warn({ projectId, event: event.id }, 'a checkout is for no project, or its customer has another one');
        return nothing;
      }
      await beginReports(tx, projectId);
      await stopCounting(tx, projectId);
      const project = await projectOfCustomer(tx, customer);
      return { projectId, tickets: [], customer: { id: customer, name: project?.name ?? '' } };
    };
  }
  const project = await projectOfCustomer(deps.db, event.customer);
  if (project === null) return async () => nothing;
  const changed = (tickets: OutboxTicket[] = []): Effect => ({ projectId: project.id, tickets });
  switch (event.kind) {
    case 'paid': {
      const { subscription } = project;
      // An older invoice says nothing of the one that is overdue.
      if (subscription !== null && (await payments.subscription(subscription)).overdue) return async () => nothing;
      return async (tx) => ((await resumeAfterPayment(tx, project.id)) ? changed() : nothing);
    }
    case 'unpaid':
      if (await payments.invoicePaid(event.invoice)) return async () => nothing;
      return async (tx) => {
        if (!(await pauseForPayment(tx, project.id))) return nothing;
        const mail = { projectId: project.id, kind: 'payment-failed', path: '/settings?tab=billing' } as const;
        return changed(await deps.tellMembers(tx, { ...mail, dedupeKey: `payment-failed:${event.id}` }));
      };
    case 'ended':
      return async (tx) => {
        if (!(await noteEnd(tx, event.customer, event.subscription))) return nothing;
        await stopCounting(tx, project.id);
        return changed();
      };
  }
}

function refused(status: 400 | 404 | 500, error: string): PaymentWebhookAnswer {
  return { status, body: { success: false, error } };
}
