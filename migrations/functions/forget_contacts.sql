-- All that follows when contacts are deleted, by whatever statement: the one trigger of the table. What refers to contacts has no foreign
-- key to them, whose checks cost more than the row itself (measured: a third of all work of Postgres during a campaign). A contact that
-- stands in the trash can be restored: it keeps its mail, its events, its history and its entries into workflows. The planner does not
-- know the size of a transition table, so the settings hold it to the indexes.
create or replace function forget_contacts() returns trigger language plpgsql
  set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  trashed uuid[] := array(select g.id from gone g where exists (select from contacts_trash t where t.id = g.id));
  lost uuid[] := array(select g.id from gone g where not exists (select from contacts_trash t where t.id = g.id));
  active uuid[];
begin
  -- The catalogue and the totals count without them; the fold removes the history of those that have an ID here. Contacts also go because
  -- their project does; then nobody will ask again.
  insert into contact_changes (project_id, data, subscribed, sign, contact_id)
    select g.project_id, g.data, g.subscribed, -1,
      case when not exists (select from contacts_trash t where t.id = g.id) then g.id end
    from gone g where g.project_id = any (array(
      select p.id from projects p where p.id = any (array(select distinct project_id from gone))));

  -- Segments find deleted contacts by a row for each statement. Appending needs no lock that two deletions would wait for.
  insert into contact_losses (project_id)
    select distinct g.project_id from gone g where exists (select from projects p where p.id = g.project_id);

  -- Mail and events go, and of contacts in the trash what was never sent. An erasure has emptied their rows, and campaigns count them.
  if current_setting('fernpost.erasing', true) is distinct from 'on' then
    delete from emails m where m.contact_id = any (lost);
    delete from events e where e.contact_id = any (lost);
    delete from emails m where m.contact_id = any (trashed)
      and m.status in ('PENDING', 'SENDING') and m.sent_at is null and m.message_id is null;
  end if;

  -- Executions of workflows go; deleting those that are under way cancels them (cancel_lost_runs).
  delete from automation_arrivals a where a.contact_id = any (lost || trashed);
  delete from automation_dates d where d.contact_id = any (lost || trashed);
  delete from automation_runs r where r.contact_id = any (lost);
  delete from automation_entries n where n.contact_id = any (lost);

  -- Those of contacts in the trash end, and stay with their entries, so that no workflow takes a restored contact for a new one.
  active := array(
    select r.id from automation_runs r
    where r.contact_id = any (trashed) and r.status in ('RUNNING', 'WAITING') order by r.id for update);
  if cardinality(active) > 0 then
    update automation_step_runs x set status = 'SKIPPED', completed_at = now(), updated_at = now()
      where x.run_id = any (active) and x.status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING');
    with ended as (
      update automation_runs r set status = 'CANCELLED', exit_reason = 'Contact deleted', completed_at = now(),
        updated_at = now(), due_at = null, next_version_id = null
      where r.id = any (active)
      returning r.project_id, r.completed_at, uuidv7() as id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as execution),
    counted as (
      insert into mail_count_changes (project_id, hour, runs_completed)
      select project_id, date_bin('1 hour', completed_at, timestamptz 'epoch'), count(*) from ended group by 1, 2)
    insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select id, 'cancel:' || execution || ':' || id, 'cancel', execution,
        jsonb_build_object('type', 'cancel', 'id', execution)
      from ended;
    perform pg_notify('fernpost_outbox', '');
  end if;
  return null;
end
$fn$;

create or replace trigger contacts_forgotten after delete on contacts referencing old table as gone
  for each statement execute function forget_contacts();
