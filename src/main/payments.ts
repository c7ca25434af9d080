import type { Payments } from '../billing/payments.ts';
import { stripePayments } from '../billing/stripe-payments.ts';
import type { Config } from '../config.ts';

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
