import { Migration } from '@mikro-orm/migrations';

/** The events that steps of a version wait for are watched too, so that all others are looked up once. */
export class Migration20261129083500_watched_waits extends Migration {
  override up(): void {
    this.addSql(`
      alter table automation_watches add column counts boolean not null default false, add column waits boolean not null default false`);
    this.addSql(`
      update automation_watches w set counts = true
      from automation_versions v cross join lateral jsonb_array_elements(v.graph -> 'steps') step
      where v.id = w.version_id and step ->> 'type' = 'TRIGGER'
        and w.event_name in (step #>> '{config,goal,on,event}', 'segment:' || (step #>> '{config,goal,on,leavesSegment}'))`);
    // Whoever waits today has the event of its version, or of one that a migration led to; whoever enters later that of its version.
    this.addSql(`
      insert into automation_watches (version_id, event_name, project_id, automation_id, ends, waits)
      select v.id, step #>> '{config,eventName}', a.project_id, a.id, false, true
      from automation_versions v join automations a on a.id = v.automation_id cross join lateral jsonb_array_elements(v.graph -> 'steps') step
      where step ->> 'type' = 'WAIT_FOR_EVENT' and length(step #>> '{config,eventName}') between 1 and 255
      union
      select r.version_id, s.event_name, s.project_id, r.automation_id, false, true
      from automation_step_runs s join automation_runs r on r.id = s.run_id
      where s.status = 'WAITING' and s.outcome is null and s.event_name is not null
      on conflict (version_id, event_name) do update set waits = true`);
  }
}
