-- Compares the mail of a database that was set back with what the provider has accepted since (`restored_mail`), in the transaction of whoever
-- calls it, while the provider is held. Only src/feedback/reports/restored.ts does. Returns how many mails may have been handed over although
-- the provider's search does not show them; null while a campaign that may have been sent is still freezing its audience, whose rows are new.
--
-- 1. Mail whose row is lost, but whose campaign has made a row for the same contact since: that row stands for it. Where it may belong to
--    more than one campaign, or is a workflow's, the new rows are unknown.
-- 2. Mail of the queue goes in the order of its time, at most 3,000 at once. Beyond the last that was found, and as many more, none can have left.
--    New mail of a step is unknown where its run, or the event that started it, is from before the hold: the search may miss what it stands for, and
--    what it shows may have another kind or recipient. Not where the run has gone on by a new event, or by a time when nothing was sent any more.
-- 3. Recipients of a campaign go in the order of their contacts, `reach` in a call. Whoever is as near to one that has left, before or behind,
--    may have it. Where none has left, that is the first call. A canary is counted apart. Whoever was in quiet hours may have it once these ended,
--    and of a project whose hours were changed since, as mail shows that was found before it was due, whoever waits; so does mail of its steps.
-- 4. What is unknown is kept from being sent: in the queue by a claim that is never due, in a campaign by the status SENDING, which no claim
--    takes, and one open claim, without which the send would end.
create or replace function match_restored_mail(restore timestamptz, reach integer) returns integer language plpgsql as $fn$
#variable_conflict use_column
declare
  most_claimed constant integer := 3000;
  never constant timestamptz := clock_timestamp() + interval '100 years';
  r restores;
  fresh uuid;
  early uuid[];
  last_call timestamptz;
  unknown integer;
begin
  select * into r from restores where restored_to = restore for update;
  if r.phase <> 'MATCHING' then return 0; end if;
  if exists (
    select from campaigns c left join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.id = any (r.campaigns)
      and (c.status = 'SCHEDULED' and c.scheduled_for <= clock_timestamp() or c.status = 'SENDING' and not coalesce(s.expanded, false)))
  then return null; end if;
  fresh := (lpad(to_hex(floor(1000 * extract(epoch from r.held_at))::bigint), 12, '0') || '70008000000000000000')::uuid;
  last_call := (
    select least(r.held_at, coalesce(max(accepted_at), r.restored_to) + interval '5 minutes') from restored_mail where restored_to = restore);

  with candidates as (
    select m.email_id as lost_id, m.message_id, m.accepted_at, m.source, m.campaign_id as named, e.id, e.project_id, e.contact_id, e.campaign_id
    from restored_mail m join emails e on e.contact_id = m.contact_id and e.project_id = m.project_id and e.source_type = m.source
    where m.restored_to = restore and m.outcome = 'LOST' and m.source in ('CAMPAIGN', 'WORKFLOW') and e.id >= fresh
      and e.status = 'PENDING' and e.sent_at is null and e.message_id is null
      and (m.source = 'WORKFLOW' or e.campaign_id = any (r.campaigns) and e.campaign_id = coalesce(m.campaign_id, e.campaign_id))),
  added as (
    insert into restored_mail (restored_to, email_id, project_id, contact_id, campaign_id, source, message_id, accepted_at, outcome)
    select distinct on (id) restore, id, project_id, contact_id, campaign_id, source, message_id, accepted_at,
      case when named is null then 'UNKNOWN' else 'FOUND' end
    from candidates order by id, named nulls last, accepted_at
    on conflict do nothing)
  update restored_mail m set outcome = 'MATCHED' from candidates k
  where m.restored_to = restore and m.email_id = k.lost_id and k.named is not null;

  early := array(
    select distinct e.project_id from restored_mail m join emails e on e.id = m.email_id
    where m.restored_to = restore and m.outcome = 'FOUND' and e.held_until > r.held_at
      and coalesce(e.campaign_id, e.workflow_step_execution_id) is not null);

  insert into restored_mail (restored_to, email_id, project_id, contact_id, source, outcome)
  select restore, id, project_id, contact_id, source_type, 'UNKNOWN'
  from (
    select *, max(place) filter (where is_found) over (partition by project_id) as last_found
    from (
      select e.id, e.project_id, e.contact_id, e.source_type, e.id >= fresh as is_new, e.message_id is not null as is_proven,
        e.id >= fresh and e.workflow_step_execution_id is not null and (not r.searched or coalesce(w.source_event_id, w.id) < fresh and not exists (
          select from automation_step_runs s
          where s.run_id = w.id and s.started_at < r.held_at and s.completed_at >= r.held_at
            and case when s.outcome = 'EVENT' then s.resume_event_id >= fresh else coalesce(s.scheduled_for + s.turn_ms * interval '1 millisecond', s.execute_after) > last_call end)) as is_repeated,
        m.email_id is not null as is_found, row_number() over (partition by q.project_id order by q.created_at, q.email_id) as place
      from email_queue q join emails e on e.id = q.email_id
        left join automation_runs w on w.id = e.workflow_execution_id
        left join restored_mail m on m.restored_to = restore and m.email_id = e.id
      where q.created_at <= r.held_at or e.id >= fresh and e.workflow_step_execution_id is not null
        or q.project_id = any (early) and e.held_until is not null and e.workflow_step_execution_id is not null) queued) placed
  where not is_found and not is_proven
    and (not is_new and (not r.searched or place <= coalesce(last_found, 0) + most_claimed)
      or is_repeated)
  on conflict do nothing;

  insert into restored_mail (restored_to, email_id, project_id, contact_id, campaign_id, source, outcome)
  select restore, id, project_id, contact_id, campaign_id, 'CAMPAIGN', 'UNKNOWN'
  from (
    select *, max(place) filter (where has_left) over (recipients rows unbounded preceding) as before,
      min(place) filter (where has_left) over (recipients rows between current row and unbounded following) as behind,
      bool_or(is_found) over (partition by campaign_id) as any_found
    from (
      select e.id, e.project_id, e.contact_id, e.campaign_id, h.contact_id is not null as was_held, k.contact_id is not null as is_canary, s.canary as is_canary_sent,
        c.paused_at is not null as is_paused, m.email_id is not null as is_found,
        e.sent_at is not null or e.message_id is not null or coalesce(m.outcome = 'FOUND', false) as has_left,
        e.status = 'PENDING' and e.sent_at is null and e.message_id is null and m.email_id is null
          and (h.due_at is null or h.due_at <= r.held_at or c.project_id = any (early)) as is_open,
        row_number() over (partition by e.campaign_id, k.contact_id is not null order by e.contact_id) as place
      from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
        join emails e on e.campaign_id = c.id and e.send_seq = c.send_seq
        left join campaign_held_contacts h on h.campaign_id = c.id and h.send_seq = c.send_seq and h.contact_id = e.contact_id
        left join campaign_canary_contacts k on k.campaign_id = c.id and k.send_seq = c.send_seq and k.contact_id = e.contact_id
        left join restored_mail m on m.restored_to = restore and m.email_id = e.id
      where c.id = any (r.campaigns) and c.status = 'SENDING') numbered
    window recipients as (partition by campaign_id, is_canary order by place)) near
  where is_open and (not is_paused or any_found)
    and (not r.searched or was_held or place - before <= reach or behind - place <= reach
      or before is null and behind is null and place <= reach and is_canary = is_canary_sent)
  on conflict do nothing;

  update email_queue q set claim_id = 'restored', claimed_at = r.restored_to, lookups = 1, due_at = never
  where q.email_id = any (array(select email_id from restored_mail where restored_to = restore and outcome = 'UNKNOWN'));
  delete from campaign_held_contacts h using campaigns c, restored_mail m
  where m.restored_to = restore and m.outcome = 'UNKNOWN' and c.id = m.campaign_id and h.campaign_id = c.id and h.send_seq = c.send_seq
    and h.contact_id = m.contact_id;
  update emails e set status = 'SENDING', held_until = null
  where e.id = any (array(
    select email_id from restored_mail where restored_to = restore and outcome = 'UNKNOWN' and campaign_id is not null))
    and e.status = 'PENDING';
  insert into campaign_claims (id, campaign_id, send_seq, through_contact, size, claimed_at, taken_at, due_at, handed_at, canary, version)
  select 'restored/' || c.id || '/' || c.send_seq, c.id, c.send_seq, u.through_contact, u.mails, r.restored_to, never, never, r.restored_to,
    s.canary, c.content_version
  from (
    select campaign_id, count(*)::int as mails, (array_agg(contact_id order by contact_id desc))[1] as through_contact
    from restored_mail where restored_to = restore and outcome = 'UNKNOWN' and campaign_id is not null group by campaign_id) u
    join campaigns c on c.id = u.campaign_id join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
  on conflict do nothing;
  update restores set phase = 'SETTLING' where restored_to = restore;
  select count(*)::int into unknown from restored_mail where restored_to = restore and outcome = 'UNKNOWN';
  return unknown;
end
$fn$;
