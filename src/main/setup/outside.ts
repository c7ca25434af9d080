import { callLimits, guardedConnector } from '@fernpost/guarded-requests';
import type { Mailer } from '@fernpost/mail-providers';
import type { Payments } from '@fernpost/payments';
import type { Logger } from 'pino';
import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import {
  createDomainLookup,
  createDomainProvider,
  createMailer,
  createMessageEraser,
  createTellMembers,
} from './mail.ts';

/** The parts of API and worker that speak to the world outside. */
export async function outsideOf(config: Config, log: Logger, db: Database, mailer?: Mailer) {
  return {
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
  const { stripePayments } = await import('@fernpost/payments/stripe');
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
