import { isLeftOut, leftOutReasons } from '../ledger/index.ts';

/** Why a row was left out on purpose. The texts are stored; counts and verdicts go by them. */
export const skipReasons = leftOutReasons;

/** Why a row could not be sent for a matter of the project. */
export const refusalReasons = {
  disabled: 'Project is disabled',
  unverified: 'Sender domain is not verified',
} as const;

/** How every reason begins that is the provider's last word on a message. */
export const refusedByProvider = 'Refused by the provider';

/** The condition that a row which will never be sent was left out on purpose; its columns by alias. */
export const isSkipped = isLeftOut;
