import { queuePrefix as earlierQueuePrefix } from '@fernpost/earlier-name';
import type { Logger } from 'pino';
import { reviveAutomation } from '../../automations/runtime/recovery.ts';
import type { Payments } from '../../billing/payments/payments.ts';
import { reviveCampaign } from '../../campaigns/lifecycle/recovery.ts';
import type { Mailer } from '../../domains/providers/mailer.ts';
import { callLimits } from '../../http/guarded-requests/call.ts';
import { guardedConnector } from '../../http/guarded-requests/guard.ts';
import { launchGate } from '../../launches/gate.ts';
import type { Config } from '../../lib/config/config.ts';
import type { Revivers } from '../../store/outbox/dispatcher.ts';
import { hasWorkedOn } from '../../store/outbox/store-state.ts';
import type { Database } from '../../store/sql.ts';
import {
  createDomainLookup,
  createDomainProvider,
  createMailer,
  createMessageEraser,
  createTellMembers,
} from './mail.ts';

/**
 * The settings with the task queues that this installation uses: those of TEMPORAL_TASK_QUEUE. Where it is not set, an installation whose
 * reconciler has run on the queues of the earlier name keeps them, because its open executions are there.
 */
export async function withOwnQueues(config: Config, db: Database): Promise<Config> {
  if (config.namesQueues || !(await hasWorkedOn(db, earlierQueuePrefix))) return config;
  return { ...config, TEMPORAL_TASK_QUEUE: earlierQueuePrefix };
}

/**
 * Who decides about an execution that a signal did not find, by the first part of its workflow id. A subject whose
 * signals travel through the outbox adds its own: `campaign` for `campaign/<id>/<seq>`.
 */
export const revivers: Revivers = { campaign: reviveCampaign, automation: reviveAutomation };

/** The parts that API and worker share: those that speak to the world outside, and the decisions of launches that campaigns ask for. */
export async function outsideOf(config: Config, log: Logger, db: Database, mailer?: Mailer) {
  return {
    launchGate,
    mailer: mailer ?? (await createMailer(config, log, db)),
    domainProvider: await createDomainProvider(config),
    eraseMessages: createMessageEraser(config),
    dns: createDomainLookup(config),
    tellMembers: createTellMembers(config),
    payments: await createPayments(config),
    connectOut: guardedConnector(
      { allowedHosts: config.WEBHOOK_ALLOWED_HOSTS, dnsServers: config.DNS_SERVERS },
      callLimits.hopMs,
    ),
  };
}

/** Payments by Stripe, whose SDK is loaded only then; null where billing is not enabled. */
async function createPayments(config: Config): Promise<Payments | null> {
  if (config.STRIPE_SK === null || config.STRIPE_WEBHOOK_SECRET === null) return null;
  const { stripePayments } = await import('../../billing/payments/stripe.ts');
  return stripePayments({
    apiUrl: config.STRIPE_API_URL,
    secretKey: config.STRIPE_SK,
    webhookSecret: config.STRIPE_WEBHOOK_SECRET,
    billingUrl: `${config.DASHBOARD_URI}/settings?tab=billing`,
    onboardingPrice: config.STRIPE_PRICE_ONBOARDING,
    usagePrice: config.STRIPE_PRICE_EMAIL_USAGE,
    meterEventName: config.STRIPE_METER_EVENT_NAME,
  });
}
