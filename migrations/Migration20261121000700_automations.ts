import { Migration } from '@mikro-orm/migrations';

/** Automations: their graphs and versions, the people inside, what waits to start, and the moving of people between versions. */
export class Migration20261121000700_automations extends Migration {
  override up(): void {
    this.graphs();
    this.runs();
    this.arrivals();
    this.migrations();
  }

  private graphs(): void {
    // event_name is what an event is matched with. graph_dirty says that steps or transitions changed since
    // current_version_id was written; the next start writes a new version. schedule_revision counts what the schedule of
    // Temporal must follow.
    this.addSql(`
      create table automations (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        name text not null,
        description text,
        enabled boolean not null default false,
        trigger_type text not null default 'EVENT' check (trigger_type in ('EVENT', 'MANUAL', 'SCHEDULE')),
        trigger_config jsonb,
        event_name text generated always as
          (case when trigger_type = 'EVENT' then trigger_config ->> 'eventName' end) stored,
        allow_reentry boolean not null default false,
        graph_dirty boolean not null default true,
        current_version_id uuid,
        schedule_revision integer not null default 0,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index automations_project on automations (project_id, created_at desc, id desc)');
    this.addSql('create index automations_event on automations (project_id, event_name) where enabled');
    this.addSql(`create index automations_schedule on automations (id) where trigger_type = 'SCHEDULE'`);
    this.addSql(
      'create trigger automations_announce after insert or update or delete on automations for each row execute function announce_change()',
    );

    this.addSql(`
      create table automation_steps (
        id uuid primary key,
        automation_id uuid not null references automations on delete cascade,
        type text not null check (type in ('TRIGGER', 'SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK',
          'UPDATE_CONTACT', 'EXIT')),
        name text not null,
        position jsonb not null,
        config jsonb not null default '{}',
        template_id uuid references templates on delete set null,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index automation_steps_automation on automation_steps (automation_id, created_at, id)');
    this.addSql(
      'create index automation_steps_template on automation_steps (template_id) where template_id is not null',
    );
    this.addSql(
      `create unique index automation_steps_trigger on automation_steps (automation_id) where type = 'TRIGGER'`,
    );

    this.addSql(`
      create table automation_transitions (
        id uuid primary key,
        automation_id uuid not null references automations on delete cascade,
        from_step_id uuid not null references automation_steps on delete cascade,
        to_step_id uuid not null references automation_steps on delete cascade,
        branch text,
        wait_outcome text check (wait_outcome in ('EVENT', 'TIMEOUT')),
        priority integer not null default 0,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index automation_transitions_automation on automation_transitions (automation_id)');
    this.addSql('create index automation_transitions_from on automation_transitions (from_step_id)');
    this.addSql('create index automation_transitions_to on automation_transitions (to_step_id)');

    // Never changed once written: what a run is pinned to can be cached for ever.
    this.addSql(`
      create table automation_versions (
        id uuid primary key,
        automation_id uuid not null references automations on delete cascade,
        version integer not null,
        graph jsonb not null,
        hash bytea not null,
        created_at timestamptz(3) not null default now(),
        unique (automation_id, version),
        unique (automation_id, hash)
      )`);
  }

  private runs(): void {
    // A person's way through an automation. seq is the number of the next step execution to make. next_version_id, when set,
    // is the version that the run takes over when it leaves its current step. context has at most 64 KiB and is set when the
    // run starts and when an awaited event comes. current_step_id has no key: a pinned graph outlives its steps.
    this.addSql(`
      create table automation_runs (
        id uuid primary key,
        project_id uuid not null,
        automation_id uuid not null references automations on delete cascade,
        version_id uuid not null references automation_versions,
        next_version_id uuid references automation_versions,
        contact_id uuid not null,
        entry integer not null,
        status text not null default 'RUNNING'
          check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
        current_step_id uuid,
        exit_reason text,
        context jsonb,
        seq integer not null default 0,
        due_at timestamptz(3),
        source_event_id uuid,
        started_at timestamptz(3) not null default now(),
        completed_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        unique (automation_id, contact_id, entry)
      ) with (fillfactor = 70)`);
    const active = `status in ('RUNNING', 'WAITING')`;
    this.addSql(
      `create unique index automation_runs_active on automation_runs (automation_id, contact_id) where ${active}`,
    );
    this.addSql(
      'create unique index automation_runs_event on automation_runs (automation_id, source_event_id) where source_event_id is not null',
    );
    this.addSql('create index automation_runs_list on automation_runs (automation_id, started_at desc, id desc)');
    this.addSql(
      `create index automation_runs_ended on automation_runs (automation_id, status, started_at desc, id desc) where not (${active})`,
    );
    // Who is where, counted and walked by this index alone.
    this.addSql(
      `create index automation_runs_inside on automation_runs (automation_id, current_step_id, id, status) where ${active}`,
    );
    this.addSql(`create index automation_runs_due on automation_runs (due_at) where ${active}`);
    this.addSql('create index automation_runs_contact on automation_runs (contact_id, started_at desc)');
    this.addSql('create index automation_runs_project on automation_runs (project_id, started_at desc, id desc)');
    this.addSql('create index automation_runs_version on automation_runs (version_id)');
    this.addSql(
      'create index automation_runs_next_version on automation_runs (next_version_id) where next_version_id is not null',
    );

    // outcome is set once, by whoever is first: the event (with resume_event_id) or the timeout.
    this.addSql(`
      create table automation_step_runs (
        id uuid primary key,
        run_id uuid not null references automation_runs on delete cascade,
        project_id uuid not null,
        contact_id uuid not null,
        step_id uuid not null,
        seq integer not null,
        step_type text not null,
        step_name text not null,
        status text not null
          check (status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING', 'COMPLETED', 'SKIPPED', 'FAILED')),
        scheduled_for timestamptz(3),
        execute_after timestamptz(3),
        event_name text,
        outcome text check (outcome in ('EVENT', 'TIMEOUT')),
        resume_event_id uuid,
        input jsonb,
        output jsonb,
        error text,
        started_at timestamptz(3) not null default now(),
        completed_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        unique (run_id, seq)
      ) with (fillfactor = 70)`);
    this.addSql(
      `create index automation_step_runs_waits on automation_step_runs (project_id, contact_id, event_name)
         where status = 'WAITING' and outcome is null`,
    );

    // The row's lock serialises the starts of one contact, and last_entry says whether it was ever inside.
    this.addSql(`
      create table automation_entries (
        automation_id uuid not null references automations on delete cascade,
        contact_id uuid not null,
        last_entry integer not null default 0,
        primary key (automation_id, contact_id)
      ) with (fillfactor = 70)`);
    this.addSql('create index automation_entries_contact on automation_entries (contact_id)');

    // Starts that the guard against loops between automations refused.
    this.addSql(`
      create table automation_refusals (
        automation_id uuid primary key references automations on delete cascade,
        refused bigint not null default 0,
        last_refused_at timestamptz(3) not null default now()
      )`);

    // Whatever deletes runs that are under way, their executions are cancelled.
    this.addSql(`
      create function cancel_lost_runs() returns trigger language plpgsql as $fn$
      begin
        with lost as (
          select uuidv7() as id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as execution
          from gone where ${active})
        insert into outbox (id, dedupe_key, kind, workflow_id, payload)
          select id, 'cancel:' || execution || ':' || id, 'cancel', execution,
            jsonb_build_object('type', 'cancel', 'id', execution)
          from lost;
        if found then perform pg_notify('posthorn_outbox', ''); end if;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger automation_runs_lost after delete on automation_runs referencing old table as gone
        for each statement execute function cancel_lost_runs()`);
  }

  private arrivals(): void {
    // Starts by events and schedules that are not yet runs; workers take them a batch at a time. event_id is the event, or
    // a fixed id of one contact at one time of a schedule, so that nothing starts twice.
    this.addSql(`
      create table automation_arrivals (
        id uuid primary key default uuidv7(),
        automation_id uuid not null references automations on delete cascade,
        project_id uuid not null,
        contact_id uuid not null,
        event_id uuid not null,
        context jsonb,
        created_at timestamptz(3) not null default now(),
        unique (automation_id, event_id)
      ) with (autovacuum_vacuum_scale_factor = 0.02)`);
    this.addSql('create index automation_arrivals_contact on automation_arrivals (contact_id)');

    // Neither runs nor what waits has a key to contacts: one statement for each statement that deletes contacts is cheaper.
    this.addSql(`
      create function forget_runs_of_contacts() returns trigger language plpgsql as $fn$
      begin
        delete from automation_arrivals a using gone where a.contact_id = gone.id;
        delete from automation_runs r using gone where r.contact_id = gone.id;
        delete from automation_entries n using gone where n.contact_id = gone.id;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger contacts_runs_forgotten after delete on contacts referencing old table as gone
        for each statement execute function forget_runs_of_contacts()`);
  }

  private migrations(): void {
    // A move of people between versions: rules has one entry for each step of the old versions. through is the last run
    // that was looked at; the counts move in the transaction that moves the runs they count.
    this.addSql(`
      create table automation_migrations (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        automation_id uuid not null references automations on delete cascade,
        to_version_id uuid not null references automation_versions,
        rules jsonb not null,
        state text not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'cancelled', 'failed')),
        through uuid,
        expected integer not null,
        finished integer not null default 0,
        moved_at_next_step integer not null default 0,
        moved_now integer not null default 0,
        exited integer not null default 0,
        passed_over integer not null default 0,
        failed_reason text,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        completed_at timestamptz(3)
      )`);
    this.addSql(
      'create index automation_migrations_automation on automation_migrations (automation_id, created_at desc)',
    );
    this.addSql(
      `create unique index automation_migrations_open on automation_migrations (automation_id) where state in ('waiting', 'active')`,
    );
  }
}
