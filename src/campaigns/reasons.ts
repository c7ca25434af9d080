/** Why a row was left out on purpose (contract page 2, 2.3). The texts are stored; counts and verdicts go by them. */
export const skipReasons = {
  unsubscribed: 'Contact is unsubscribed',
  cancelled: 'Campaign cancelled',
} as const;

/** Why a row could not be sent for a matter of the project. */
export const refusalReasons = {
  disabled: 'Project is disabled',
  unverified: 'Sender domain is not verified',
} as const;

/** How every reason begins that is the provider's last word on a message. */
export const refusedByProvider = 'Refused by the provider';

const skipTexts = Object.values(skipReasons)
  .map((reason) => `'${reason}'`)
  .join(', ');

/** The condition that a row which will never be sent was left out on purpose; its columns by alias. */
export function isSkipped(alias: string): string {
  return `(${alias}.status = 'SUPPRESSED' or coalesce(${alias}.error in (${skipTexts}), false))`;
}
