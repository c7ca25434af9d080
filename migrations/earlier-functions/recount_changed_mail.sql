-- Moves mail between the counts when its status or instants change. Sending and handing over change nothing that is counted: the
-- condition lets these updates pass without a call.
create or replace function recount_changed_mail() returns trigger language plpgsql as $fn$
begin
  if old.created_at = new.created_at then
    insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
      values (new.project_id, date_bin('1 hour', new.created_at, timestamptz 'epoch'),
      (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED'))::integer
        - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED'))::integer,
        (new.source_type = 'INBOUND')::integer
          - (old.source_type = 'INBOUND')::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.delivered_at is not null)::integer
          - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.delivered_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.opened_at is not null)::integer
          - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.opened_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.clicked_at is not null)::integer
          - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.clicked_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.bounced_at is not null)::integer
          - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.bounced_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.status <> 'FAILED' and not new.simulated)::integer
          - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.status <> 'FAILED' and not old.simulated)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.status <> 'FAILED' and not new.simulated and new.bounced_at is not null)::integer
          - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.status <> 'FAILED' and not old.simulated and old.bounced_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.status <> 'FAILED' and not new.simulated and new.complained_at is not null)::integer
          - (old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.status <> 'FAILED' and not old.simulated and old.complained_at is not null)::integer);
  else
    insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
      values (old.project_id, date_bin('1 hour', old.created_at, timestamptz 'epoch'),
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED'))::integer,
      -(old.source_type = 'INBOUND')::integer,
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.delivered_at is not null)::integer,
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.opened_at is not null)::integer,
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.clicked_at is not null)::integer,
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.bounced_at is not null)::integer,
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.status <> 'FAILED' and not old.simulated)::integer,
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.status <> 'FAILED' and not old.simulated and old.bounced_at is not null)::integer,
      -(old.source_type <> 'INBOUND' and old.status not in ('SUPPRESSED', 'CANCELLED') and old.status <> 'FAILED' and not old.simulated and old.complained_at is not null)::integer),
      (new.project_id, date_bin('1 hour', new.created_at, timestamptz 'epoch'),
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED'))::integer,
        (new.source_type = 'INBOUND')::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.delivered_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.opened_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.clicked_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.bounced_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.status <> 'FAILED' and not new.simulated)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.status <> 'FAILED' and not new.simulated and new.bounced_at is not null)::integer,
        (new.source_type <> 'INBOUND' and new.status not in ('SUPPRESSED', 'CANCELLED') and new.status <> 'FAILED' and not new.simulated and new.complained_at is not null)::integer);
  end if;
  return null;
end
$fn$;

create or replace trigger emails_recounted
  after update of status, delivered_at, opened_at, clicked_at, bounced_at, complained_at, simulated, created_at on emails
  for each row when (((old.delivered_at is null) <> (new.delivered_at is null))
    or ((old.opened_at is null) <> (new.opened_at is null))
    or ((old.clicked_at is null) <> (new.clicked_at is null))
    or ((old.bounced_at is null) <> (new.bounced_at is null))
    or ((old.complained_at is null) <> (new.complained_at is null))
    or (old.status <> new.status and (old.status in ('FAILED', 'SUPPRESSED', 'CANCELLED') or new.status in ('FAILED', 'SUPPRESSED', 'CANCELLED')))
    or old.simulated <> new.simulated
    or old.created_at <> new.created_at)
  execute function recount_changed_mail();
