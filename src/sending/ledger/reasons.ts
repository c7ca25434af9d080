/** Why mail is not sent after all. The texts are stored, and counts and verdicts go by some of them. */
export const refusals = {
  disabled: 'Project is disabled',
  unverified: 'Sender domain is not verified',
  /** Mail to one contact; a failure that events tell of. */
  notSubscribed: 'The contact is not subscribed',
  /** A recipient who is left out of a campaign on purpose; counted, without an event (migration `failed_mail`). */
  unsubscribed: 'Contact is unsubscribed',
  cancelled: 'Campaign cancelled',
} as const;

const refusedByProviderText = 'Refused by the provider';

/** Why mail failed or bounced that the provider has refused for good. */
export function refusedByProvider(code: number, reason: string): string {
  return `${refusedByProviderText} (${code}): ${reason}`;
}

/** The condition that an error is the provider's last word on a message, as `refusedByProvider` says it. */
export function isRefusedByProvider(column: string): string {
  return `${column} like '${refusedByProviderText}%'`;
}

// What is left out of a campaign on purpose (contract page 2, 2.3).
const leftOut = [refusals.unsubscribed, refusals.cancelled].map((reason) => `'${reason}'`).join(', ');

/** The condition that mail which was not sent was left out on purpose; its columns by alias. */
export function isLeftOut(alias: string): string {
  return `(${alias}.status = 'SUPPRESSED' or coalesce(${alias}.error in (${leftOut}), false))`;
}
