import { Migration } from '@mikro-orm/migrations';

/** The catalogue of contact fields, jobs with the files and errors of imports, and the counts of events by day. */
export class Migration20261121000100_audience extends Migration {
  override up(): void {
    this.contactCatalogue();
    this.jobs();
    this.eventCounts();
  }

  private contactCatalogue(): void {
    // What happened to contacts since the catalogue was last brought up to date: each row takes one contact's data in
    // (sign 1) or out (sign -1). Writers only append here, so that two of them never wait for each other; whoever
    // folds the rows into the catalogue deletes them in the same transaction.
    this.addSql(`
      create table contact_changes (
        project_id uuid not null,
        data jsonb not null,
        subscribed boolean not null,
        sign smallint not null
      ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
    this.addSql('create index contact_changes_project on contact_changes (project_id)');

    // A row trigger costs nothing where nothing changed, which is what most requests find; a statement trigger is many
    // times cheaper for a thousand rows. Statements that write many contacts choose the latter by this setting.
    this.addSql(`
      create function note_contact_change() returns trigger language plpgsql as $fn$
      begin
        if tg_op = 'INSERT' then
          insert into contact_changes values (new.project_id, new.data, new.subscribed, 1);
        else
          insert into contact_changes values
            (old.project_id, old.data, old.subscribed, -1), (new.project_id, new.data, new.subscribed, 1);
        end if;
        return null;
      end $fn$`);
    this.addSql(`
      create function note_contact_changes() returns trigger language plpgsql as $fn$
      begin
        if tg_op = 'INSERT' then
          insert into contact_changes select project_id, data, subscribed, 1 from came;
        elsif tg_op = 'UPDATE' then
          insert into contact_changes
            select project_id, data, subscribed, -1 from went union all select project_id, data, subscribed, 1 from came;
        else
          -- Contacts also go because their project does; then nobody will ask again.
          insert into contact_changes
            select project_id, data, subscribed, -1 from went
            where exists (select from projects p where p.id = went.project_id);
        end if;
        return null;
      end $fn$`);
    const oneByOne = `current_setting('posthorn.set_based', true) is distinct from 'on'`;
    const setBased = `current_setting('posthorn.set_based', true) = 'on'`;
    this.addSql(`
      create trigger contacts_inserted after insert on contacts
        for each row when (${oneByOne}) execute function note_contact_change()`);
    this.addSql(`
      create trigger contacts_changed after update on contacts
        for each row when (${oneByOne} and (old.data <> new.data or old.subscribed <> new.subscribed))
        execute function note_contact_change()`);
    this.addSql(`
      create trigger contacts_inserted_together after insert on contacts referencing new table as came
        for each statement when (${setBased}) execute function note_contact_changes()`);
    this.addSql(`
      create trigger contacts_changed_together after update on contacts referencing old table as went new table as came
        for each statement when (${setBased}) execute function note_contact_changes()`);
    this.addSql(`
      create trigger contacts_deleted after delete on contacts referencing old table as went
        for each statement execute function note_contact_changes()`);
    this.addSql('insert into contact_changes select project_id, data, subscribed, 1 from contacts');

    this.addSql(`
      create table contact_totals (
        project_id uuid primary key references projects on delete cascade,
        contacts integer not null,
        subscribed integer not null
      ) with (fillfactor = 50)`);

    // How many contacts hold which kind of value under a key. Keys may be longer than an index entry, hence the hash.
    // open_ended: the key has too many distinct values, or too long ones, for them to be listed.
    this.addSql(`
      create table contact_fields (
        project_id uuid not null references projects on delete cascade,
        key_hash uuid not null,
        key text not null,
        booleans integer not null default 0,
        numbers integer not null default 0,
        dates integer not null default 0,
        texts integer not null default 0,
        nulls integer not null default 0,
        open_ended boolean not null default false,
        primary key (project_id, key_hash)
      ) with (fillfactor = 70)`);
    this.addSql(`
      create table contact_field_values (
        project_id uuid not null,
        key_hash uuid not null,
        kind text not null check (kind in ('boolean', 'number', 'string')),
        value text not null,
        contacts integer not null,
        primary key (project_id, key_hash, kind, value),
        foreign key (project_id, key_hash) references contact_fields on delete cascade
      ) with (fillfactor = 70)`);

    // Dates as docs/contract/core.md#3-5 writes them are a kind of their own.
    this.addSql(`
      create function contact_value_kind(value jsonb) returns text language sql immutable parallel safe as $fn$
        select case jsonb_typeof(value)
          when 'string' then case when value #>> '{}' like '____-__-__%'
            and value #>> '{}' ~ '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d:\\d\\d(\\.\\d{3})?Z?)?$' then 'date' else 'string' end
          when 'object' then 'json' when 'array' then 'json'
          else jsonb_typeof(value) end
      $fn$`);
  }

  private jobs(): void {
    // position moves in the transaction that does the work it counts, so that no step is ever done twice.
    this.addSql(`
      create table jobs (
        id text primary key,
        project_id uuid not null references projects on delete cascade,
        kind text not null check (kind in ('import', 'bulk')),
        spec jsonb not null,
        state text not null default 'waiting' check (state in ('waiting', 'active', 'delayed', 'completed', 'failed')),
        position bigint not null default 0,
        place jsonb not null default '{}',
        progress smallint not null default 0,
        total_count integer not null default 0,
        created_count integer not null default 0,
        updated_count integer not null default 0,
        unchanged_count integer not null default 0,
        failure_count integer not null default 0,
        reasons jsonb not null default '{}',
        failed_reason text,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        finished_at timestamptz(3)
      ) with (fillfactor = 50)`);
    this.addSql('create index jobs_project on jobs (project_id)');
    this.addSql('create index jobs_unfinished on jobs (id) where finished_at is null');
    this.addSql('create index jobs_finished on jobs (finished_at) where finished_at is not null');
    this.addSql(`
      create table job_errors (
        job_id text not null references jobs on delete cascade,
        row integer not null,
        subject text,
        email text,
        error text not null,
        primary key (job_id, row)
      )`);
    // The parts of a file come before the row of its job does, so nothing ties them to it but the id.
    this.addSql(`
      create table import_files (
        job_id text not null,
        part integer not null,
        bytes bytea not null,
        created_at timestamptz(3) not null default now(),
        primary key (job_id, part)
      )`);
    this.addSql('alter table import_files alter column bytes set storage external');
  }

  private eventCounts(): void {
    // Events are listed by the instant they happened, which ids of several processes only approximate.
    this.addSql('create index events_recent on events (project_id, created_at, id)');
    this.addSql('drop index events_project');
    // Finds what happened since the counts were last brought up to date. It costs writers nothing.
    this.addSql(
      'create index events_created on events using brin (created_at) with (pages_per_range = 32, autosummarize)',
    );

    // How many events of a name a day (UTC) had, up to counted_through; later ones are counted when asked. Several rows
    // for the same day add up: appending a row for deleted events needs no lock that two deletions would wait for.
    this.addSql(`
      create table event_counts (
        project_id uuid not null references projects on delete cascade,
        name text not null,
        day date not null,
        events integer not null
      ) with (autovacuum_vacuum_scale_factor = 0.05)`);
    this.addSql('create index event_counts_day on event_counts (project_id, day, name) include (events)');
    this.addSql('create index event_counts_taken_off on event_counts (project_id) where events < 0');
    this.addSql('create table event_counts_state (counted_through timestamptz(3) not null)');
    this.addSql(`insert into event_counts_state (counted_through) values ('-infinity')`);

    // Whoever counts holds the lock alone while it decides which events are counted (src/audience/events/counting-queries.ts).
    this.addSql(`
      create function uncount_deleted_events() returns trigger language plpgsql as $fn$
      begin
        if not exists (select from went) then
          return null;
        end if;
        perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
        insert into event_counts (project_id, name, day, events)
          select went.project_id, went.name, (went.created_at at time zone 'UTC')::date, -count(*)
          from went
          where went.created_at < (select counted_through from event_counts_state)
            and exists (select from projects p where p.id = went.project_id)
          group by 1, 2, 3;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger events_deleted after delete on events referencing old table as went
        for each statement execute function uncount_deleted_events()`);
  }
}
