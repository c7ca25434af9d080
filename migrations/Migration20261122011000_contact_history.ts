import { Migration } from '@mikro-orm/migrations';

/** Every change of a contact with its cause. The triggers and the fold of the release before still understand `contact_changes`. */
export class Migration20261122011000_contact_history extends Migration {
  override up(): void {
    this.addSql(`
      create table contact_history (
        contact_id uuid not null,
        at timestamptz(6) not null,
        project_id uuid not null,
        cause jsonb not null,
        before jsonb,
        after jsonb not null,
        subscribed_before boolean,
        subscribed_after boolean not null,
        email_before text,
        email_after text
      )`);
    this.addSql('create index contact_history_contact on contact_history (contact_id, at)');
    this.addSql('create index contact_history_project on contact_history (project_id, at)');
    this.addSql('alter table jobs add column cause jsonb');
    this.addSql(`
      alter table contact_changes add column contact_id uuid, add column at timestamptz(6), add column cause text,
        add column before jsonb, add column after jsonb, add column subscribed_before boolean,
        add column email_before text, add column email_after text`);
  }
}
