/** What a mail is sent for. */
export type SourceType = 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW';
