-- Raises the name of the limit that the data of a contact exceeds as that of a constraint; true where it exceeds none.
create or replace function contact_data_fits(project uuid, before jsonb, after jsonb) returns boolean language plpgsql stable as $fn$
declare
  problem text := contact_data_problem(project, before, after);
begin
  if problem is not null then
    raise exception 'the data of a contact exceeds a limit' using errcode = 'check_violation', constraint = problem;
  end if;
  return true;
end
$fn$;
