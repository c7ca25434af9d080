import type { Config } from '../core/config/config.ts';
import type { Payments } from '../platform/billing/payments.ts';
import { stripePayments } from '../platform/billing/stripe-payments.ts';

/** The payment processor; null where billing is not enabled. */
export function createPayments(config: Config): Payments | null {
  const { STRIPE_SK: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = config;
  if (secretKey === null || webhookSecret === null) return null;
  return stripePayments({
    secretKey,
    webhookSecret,
    apiUrl: config.STRIPE_API_URL,
    usagePrice: config.STRIPE_PRICE_EMAIL_USAGE,
    onboardingPrice: config.STRIPE_PRICE_ONBOARDING,
    meterEventName: config.STRIPE_METER_EVENT_NAME,
    dashboardUrl: config.DASHBOARD_URI,
  });
}
