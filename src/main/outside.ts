import type { Mailer } from '@posthorn/mail-providers';
import type { Logger } from 'pino';
import type { Config } from '../core/config/config.ts';
import type { Database } from '../core/database/sql.ts';
import { callLimits } from '../core/net/outgoing/call.ts';
import { guardedConnector } from '../core/net/outgoing/guard.ts';
import type { Payments } from '../platform/billing/index.ts';
import { createDomainLookup, createDomainProvider, createMailer, createTellMembers } from './mail.ts';

/** The parts of API and worker that speak to the world outside. */
export async function outsideOf(config: Config, log: Logger, db: Database, mailer?: Mailer) {
  return {
    mailer: mailer ?? (await createMailer(config, log, db)),
    domainProvider: await createDomainProvider(config),
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
  const { stripePayments } = await import('../platform/billing/stripe-payments.ts');
  return stripePayments(config, config.STRIPE_SK, config.STRIPE_WEBHOOK_SECRET);
}
