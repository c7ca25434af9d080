import { Migration } from '@mikro-orm/migrations';

// Autovacuum by table. Postgres by default waits until a fifth of a table has changed: of 100,000,000 mails that is after 20,000,000. Each value
// weighs how much garbage readers pass over against how often all indexes of the table are read to remove it.
const storage = [
  // Settled in place and pruned as their pages are written. Vacuum is left the entries of rows that were opened, clicked or bounced, which moves
  // them in all of 18 indexes, and each pass reads those. The fill factor (38) stays: a page holds its rows as they are frozen and settled.
  ['emails', 'autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05'],
  // Only inserted, so a pass reads new pages and no index. Index-only scans of names and counts need the pages marked as visible. The fill factor
  // stays at 100: what is not updated needs no space.
  ['events', 'autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02'],
  // Every change moves the row in `contacts_updated`, so that no lower fill factor would keep it in its page. Vacuum also takes new entries out of the
  // pending lists of both GIN indexes, which each search reads whole.
  [
    'contacts',
    'autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02',
  ],
  // Inserted, and deleted by days from their beginning: pages are reused only after a pass.
  ['contact_history', 'autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05'],
  ['webhook_deliveries', 'autovacuum_vacuum_scale_factor = 0.05'],
  ['webhook_attempts', 'autovacuum_vacuum_scale_factor = 0.05'],
  ['segment_memberships', 'autovacuum_vacuum_scale_factor = 0.05'],
  // A run moves at each step in the four indexes of open runs; that of due runs is read from its beginning, where dead entries gather. The fill
  // factors (70) stay: the other updates of a row fit into its page.
  ['automation_runs', 'autovacuum_vacuum_scale_factor = 0.05'],
  ['automation_step_runs', 'autovacuum_vacuum_scale_factor = 0.05'],
  // A queue: a row is done within seconds, is kept for a day, and every row passes through.
  ['outbox', 'autovacuum_vacuum_scale_factor = 0.02'],
] as const;

/** Indexes of the data and the addresses of contacts by project, so that a search reads entries of its own project alone, and autovacuum by table. */
export class Migration20261128060000_tenant_indexes extends Migration {
  override up(): void {
    // As pg_trgm it is trusted: the owner of a database may create it.
    this.addSql('create extension if not exists btree_gin');
    for (const [table, parameters] of storage) this.addSql(`alter table ${table} set (${parameters})`);
    this.addSql('drop index contacts_data');
    this.addSql('create index contacts_data on contacts using gin (project_id, data jsonb_path_ops)');
    this.addSql('drop index contacts_email_trigrams');
    this.addSql('create index contacts_email_trigrams on contacts using gin (project_id, email gin_trgm_ops)');
  }
}
