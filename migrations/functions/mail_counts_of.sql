-- What a mail counts as in the statistics of the hour in which it was accepted: 1 or 0 for each column of mail_counts. Everything that counts
-- mail asks this function, about a row as it is, or as it was before a change. Mail that waits has no instants. Suppressed and cancelled mail
-- is in no statistics; rates leave out what failed and what went to a simulator. It is one query without tables, so that Postgres
-- makes it part of the statement that asks.
create or replace function mail_counts_of(
  source_type text, status text, simulated boolean, delivered_at timestamptz default null, opened_at timestamptz default null,
  clicked_at timestamptz default null, bounced_at timestamptz default null, complained_at timestamptz default null
)
returns table(
  outgoing integer, incoming integer, delivered integer, opened integer, clicked integer, bounced integer, rated integer,
  rated_bounced integer, rated_complained integer
) language sql immutable parallel safe as $fn$
  select is_out::integer, (source_type = 'INBOUND')::integer, (is_out and delivered_at is not null)::integer,
    (is_out and opened_at is not null)::integer, (is_out and clicked_at is not null)::integer, (is_out and bounced_at is not null)::integer,
    is_rated::integer, (is_rated and bounced_at is not null)::integer, (is_rated and complained_at is not null)::integer
  from (
    select source_type <> 'INBOUND' and status not in ('SUPPRESSED', 'CANCELLED') as is_out,
      source_type <> 'INBOUND' and status not in ('SUPPRESSED', 'CANCELLED', 'FAILED') and not simulated as is_rated) mail
$fn$;
