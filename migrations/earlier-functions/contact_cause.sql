-- What the transaction says is the reason of its changes of contacts, as JSON text or the ID of a job; null where it says nothing. The databases of tests
-- require it, so that no writer is without one.
create or replace function contact_cause() returns text language plpgsql as $fn$
declare
  cause text := nullif(current_setting('fernpost.cause', true), '');
begin
  if cause is null and current_setting('fernpost.cause_required', true) = 'on' then
    raise exception 'contacts are written without a cause: the statement needs because() of src/audience/contacts/cause.ts';
  end if;
  return cause;
end
$fn$;
