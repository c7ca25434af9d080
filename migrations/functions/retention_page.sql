-- The next rows that a retention rule looks at, at most `most` of a table, in the order of their ids, older than `before`; moves the rule's place
-- (retention_cursors), whose row stays locked until the transaction ends. A walk that is through stands at `before`, which is no row's id. It begins
-- again once it stands before `again`, for what had to be kept the last time. `own` is a number of days of projects, and the walk one for them alone:
-- their rows of those that were walked. `table_name` and `own_column`, the column of projects with that number, are constants of the functions that call it.
create or replace function retention_page(kind text, table_name text, before uuid, again uuid, most integer, own integer, own_column text,
  out walked integer, out page uuid[]) language plpgsql
  set jit = off set enable_seqscan = off set enable_bitmapscan = off as $fn$
declare
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  walk constant text := kind || coalesce(' ' || own, '');
  place uuid;
begin
  insert into retention_cursors (rule, through) values (walk, nobody) on conflict do nothing;
  select through into place from retention_cursors where rule = walk for update;
  if place < again and place::text like '%-7000-8000-000000000000' then
    place := nobody;
  end if;
  execute format('select array(select id from %I where id > $1 and id < $2 order by id limit $3)', table_name) into page
    using place, before, most;
  update retention_cursors set through = case when cardinality(page) = most then page[most] else greatest(place, before) end where rule = walk;
  walked := cardinality(page);
  if walked > 0 and own is null then
    insert into retention_cursors as c (rule, through) values ('removed ' || kind, before)
      on conflict (rule) do update set through = greatest(c.through, excluded.through);
  elsif walked > 0 then
    execute format($q$
      with theirs as materialized (
        select r.id, r.project_id from %I r join projects p on p.id = r.project_id where r.id = any ($1) and p.%I = $2),
      noted as (
        insert into retention_cursors as c (rule, through)
          select distinct 'removed ' || $3 || ' ' || project_id, $4 from theirs order by 1
          on conflict (rule) do update set through = greatest(c.through, excluded.through))
      select coalesce(array_agg(id), '{}') from theirs$q$, table_name, own_column) into page using page, own, kind, before;
  end if;
end
$fn$;
