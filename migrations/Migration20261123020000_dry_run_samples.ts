import { Migration } from '@mikro-orm/migrations';

/** A dry run may render a sample of the messages, and counts those it has rendered. */
export class Migration20261123020000_dry_run_samples extends Migration {
  override up(): void {
    this.addSql(`
      alter table dry_runs add column sample integer constraint dry_runs_sample check (sample > 0), add column rendered integer not null default 0`);
    this.addSql('update dry_runs set rendered = would_send');
  }
}
