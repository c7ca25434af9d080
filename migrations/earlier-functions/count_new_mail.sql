-- Counts mail by the hour it was created in. Mail that a rule suppressed or that was cancelled is in no statistics, and what failed, came in or went to a
-- simulator says nothing about a sender (docs/contract/platform.md#2-4). The statement that freezes a page of an audience knows
-- what its rows are and counts them itself, which it says by a setting of its transaction (measured: 1 µs a message).
create or replace function count_new_mail() returns trigger language plpgsql as $fn$
begin
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
    select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED')),
    count(*) filter (where m.source_type = 'INBOUND'),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.delivered_at is not null),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.opened_at is not null),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.clicked_at is not null),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.bounced_at is not null),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.status <> 'FAILED' and not m.simulated),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.status <> 'FAILED' and not m.simulated and m.bounced_at is not null),
    count(*) filter (where m.source_type <> 'INBOUND' and m.status not in ('SUPPRESSED', 'CANCELLED') and m.status <> 'FAILED' and not m.simulated and m.complained_at is not null)
    from came m group by 1, 2;
  return null;
end
$fn$;

create or replace trigger emails_counted after insert on emails referencing new table as came
  for each statement when (current_setting('fernpost.mail_counted', true) is distinct from 'on')
  execute function count_new_mail();
