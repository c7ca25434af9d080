import { Migration } from '@mikro-orm/migrations';

/**
 * Tells projects of people who signed up by themselves from those that an operator made or approved, and counts what the
 * former send in a day. Everybody and everything that exists is trusted.
 */
export class Migration20261124101000_strangers extends Migration {
  override up(): void {
    this.addSql('alter table users add column self_registered boolean not null default false');
    this.addSql('alter table projects add column trusted boolean not null default true');
    this.addSql('alter table domains add column approved boolean not null default true');
    this.addSql(`
      create table daily_usage (
        project_id uuid not null references projects (id) on delete cascade,
        day date not null,
        accepted integer not null,
        primary key (project_id, day))`);
    this.addSql('create index daily_usage_day on daily_usage (day)');
  }
}
