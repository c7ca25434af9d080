import Stripe from 'stripe';
import type { Config } from '../config.ts';

/** Cancels subscriptions of deleted projects at Stripe. Rejects where billing is not configured. */
export function createSubscriptionCanceller(config: Config): (subscription: string) => Promise<void> {
  const key = config.STRIPE_SK;
  if (key === null) return () => Promise.reject(new Error('STRIPE_SK is not set'));
  const stripe = new Stripe(key, { maxNetworkRetries: 3 });
  return async (subscription) => {
    await stripe.subscriptions.cancel(subscription);
  };
}
