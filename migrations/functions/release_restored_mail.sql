-- Lets mail that is unknown since the database was set back be sent (see match_restored_mail): all of it, or with `only_ended` that of
-- campaigns which are over or cancelled, whose end it would keep open. Then ends the claims that keep sends open for mail of which none is left.
-- Only src/feedback/reports/restored.ts calls it. Returns how many mails may be sent.
create or replace function release_restored_mail(only_ended boolean) returns integer language plpgsql as $fn$
declare
  released uuid[];
begin
  with freed as (
    update restored_mail m set outcome = 'RELEASED'
    where m.outcome = 'UNKNOWN' and (not only_ended or m.campaign_id is not null and not exists (
      select from campaigns c where c.id = m.campaign_id and c.status = 'SENDING'))
    returning m.email_id)
  select coalesce(array_agg(email_id), '{}') into released from freed;
  update email_queue set claim_id = null, claimed_at = null, lookups = 0, due_at = clock_timestamp()
  where email_id = any (released) and claim_id = 'restored';
  update emails set status = 'PENDING' where id = any (released) and status = 'SENDING' and sent_at is null and message_id is null;
  update campaign_claims k set settled = true
  where k.id like 'restored/%' and not k.settled and not exists (
    select from restored_mail m where m.campaign_id = k.campaign_id and m.outcome = 'UNKNOWN');
  return cardinality(released);
end
$fn$;
