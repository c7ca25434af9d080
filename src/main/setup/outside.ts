import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

const checkEveryMs = 10_000;
// Timers, polls and health checks of a process without work take less.
const busyShare = 0.15;

// By how much the heap may grow beyond what was live at its last full collection, in percent. On a machine with much memory V8 lets it grow
// to three times that: 700 MB of `npm start` under load where these are 450, at the same rate of requests.
const heapGrowth = 60;

/**
 * Keeps the heap near what is live in it, and gives memory back to the system when this process has had little to do for ten seconds, once
 * after each time it was busy. V8 keeps what a start or a burst needed until the next full collection, which without work never
 * comes (measured: 40 to 100 MB).
 */
export function keepMemoryLow(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`);
  let wasBusy = true;
  let before = process.cpuUsage();
  const check = () => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const isBusy = user + system > busyShare * checkEveryMs * 1_000;
    if (wasBusy && !isBusy) collect();
    wasBusy = isBusy;
  };
  setInterval(check, checkEveryMs).unref();
}

// The flag makes `gc` in contexts that are made later, not in ours.
function collect(): void {
  flushCompileCache();
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  void gc({ type: 'major', flavor: 'last-resort', execution: 'async' });
}

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
