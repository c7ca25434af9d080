export interface WipedTable {
  table: string;
  /** `id`: page by page along an index of (project_id, id), for tables of millions; `any`: in any order. */
  by: 'id' | 'any';
  /** Rows in one transaction: fewer where other rows go with each. */
  rows: number;
}

// What waits to be sent goes first, then what refers to others, so that little is left for foreign keys to take along.
// Catalogues come last, for deleting contacts and events writes to them.
const content: readonly WipedTable[] = [
  { table: 'email_queue', by: 'any', rows: 10_000 },
  { table: 'automation_runs', by: 'any', rows: 2_000 },
  { table: 'events', by: 'id', rows: 10_000 },
  { table: 'emails', by: 'id', rows: 5_000 },
  { table: 'campaigns', by: 'any', rows: 20 },
  { table: 'dry_runs', by: 'any', rows: 1 },
  { table: 'contacts', by: 'id', rows: 2_000 },
  { table: 'automations', by: 'any', rows: 5 },
  { table: 'segments', by: 'any', rows: 20 },
  { table: 'templates', by: 'any', rows: 1_000 },
  { table: 'content_versions', by: 'any', rows: 1_000 },
  { table: 'jobs', by: 'any', rows: 200 },
  { table: 'event_counts', by: 'any', rows: 10_000 },
  { table: 'contact_changes', by: 'any', rows: 10_000 },
  { table: 'contacts_trash', by: 'any', rows: 10_000 },
  { table: 'contact_history', by: 'any', rows: 10_000 },
  { table: 'contact_losses', by: 'any', rows: 10_000 },
  { table: 'activity_counts', by: 'any', rows: 10_000 },
  { table: 'mail_count_changes', by: 'any', rows: 10_000 },
  { table: 'mail_counts', by: 'any', rows: 10_000 },
  { table: 'contact_fields', by: 'any', rows: 1_000 },
  { table: 'contact_totals', by: 'any', rows: 1_000 },
  { table: 'full_catalogues', by: 'any', rows: 1_000 },
];

// A reset keeps these (docs/contract/platform.md#2-5): usage, so that it does not refill the monthly allowance; idempotency keys,
// so that a retry cannot send twice; settings; erasures, which prove what was done and keep addresses out; uploads, whose files
// stay in either case for the mail that shows them.
const settings: readonly WipedTable[] = [
  { table: 'suppression_rules', by: 'any', rows: 1_000 },
  { table: 'uploads', by: 'any', rows: 1_000 },
  { table: 'saved_blocks', by: 'any', rows: 200 },
  { table: 'contact_views', by: 'any', rows: 200 },
  { table: 'idempotency_keys', by: 'any', rows: 10_000 },
  { table: 'rate_windows', by: 'any', rows: 1_000 },
  { table: 'usage_counters', by: 'any', rows: 1_000 },
  { table: 'daily_usage', by: 'any', rows: 1_000 },
  { table: 'usage_notices', by: 'any', rows: 1_000 },
  { table: 'usage_reports', by: 'any', rows: 1_000 },
  { table: 'usage_reports_waiting', by: 'any', rows: 10_000 },
  { table: 'webhook_endpoints', by: 'any', rows: 1 },
  { table: 'mcp_plans', by: 'any', rows: 1_000 },
  { table: 'api_keys', by: 'any', rows: 1_000 },
  { table: 'smtp_clients', by: 'any', rows: 1_000 },
  { table: 'erasures', by: 'any', rows: 1_000 },
  { table: 'erased_addresses', by: 'any', rows: 10_000 },
  { table: 'audit_log', by: 'any', rows: 10_000 },
  { table: 'audit_heads', by: 'any', rows: 1 },
];

/** The tables that a reset empties for a project, and those that the removal of a project empties, in order. */
export const wipedTables = { RESET: content, DELETE: [...content, ...settings] } as const;

/** Tables whose rows go along with those of another table, by a foreign key that has an index. */
export const alongTables = [
  'automation_arrivals',
  'automation_migrations',
  'automation_step_runs',
  'campaign_sends',
  'contact_field_values',
  'email_resends',
  'email_tags',
  'failed_attachments',
] as const;

/** Tables of a project that go with its row or when it is marked, or that tell of the wipe itself. */
export const leftTables = ['brands', 'domains', 'memberships', 'project_invitations', 'project_wipes'] as const;
