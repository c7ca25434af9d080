import { Migration } from '@mikro-orm/migrations';

/** Simulations of workflows: a kind of job, and its contacts with what each would come to. */
export class Migration20261129100000_simulations extends Migration {
  override up(): void {
    this.addSql('alter table jobs drop constraint jobs_kind_check');
    this.addSql(`alter table jobs add constraint jobs_kind_check check (kind in ('import', 'bulk', 'simulation'))`);
    this.addSql(`
      create table simulated_contacts (
        job_id text not null references jobs (id) on delete cascade,
        n integer not null,
        contact_id uuid not null,
        run_id uuid,
        tags text[] not null default '{}',
        outcome jsonb,
        constraint simulated_contacts_pkey primary key (job_id, n)
      )`);
  }
}
