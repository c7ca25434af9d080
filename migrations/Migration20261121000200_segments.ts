import { Migration } from '@mikro-orm/migrations';

/** Segments with their memberships, what tells that one must be evaluated again, and the rules that catch mail. */
export class Migration20261121000200_segments extends Migration {
  override up(): void {
    // The watched_* columns, reads_contacts and has_window say what the condition depends on. settled_through: changes
    // that were stamped before it are in the memberships (tracked) or in the count (others); null asks for a full
    // evaluation. evaluated_at: when all contacts were last asked. The listed_* columns keep the total of the last list of
    // its contacts, with the same meaning of "through".
    this.addSql(`
      create table segments (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        name text not null,
        description text,
        type text not null check (type in ('DYNAMIC', 'STATIC')),
        condition jsonb,
        track_membership boolean not null default false,
        member_count integer not null default 0,
        watched_events text[] not null default '{}',
        watched_segments uuid[] not null default '{}',
        reads_contacts boolean not null default false,
        has_window boolean not null default false,
        settled_through timestamptz(3),
        evaluated_at timestamptz(3),
        listed_count integer,
        listed_through timestamptz(3),
        listed_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        check ((type = 'DYNAMIC') = (condition is not null))
      ) with (fillfactor = 70)`);
    this.addSql('create index segments_project on segments (project_id, created_at desc, id desc)');
    this.addSql(`create index segments_tracked on segments (project_id) where track_membership and type = 'DYNAMIC'`);
    this.addSql('create index campaigns_segment on campaigns (segment_id) where segment_id is not null');

    this.addSql(`
      create table segment_memberships (
        segment_id uuid not null references segments on delete cascade,
        contact_id uuid not null references contacts on delete cascade,
        entered_at timestamptz(3) not null default now(),
        exited_at timestamptz(3),
        primary key (segment_id, contact_id)
      )`);
    this.addSql('create index segment_memberships_contact on segment_memberships (contact_id)');
    this.addSql(
      'create index segment_memberships_now on segment_memberships (segment_id, entered_at, contact_id) where exited_at is null',
    );
    this.addSql(
      'create index segment_memberships_left on segment_memberships (segment_id, exited_at) where exited_at is not null',
    );

    // Which contacts changed since an instant: new ones by contacts_created, changed ones by this index, deleted ones
    // by a row for each statement that deleted some. Appending needs no lock that two deletions would wait for.
    this.addSql('create index contacts_updated on contacts (project_id, updated_at)');
    this.addSql(`
      create table contact_losses (
        project_id uuid not null references projects on delete cascade,
        at timestamptz(3) not null default now()
      )`);
    this.addSql('create index contact_losses_project on contact_losses (project_id, at)');
    this.addSql(`
      create function note_lost_contacts() returns trigger language plpgsql as $fn$
      begin
        insert into contact_losses (project_id)
          select distinct lost.project_id from lost where exists (select from projects p where p.id = lost.project_id);
        return null;
      end $fn$`);
    this.addSql(`
      create trigger contacts_lost after delete on contacts referencing old table as lost
        for each statement execute function note_lost_contacts()`);

    // What recipients do with mail, for conditions. Sending and delivery change nearly every row once, and an index on
    // them would cost each of these updates its place in the same page.
    for (const activity of ['opened', 'clicked', 'bounced', 'complained']) {
      this.addSql(
        `create index emails_${activity} on emails (project_id, ${activity}_at, contact_id) where ${activity}_at is not null`,
      );
    }

    this.addSql(`
      create table suppression_rules (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        name text not null,
        kind text not null check (kind in ('ADDRESS', 'DOMAIN', 'PREFIX', 'SUFFIX', 'WILDCARD')),
        pattern text not null,
        enabled boolean not null default true,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index suppression_rules_project on suppression_rules (project_id, created_at, id)');
    this.addSql('create index emails_suppressed on emails (project_id, created_at, id) where suppression is not null');
    this.addSql(
      'create trigger suppression_rules_announce after insert or update or delete on suppression_rules for each row execute function announce_change()',
    );

    // How far a retention rule has walked a table in the order of its ids.
    this.addSql('create table retention_cursors (rule text primary key, through uuid not null)');
  }
}
