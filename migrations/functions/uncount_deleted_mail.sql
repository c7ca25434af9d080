-- Takes deleted mail off the counts, by the conditions of src/mail/ledger/counting.ts.
create or replace function uncount_deleted_mail() returns trigger language plpgsql as $fn$
begin
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
    select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED')),
    -count(*) filter (where m.source_type = 'INBOUND'),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.delivered_at is not null),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.opened_at is not null),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.clicked_at is not null),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.bounced_at is not null),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.status <> 'FAILED' and not m.simulated),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.status <> 'FAILED' and not m.simulated and m.bounced_at is not null),
    -count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.status <> 'FAILED' and not m.simulated and m.complained_at is not null)
    from went m group by 1, 2;
  return null;
end
$fn$;

create or replace trigger emails_uncounted after delete on emails referencing old table as went
  for each statement execute function uncount_deleted_mail();
