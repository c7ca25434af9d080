-- What becomes of a contact by a row of `write_contacts`: its address, its subscription and its data. `consent` is data for contacts whom
-- the row subscribes. A query on this function becomes a part of the statement that asks it, so that it costs no call.
create or replace function contact_after(email text, subscribed boolean, data jsonb, given jsonb)
returns table(email text, subscribed boolean, data jsonb) language sql immutable parallel safe as $fn$
  select coalesce($4 ->> 'newEmail', $1), coalesce(($4 ->> 'subscribed')::boolean, $2),
    (case when $4 ? 'clear' then '{}' else $3 end || coalesce($4 -> 'set', '{}')
      || case when $4 ? 'consent' and ($4 ->> 'subscribed')::boolean and not $2 then $4 -> 'consent' else '{}' end)
    - case when $4 ? 'remove' then array(select jsonb_array_elements_text($4 -> 'remove')) else '{}' end
  offset 0
$fn$;
