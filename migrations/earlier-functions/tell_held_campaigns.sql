-- When the provider begins to refuse all mail, every campaign that is being sent waits for it: an event of each project.
create or replace function tell_held_campaigns() returns trigger language plpgsql as $fn$
begin
  insert into events (id, project_id, name, data)
  select uuidv7(), project_id, 'campaign.held', jsonb_build_object('campaignId', id, 'campaignName', name,
    'recipients', total_recipients, 'sent', sent_count, 'skipped', skipped_count, 'failed', failed_count,
    'provider', new.provider, 'reason', new.reason)
  from campaigns where status = 'SENDING' and paused_at is null;
  return null;
end
$fn$;

create or replace trigger provider_holds_told after update of held_until on provider_holds
  for each row when (old.held_until is null and new.held_until is not null)
  execute function tell_held_campaigns();
