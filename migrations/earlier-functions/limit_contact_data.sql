-- Keeps the data of contacts within its limits, whoever writes them. The condition keeps ordinary writes away from the function: data
-- of less than 8,000 bytes cannot reach a limit (1,001 keys take more). What an undo or a restore brings back passed once: it may take the
-- catalogue beyond its limit, rather than be lost.
create or replace function limit_contact_data() returns trigger language plpgsql as $fn$
declare
  problem text := contact_data_problem(new.project_id, case when tg_op = 'UPDATE' then old.data end, new.data);
begin
  if problem is not null then
    raise exception 'the data of a contact exceeds a limit' using errcode = 'check_violation', constraint = problem;
  end if;
  return new;
end
$fn$;

create or replace trigger contacts_data_limited before insert or update of data on contacts
  for each row when (current_setting('fernpost.trash', true) is distinct from 'on'
    and (pg_column_size(new.data) > 8000 or catalogue_is_full(new.project_id)))
  execute function limit_contact_data();
