import { Migration } from '@mikro-orm/migrations';

/** When dates of contacts start workflows next, and how far each of these workflows has followed the changes of contacts. */
export class Migration20261129020000_date_triggers extends Migration {
  override up(): void {
    this.addSql('alter table automations drop constraint automations_trigger_type_check');
    this.addSql(`alter table automations add constraint automations_trigger_type_check
      check (trigger_type in ('EVENT', 'MANUAL', 'SCHEDULE', 'CONTACT_CREATED', 'DATE'))`);
    this.addSql(`create index automations_dates on automations (id) where trigger_type = 'DATE' and enabled`);
    this.addSql(`
      create table automation_dates (
        contact_id uuid not null,
        automation_id uuid not null references automations (id) on delete cascade,
        due_at timestamptz(3),
        is_invalid boolean not null default false,
        last_day date,
        constraint automation_dates_pkey primary key (contact_id, automation_id)
      )`);
    this.addSql('create index automation_dates_due on automation_dates (automation_id, due_at)');
    this.addSql('create index automation_dates_invalid on automation_dates (automation_id) where is_invalid');
    this.addSql(`
      create table automation_date_places (
        automation_id uuid not null references automations (id) on delete cascade,
        revision integer not null,
        since timestamptz(3) not null,
        followed_at timestamptz(3) not null,
        followed_id uuid not null,
        constraint automation_date_places_pkey primary key (automation_id)
      )`);
  }
}
