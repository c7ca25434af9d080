-- The rows of a dry run have no foreign key to it, whose checks cost more than the row itself. The planner does not know the size of a
-- transition table, so the settings hold it to the index.
create or replace function forget_dry_runs() returns trigger language plpgsql
  set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $fn$
begin
  delete from dry_run_rows r using gone where r.dry_run_id = gone.id;
  return null;
end
$fn$;

create or replace trigger dry_runs_forgotten after delete on dry_runs referencing old table as gone
  for each statement execute function forget_dry_runs();
