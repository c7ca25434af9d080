/** Which rules of subscription, footer and headers a mail follows (docs/contract/core.md#2-5). */
export type MessageClass = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';

/** What a mail is sent for. */
export type SourceType = 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW';
