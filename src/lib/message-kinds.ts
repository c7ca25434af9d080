/** Which rules of subscription, footer and headers a mail follows (docs/contract/core.md#2-5). */
export type MessageClass = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';

/** The source of a mail. */
export type SourceType = 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW';
