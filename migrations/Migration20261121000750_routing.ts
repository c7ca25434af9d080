import { Migration } from '@mikro-orm/migrations';

/** The way of an event to the automations that it starts and to the people who wait for it. */
export class Migration20261121000750_routing extends Migration {
  override up(): void {
    // The name comes before the contact: so one step into the index also tells that nobody waits for an event at all.
    this.addSql('drop index automation_step_runs_waits');
    this.addSql(
      `create index automation_step_runs_waits on automation_step_runs (project_id, event_name, contact_id)
         where status = 'WAITING' and outcome is null`,
    );

    // Calls of a webhook that failed before anything was written, and those that were repeated because the step asks for it.
    this.addSql(`
      alter table automation_step_runs
        add column unwritten_calls smallint not null default 0,
        add column repeated_calls smallint not null default 0`);

    // Whoever writes events, by whatever statement, they are routed here, in the writer's transaction. Most statements write
    // events that nobody listens for: those cost two steps into an index for each name and project.
    // A wait is claimed by the event that is first; the timeout makes the same conditional update. Rows are locked in the
    // order of their ids, so that two statements never wait for each other. OFFSET 0 keeps the planner, which knows nothing
    // of the size of a transition table, at one step into the index for each event.
    this.addSql(`
      create function route_events() returns trigger language plpgsql as $fn$
      begin
        if not exists (
          select from (select distinct project_id, name from came where contact_id is not null) told
          where exists (
              select from automations a
              where a.project_id = told.project_id and a.event_name = told.name and a.enabled)
            or exists (
              select from automation_step_runs w
              where w.project_id = told.project_id and w.event_name = told.name and w.status = 'WAITING'
                and w.outcome is null)) then
          return null;
        end if;

        insert into automation_arrivals (automation_id, project_id, contact_id, event_id)
          select a.id, e.project_id, e.contact_id, e.id
          from came e join automations a on a.project_id = e.project_id and a.event_name = e.name and a.enabled
          where e.contact_id is not null
          on conflict (automation_id, event_id) do nothing;
        if found then
          perform pg_notify('posthorn_arrivals', '');
        end if;

        with met as (
          select distinct on (w.id) w.id, e.id as event_id
          from came e cross join lateral (
            select s.id from automation_step_runs s
            where s.project_id = e.project_id and s.event_name = e.name and s.contact_id = e.contact_id
              and s.status = 'WAITING' and s.outcome is null
            offset 0) w
          order by w.id, e.created_at, e.id),
        held as materialized (
          select s.id from automation_step_runs s
          where s.id = any (array(select id from met)) and s.status = 'WAITING' and s.outcome is null
          order by s.id for update),
        claimed as (
          update automation_step_runs s set outcome = 'EVENT', resume_event_id = met.event_id, updated_at = now()
          from met where s.id = met.id and s.id = any (array(select id from held))
          returning s.id, s.run_id, s.seq),
        woken as (
          select uuidv7() as id, c.id as step_run_id, c.seq + 1 as seq,
            'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution
          from claimed c join automation_runs r on r.id = c.run_id)
        insert into outbox (id, dedupe_key, kind, workflow_id, payload)
          select id, 'signal:' || execution || ':' || step_run_id, 'signal', execution,
            jsonb_build_object('type', 'signal', 'id', execution, 'signal', 'resume',
              'input', jsonb_build_object('seq', seq))
          from woken
          on conflict (dedupe_key) do nothing;
        if found then
          perform pg_notify('posthorn_outbox', '');
        end if;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger events_routed after insert on events referencing new table as came
        for each statement execute function route_events()`);
  }
}
