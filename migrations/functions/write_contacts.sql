-- Writes contacts of a project, and all that follows from it: nothing else inserts into contacts or updates them, and no trigger stands
-- behind it. src/contacts/write.ts is the one file that calls it, and describes the rows of `given`.
--
-- `given` is a list of rows, each for a contact of its own; either all name them by `id`, or all by `email`. What is asked for (contact_after) is
-- written where it changes something. An address without a contact becomes one, with the ID `newId` of its row, where `subscribed_when_new`
-- is not null: it is the subscription of new contacts whose row has no `subscribed`. Rows of the result are contacts as they are now, in no
-- order; contacts that do not exist are missing. `cause` is JSON, or the ID of a job; `limited_by` the key whose limits hold for what the
-- change starts. A caller that must not wait (`waits` false) does not get contacts that others hold. `restores` brings back what was there before: no
-- limit of data holds, contacts in the history already begin no new one, and an address that is taken stays with its contact.
--
-- Locks: new contacts in the order of their addresses, then existing ones in the order of theirs, so that two calls never deadlock. Usage
-- counters are locked before contacts, by the caller. The settings, and `offset 0` in a subquery, hold the planner to a look into an index for
-- each row: a plan is kept from the first call on, which may have come when the table was empty, and reading all contacts looked cheap.
create or replace function write_contacts(
  project uuid, given jsonb, cause text, limited_by uuid, subscribed_when_new boolean, waits boolean, restores boolean
)
returns table(
  id uuid, email text, subscribed boolean, data jsonb, project_id uuid, created_at timestamptz, updated_at timestamptz,
  is_new boolean, changed boolean, flipped boolean
)
language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $fn$
#variable_conflict use_column
declare
  wanted integer := coalesce(jsonb_array_length(given), 0);
  creates boolean := subscribed_when_new is not null;
  by_id boolean := given -> 0 ? 'id';
  -- A single contact is looked for first, as most exist.
  inserts boolean := creates and (wanted > 1 or restores);
  created integer := 0;
  inserted integer;
  held uuid[];
  asked jsonb[];
  changes boolean;
  flips boolean;
begin
  -- Contacts that are named by `id` are locked in the order of their addresses too.
  if by_id and wanted > 1 then
    select jsonb_agg(g.item order by (select email from contacts where id = (g.item ->> 'id')::uuid and project_id = project)) into given
    from jsonb_array_elements(given) as g (item);
  end if;
  for attempt in 1..10 loop
    if inserts then
      -- 1. New contacts, with their data within its limits, and the first row of their history, by which the catalogue counts them too.
      return query with came as (
        insert into contacts (id, project_id, email, subscribed, data, created_at)
        select i.id, project, i.email, i.subscribed, case when i.subscribed then i.set || i.consent else i.set end, i.created_at
        from (
          select (g.item ->> 'newId')::uuid, g.item ->> 'email', coalesce((g.item ->> 'subscribed')::boolean, subscribed_when_new),
            coalesce(g.item -> 'set', '{}'), coalesce(g.item -> 'consent', '{}'), coalesce((g.item ->> 'createdAt')::timestamptz, date_trunc('milliseconds', now()))
          from jsonb_array_elements(given) as g (item)) as i (id, email, subscribed, set, consent, created_at)
        where not exists (select from contacts c where c.project_id = project and c.email = i.email offset 0)
        order by i.email
        on conflict do nothing
        returning id, email, subscribed, data, created_at, updated_at),
      noted as (
        insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause, limited_by)
        select project, data, subscribed, 1, case when not restores then id end, clock_timestamp(), cause, limited_by
        from came
        where restores or pg_column_size(data) <= 8000 and not exists (select from full_catalogues where project_id = project)
          or contact_data_fits(project, null, data)),
      -- New contacts start the workflows with that trigger, those of an import only where it says so.
      listening as materialized (
        select id from automations
        where project_id = project and trigger_type = 'CONTACT_CREATED' and enabled and not restores
          and (cause not like 'import-%' or trigger_config -> 'imports' = 'true')),
      started as (
        insert into automation_arrivals (automation_id, project_id, contact_id, event_id, limited_by)
        select listening.id, project, came.id, came.id, limited_by from listening cross join came
        on conflict (automation_id, event_id) do nothing
        returning pg_notify('fernpost_arrivals', ''))
      select id, email, subscribed, data, project, created_at, updated_at, true, true, false from came;
      get diagnostics inserted = row_count;
      created := created + inserted;
      if restores or created = wanted then
        return;
      end if;
    end if;

    -- 2. Finds the contacts that existed already and locks them; whether anything changes is decided by what they are then.
    if by_id then
      select coalesce(array_agg(c.id), '{}'), array_agg(k.item), bool_or(w.subscribed <> c.subscribed),
        bool_or(w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email)
      into held, asked, flips, changes
      from jsonb_array_elements(given) as k (item)
      cross join lateral (
        select * from contacts where id = (k.item ->> 'id')::uuid and project_id = project
        for no key update) c
      cross join lateral contact_after(c.email, c.subscribed, c.data, k.item) w;
    elsif waits then
      select coalesce(array_agg(c.id), '{}'), array_agg(k.item), bool_or(w.subscribed <> c.subscribed),
        bool_or(w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email)
      into held, asked, flips, changes
      from (select g.item from jsonb_array_elements(given) as g (item) order by g.item ->> 'email' offset 0) k
      cross join lateral (
        select * from contacts
        where project_id = project and email = k.item ->> 'email' and id is distinct from (k.item ->> 'newId')::uuid
        for no key update) c
      cross join lateral contact_after(c.email, c.subscribed, c.data, k.item) w;
    else
      -- Of those that stay as they are nothing more is asked, and they only have to stay: callers for one contact do not keep each other off.
      select coalesce(array_agg(c.id), '{}'), array_agg(case when k.changes then k.item else '{}' end), bool_or(k.flips), bool_or(k.changes)
      into held, asked, flips, changes
      from (
        select g.item, c.id, w.subscribed <> c.subscribed as flips,
          w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email as changes
        from jsonb_array_elements(given) as g (item)
        cross join lateral (
          select * from contacts
          where project_id = project and email = g.item ->> 'email' and id is distinct from (g.item ->> 'newId')::uuid
          offset 0) c
        cross join lateral contact_after(c.email, c.subscribed, c.data, g.item) w
        offset 0) k
      left join lateral (select id from contacts where id = k.id and not k.changes for key share skip locked) s on true
      left join lateral (select id from contacts where id = k.id and k.changes for no key update skip locked) u on true
      cross join lateral (select coalesce(s.id, u.id) as id) c
      where c.id is not null;
    end if;
    -- Another transaction may have inserted a contact, or deleted one, since it was looked for.
    exit when not creates or created + cardinality(held) = wanted or inserts and not waits;
    inserts := creates;
    if attempt = 10 then
      raise exception 'contacts could neither be written nor read' using errcode = 'serialization_failure';
    end if;
  end loop;

  -- 3. Flips of subscriptions are events, which start and wake workflows (record_events).
  if flips then
    perform record_events(array(
      select row(coalesce((g.item ->> 'flipId')::uuid, uuidv7()), project, g.id, (g.item ->> 'flipEmailId')::uuid,
        case when w.subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, g.item -> 'flipData', null, limited_by)::new_event
      from unnest(held, asked) as g (id, item)
      join contacts c on c.id = g.id
      cross join lateral contact_after(c.email, c.subscribed, c.data, g.item) w
      where w.subscribed <> c.subscribed));
  end if;

  -- 4. Changes, with the data within its limits, and a row of the history for each.
  if changes then
    return query with written as materialized (
      select c.id, c.email as email_before, c.subscribed as subscribed_before, c.data as data_before, c.created_at, c.updated_at,
        w.email, w.subscribed, w.data, w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email as changes
      from unnest(held, asked) as g (id, item)
      join contacts c on c.id = g.id
      cross join lateral contact_after(c.email, c.subscribed, c.data, g.item) w),
    changed as (
      update contacts c set email = w.email, subscribed = w.subscribed, data = w.data, updated_at = now()
      from written w where c.id = w.id and w.changes),
    noted as (
      insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause, limited_by, before, after,
        subscribed_before, email_before, email_after)
      select project, 'null', subscribed, 0, id, clock_timestamp(), cause, limited_by, data_before, data,
        subscribed_before, nullif(email_before, email), nullif(email, email_before)
      from written
      where changes and (restores or pg_column_size(data) <= 8000 and not exists (select from full_catalogues where project_id = project)
        or contact_data_fits(project, data_before, data))),
    -- 5. Executions that wait until a date of the contact, or a time in its zone, wait until another instant by now.
    woken as (
      insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select x.id, 'signal:' || x.execution || ':' || x.id, 'signal', x.execution,
        jsonb_build_object('type', 'signal', 'id', x.execution, 'signal', 'resume', 'input', jsonb_build_object('seq', x.seq))
      from written w cross join lateral (
        select uuidv7() as id, 'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution, r.seq
        from automation_step_runs s join automation_runs r on r.id = s.run_id
        where s.contact_id = w.id and s.step_type = 'WAIT_UNTIL' and s.status = 'SCHEDULED'
          and (w.data_before -> 'timezone' is distinct from w.data -> 'timezone'
            or exists (
              select from regexp_replace(s.input ->> 'field', '^(contact[.])?data[.]', '') as f (key)
              where w.data_before -> f.key is distinct from w.data -> f.key
                or w.data_before -> split_part(f.key, '.', 1) is distinct from w.data -> split_part(f.key, '.', 1)))
        offset 0) x
      where w.changes
      returning pg_notify('fernpost_outbox', ''))
    select w.id, w.email, w.subscribed, w.data, project, w.created_at,
      case when w.changes then now()::timestamptz(3) else w.updated_at end,
      false, w.changes, w.subscribed <> w.subscribed_before
    from written w;
  else
    return query select c.id, c.email, c.subscribed, c.data, project, c.created_at, c.updated_at, false, false, false
    from contacts c where c.id = any (held);
  end if;
end
$fn$;

create or replace function contact_after(email text, subscribed boolean, data jsonb, given jsonb)
returns table(email text, subscribed boolean, data jsonb) language sql immutable parallel safe as $fn$
  -- What becomes of a contact by a row of `write_contacts`: its address, its subscription and its data. `consent` is data for contacts whom
  -- the row subscribes. A query on this function becomes a part of the statement that asks it, so that it costs no call.
  select coalesce($4 ->> 'newEmail', $1), coalesce(($4 ->> 'subscribed')::boolean, $2),
    (case when $4 ? 'clear' then '{}' else $3 end || coalesce($4 -> 'set', '{}')
      || case when $4 ? 'consent' and ($4 ->> 'subscribed')::boolean and not $2 then $4 -> 'consent' else '{}' end)
    - case when $4 ? 'remove' then array(select jsonb_array_elements_text($4 -> 'remove')) else '{}' end
  offset 0
$fn$;
