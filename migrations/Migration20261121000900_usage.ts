import { Migration } from '@mikro-orm/migrations';

/** Counts of mail by project, month and category, what was told about them, and how far they were reported to Stripe. */
export class Migration20261121000900_usage extends Migration {
  override up(): void {
    // Without a foreign key: mail of a project that is being deleted is still settled, and a check for each settlement
    // would cost more than the count. settled, failed: mail that came to an end, kept for every project by the statement
    // that settles it. reserved: mail that was let in since a limit began to hold; null while none does.
    this.addSql(`
      create table usage_counters (
        project_id uuid not null,
        month date not null,
        category text not null check (category in ('TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND', 'TOTAL')),
        settled integer not null default 0,
        failed integer not null default 0,
        reserved integer,
        primary key (project_id, month, category)
      ) with (fillfactor = 50)`);
    this.addSql('create index usage_counters_limited on usage_counters (month) where reserved is not null');
    this.addSql(`
      insert into usage_counters (project_id, month, category, settled, failed)
      select project_id, date_trunc('month', created_at at time zone 'UTC')::date,
        case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL' else source_type end,
        count(*) filter (where status not in ('FAILED', 'SUPPRESSED', 'PENDING', 'SENDING')),
        count(*) filter (where status in ('FAILED', 'SUPPRESSED'))
      from emails where created_at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'
      group by 1, 2, 3`);

    this.addSql(`
      create table usage_notices (
        project_id uuid not null references projects on delete cascade,
        month date not null,
        category text not null,
        level smallint not null check (level in (80, 100)),
        created_at timestamptz(3) not null default now(),
        primary key (project_id, month, category, level)
      )`);

    // Reporting walks a project's mail in the order of its ids; what has no verdict when the walk passes waits beside it.
    this.addSql(`
      create table usage_reports (
        project_id uuid primary key references projects on delete cascade,
        reported_through uuid not null,
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql(`
      create table usage_reports_waiting (
        project_id uuid not null references projects on delete cascade,
        email_id uuid not null,
        primary key (project_id, email_id)
      )`);

    this.addSql('create unique index projects_customer on projects (customer) where customer is not null');
  }
}
