import { Migration } from '@mikro-orm/migrations';

/** What the activity feed of one contact pages through. */
export class Migration20261121001110_contact_feed extends Migration {
  override up(): void {
    // As with those of a project, the index of sendings is apart and as narrow as can be: it is the one that each message
    // pays for. Campaigns claim contacts in the order of their ids, so a batch adds to it in one place.
    this.addSql(
      `create index events_contact_sent on events (contact_id, mail_at) where name = 'email.sent' and mail_at is not null`,
    );
    this.addSql(
      `create index events_contact_mail on events (contact_id, name, mail_at) where name <> 'email.sent' and mail_at is not null`,
    );
    this.addSql(
      'create index automation_runs_contact_completed on automation_runs (contact_id, completed_at, id) where completed_at is not null',
    );
  }
}
