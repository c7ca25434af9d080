-- The next rows that a retention rule looks at, at most `most` of a table, in the order of their ids, older than `before`; moves the rule's place
-- (retention_cursors), whose row stays locked until the transaction ends. A walk that is through stands at `before`, which is no row's id. It begins
-- again once it stands before `again`, for what had to be kept the last time. `table_name` is a constant of the functions that call it.
create or replace function retention_page(kind text, table_name text, before uuid, again uuid, most integer) returns uuid[] language plpgsql
  set jit = off set enable_seqscan = off set enable_bitmapscan = off as $fn$
declare
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  place uuid;
  page uuid[];
begin
  insert into retention_cursors (rule, through) values (kind, nobody) on conflict do nothing;
  select through into place from retention_cursors where rule = kind for update;
  if place < again and place::text like '%-7000-8000-000000000000' then
    place := nobody;
  end if;
  execute format('select array(select id from %I where id > $1 and id < $2 order by id limit $3)', table_name) into page
    using place, before, most;
  update retention_cursors set through = case when cardinality(page) = most then page[most] else greatest(place, before) end where rule = kind;
  if cardinality(page) > 0 then
    insert into retention_cursors as c (rule, through) values ('removed ' || kind, before)
      on conflict (rule) do update set through = greatest(c.through, excluded.through);
  end if;
  return page;
end
$fn$;
