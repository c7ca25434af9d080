/** Which rules of subscription, footer and headers a mail follows (contract page 1, 2.5). */
export type MessageClass = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';
