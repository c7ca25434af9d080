-- Takes deleted mail off the counts; suppressed and cancelled mail is in none.
create or replace function uncount_deleted_mail() returns trigger language plpgsql as $fn$
begin
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
    select m.project_id, date_bin('1 hour', m.created_at, timestamptz 'epoch'), -sum(c.outgoing), -sum(c.incoming), -sum(c.delivered),
      -sum(c.opened), -sum(c.clicked), -sum(c.bounced), -sum(c.rated), -sum(c.rated_bounced), -sum(c.rated_complained)
    from went m cross join lateral mail_counts_of(m.source_type, m.status, m.simulated, m.delivered_at, m.opened_at, m.clicked_at,
      m.bounced_at, m.complained_at) c
    group by 1, 2 having sum(c.outgoing) + sum(c.incoming) > 0;
  return null;
end
$fn$;

create or replace trigger emails_uncounted after delete on emails referencing old table as went
  for each statement execute function uncount_deleted_mail();
