/** Why a row was left out on purpose (contract page 2, 2.3). The texts are stored; the audit counts by them. */
export const skipReasons = {
  unsubscribed: 'Contact is unsubscribed',
  cancelled: 'Campaign cancelled',
} as const;

/** Why a row could not be sent for a matter of the project. */
export const refusalReasons = {
  disabled: 'Project is disabled',
  unverified: 'Sender domain is not verified',
} as const;
