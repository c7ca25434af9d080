-- Settles a claim of a campaign in one call that holds nobody up. It is a function because its plan needs settings of its own, and a
-- transaction around it to make them would hold the locks on the counters until the process commits. Rows are found by one walk along
-- the index of their ids and joined to their verdicts by hash: any other plan is quadratic. The campaign is compared in such a way that
-- no index of it is taken, which would be read from end to end. While the provider has reported nothing of a message, our own verdict
-- decides its status. A row notes the content that its claim carries, but for the first, which is that of every row without a note.
-- The counters, which all claims of a campaign share, are written last. Usage comes before contacts, which a send
-- locks in that order too.
create or replace function settle_claim(
  claim text, campaign uuid, seq integer, project uuid, provider_name text, stream_name text, ids uuid[],
  outcomes text[], message_ids text[], instants timestamptz[], subjects text[], reasons jsonb[], is_settled boolean,
  delay_ms double precision, is_doubtful boolean, refused integer, holder_name text
)
returns table(sent integer, skipped integer, failed integer) language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $fn$
#variable_conflict use_column
begin
  return query with settled as (
    update emails e set
      status = case when (e.status in ('PENDING', 'SENDING') or e.status = 'FAILED' and e.message_id is null) then v.outcome else e.status end,
      message_id = coalesce(v.message_id, e.message_id),
      sent_at = v.at,
      bounced_at = case when v.outcome = 'BOUNCED' then coalesce(e.bounced_at, now()) else e.bounced_at end,
      subject = coalesce(v.subject, e.subject),
      reason = case when (e.status in ('PENDING', 'SENDING') or e.status = 'FAILED' and e.message_id is null) then v.reason else e.reason end,
      provider = provider_name, stream = coalesce(stream_name, e.stream), updated_at = now(),
      content_version = coalesce(e.content_version, (select nullif(k.version, 1) from campaign_claims k where k.id = claim))
    from (
      select id, outcome, message_id, subject, reason, case when outcome = 'SENT' then coalesce(at, instants[1]) end as at
      from (
        select id, coalesce(outcome, 'SENT') as outcome, message_id, at, subject, reason
        from unnest(ids, outcomes, message_ids, instants, subjects, reasons)
          as given(id, outcome, message_id, at, subject, reason)) verdict) v
    where e.id = any (ids) and e.id = v.id and e.campaign_id is not distinct from campaign and e.send_seq = seq
      and e.sent_at is null and (v.outcome = 'SENT' or e.status = 'PENDING')
    returning e.id, e.project_id, e.contact_id, e.source_type, e.message_class, e.created_at, e.sent_at, e.bounced_at,
      v.outcome, v.outcome <> 'SENT' and (e.status = 'SUPPRESSED'
        or coalesce(e.reason ->> 'code' in ('unsubscribed', 'campaign_cancelled'), false)) as left_out,
      case when v.outcome = 'BOUNCED' then jsonb_build_object('subject', e.subject, 'from', e."from", 'fromName', e.from_name,
        'messageId', e.message_id, 'emailId', e.id, 'templateId', e.template_id, 'campaignId', e.campaign_id,
        'sourceType', e.source_type, 'bounceType', 'Permanent',
        'bouncedAt', to_char(e.bounced_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end as bounce),
  told as (
    insert into events (id, project_id, contact_id, email_id, name, mail_at)
    select id, project, contact_id, id, 'email.sent', sent_at from settled where outcome = 'SENT'
    returning 1),
  usage_moved as (
    insert into usage_counters as u (project_id, month, category, settled, failed)
    select project_id, date_trunc('month', created_at at time zone 'UTC')::date,
      case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL'
        else source_type end,
      count(*) filter (where outcome in ('SENT', 'BOUNCED')), count(*) filter (where outcome = 'FAILED')
    from settled where (select count(*) from told) >= 0
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, month, category) do update set
      settled = u.settled + excluded.settled, failed = u.failed + excluded.failed
    returning 1),
  flipped as (
    update contacts c set subscribed = false, subscription_before = c.subscribed, updated_at = now()
    where c.id = any (array(select contact_id from settled where outcome = 'BOUNCED')) and c.subscribed
      and (select count(*) from usage_moved) >= 0 and set_config('fernpost.cause', '{"type": "report"}', true) is not null
    returning c.id as contact_id),
  bounces_told as (
    insert into events (id, project_id, contact_id, email_id, name, data, mail_at)
    select uuidv7(), project, contact_id, s.id, 'contact.unsubscribed', '{"reason": "bounce"}'::jsonb, null
    from flipped join settled s using (contact_id)
    union all
    select uuidv7(), project, contact_id, s.id, 'email.bounce', s.bounce, s.bounced_at
    from settled s where outcome = 'BOUNCED'),
  ended as (
    update campaign_claims k set settled = is_settled, holder = null,
      due_at = clock_timestamp() + delay_ms * interval '1 millisecond',
      handed_at = case when is_doubtful then k.handed_at end, attempts = k.attempts + refused
    where k.id = claim and k.holder = holder_name and not k.settled),
  tally as (
    select (count(*) filter (where outcome = 'SENT'))::int as sent, (count(*) filter (where left_out))::int as skipped,
      (count(*) filter (where outcome <> 'SENT' and not left_out))::int as failed,
      (count(*) filter (where outcome = 'BOUNCED'))::int as bounced
    from settled),
  counted as (
    update campaigns c set sent_count = c.sent_count + t.sent, skipped_count = c.skipped_count + t.skipped,
      failed_count = c.failed_count + t.failed, bounced_count = c.bounced_count + t.bounced
    from tally t
    where c.id = campaign and c.send_seq = seq and t.sent + t.skipped + t.failed > 0
      and (select count(*) from usage_moved) >= 0
    returning 1),
  hours_counted as (
    insert into campaign_hours as h (campaign_id, send_seq, hour, sent, bounced)
    select campaign, seq, date_bin('1 hour', coalesce(sent_at, bounced_at), timestamptz 'epoch'),
      count(*) filter (where outcome = 'SENT'), count(*) filter (where outcome = 'BOUNCED')
    from settled where outcome in ('SENT', 'BOUNCED') and campaign is not null and (select count(*) from counted) > 0
    group by 3 order by 3
    on conflict (campaign_id, send_seq, hour) do update set sent = h.sent + excluded.sent, bounced = h.bounced + excluded.bounced)
  select t.sent, t.skipped, t.failed from tally t;
end
$fn$;
