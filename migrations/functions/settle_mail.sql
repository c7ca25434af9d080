-- Settles mail of one claim, of the queue (without `campaign`) or of a campaign, with everything that follows, in the transaction of
-- whoever calls it. Only src/mail/ledger/settle.ts does. `verdicts` are the mails that were sent or never will be, as arrays of their
-- parts: without an outcome a mail is SENT, and one instant is that of all. `returned` are the mails of the queue that wait again; of a
-- campaign, the one row by which the claim as a whole is put back, and none when it has ended. Repeating it changes nothing.
--
-- 1. The ledger. A mail is settled once: `sent_at` is the guard. SENT holds whoever says so and whatever became of the claim. FAILED and
--    BOUNCED hold only while the mail waits, and in the queue only while the claim has it. Until the provider has reported something our
--    verdict decides the status. A mail of a campaign notes the content of its claim, but for the first, which is that of all without a
--    note. A failed mail of the queue keeps what it is made of, so that it can be sent again, and its files while the project has room.
-- 2. Its hour, its month, and the contact that the provider refuses. Usage comes before contacts, which a send locks in that order too.
-- 3. The counters of the send, which all its claims share, as late as can be.
-- 4. The claim: rows of the queue are removed or due again, a claim of a campaign ends or is put back by the attempt that holds it.
-- 5. Events, with the limits of their mail. The ID of `email.sent` has the time of now and the rest of its mail's ID, which is cheaper than new random
--    bits. It has no data, which would be a copy of the row (`eventData` reads it from there).
-- 6. Mail that was given up (FAILED without a message ID, so not by the provider's word) and is with the provider after all waits again, takes
--    back the quota that it had given back, and is settled once more.
--
-- It is a function because its plan needs settings of its own, and a transaction around it to make them would hold the locks on the
-- counters until the process commits. Rows are found by one walk along the index of their IDs and joined to their verdicts by hash: any
-- other plan is quadratic. The campaign is compared in such a way that no index of it is taken, which would be read from end to end.
create or replace function settle_mail(claim settled_claim, verdicts settled_mail, returned returned_mail[])
returns table(sent integer, skipped integer, failed integer) language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $fn$
#variable_conflict use_column
declare
  most_kept_bytes constant bigint := 1024 * 1024 * 1024;
  is_queued constant boolean := claim.campaign is null;
  -- The milliseconds of now, as IDs begin with them.
  stamp constant bytea := substring(int8send(floor(extract(epoch from now()) * 1000)::bigint) from 3);
  ids constant uuid[] := verdicts.ids;
  instant constant timestamptz := verdicts.instants[1];
  sent_ids uuid[] := ids;
  failed_ids uuid[] := '{}';
  held_ids uuid[] := '{}';
  kept_ids uuid[] := '{}';
  happened new_event[];
  again record;
begin
  if cardinality(verdicts.outcomes) > 0 then
    select coalesce(array_agg(id) filter (where outcome is null), '{}'), coalesce(array_agg(id) filter (where outcome = 'FAILED'), '{}')
    into sent_ids, failed_ids
    from unnest(ids, verdicts.outcomes) as v(id, outcome);
  end if;
  if is_queued and cardinality(verdicts.outcomes) > 0 then
    held_ids := array(select email_id from email_queue where email_id = any (ids) and claim_id = claim.id);
    kept_ids := array(
      select f.id from (
        select e.id, e.project_id, sum(q.bytes) over (partition by e.project_id order by e.id) as through
        from emails e join email_queue q on q.email_id = e.id
        where e.id = any (failed_ids) and q.email_id = any (failed_ids) and q.claim_id = claim.id
          and e.render is not null and jsonb_typeof(e.attachments) = 'array') f
      where f.through + coalesce((select sum(k.bytes) from failed_attachments k where k.project_id = f.project_id), 0) <= most_kept_bytes);
  end if;

  with settled as (
    update emails e set
      status = case when e.status in ('PENDING', 'SENDING') then v.outcome else e.status end,
      reason = case when e.status in ('PENDING', 'SENDING') then v.reason else e.reason end,
      message_id = coalesce(v.message_id, e.message_id),
      sent_at = v.at,
      bounced_at = case when v.outcome = 'BOUNCED' then coalesce(e.bounced_at, now()) else e.bounced_at end,
      provider = claim.provider, stream = coalesce(v.stream, claim.stream, e.stream),
      subject = coalesce(v.subject, e.subject),
      body = case when v.outcome = 'FAILED' and e.render is not null then e.body else coalesce(v.body, e.body) end,
      render = case when v.subject is null or v.outcome = 'FAILED' then e.render end,
      attachments = case when jsonb_typeof(e.attachments) is distinct from 'array' or e.id = any (kept_ids) then e.attachments
        else (select jsonb_agg(file - 'content') from jsonb_array_elements(e.attachments) file) end,
      content_version = coalesce(e.content_version, (select nullif(k.version, 1) from campaign_claims k where k.id = claim.id)),
      updated_at = now()
    from (
      select id, coalesce(outcome, 'SENT') as outcome, message_id, case when outcome is null then coalesce(at, instant) end as at,
        subject, body, stream, reason, flip_id, event_id
      from unnest(ids, verdicts.outcomes, verdicts.message_ids, verdicts.instants, verdicts.subjects, verdicts.bodies, verdicts.streams,
        verdicts.reasons, verdicts.flip_ids, verdicts.event_ids)
        as given(id, outcome, message_id, at, subject, body, stream, reason, flip_id, event_id)) v
    where e.id = any (ids) and e.id = v.id
      and (is_queued or e.campaign_id is not distinct from claim.campaign and e.send_seq = claim.seq)
      and e.sent_at is null
      and (v.outcome = 'SENT' and not (e.status = 'FAILED' and e.message_id is null)
        or e.status in ('PENDING', 'SENDING') and (not is_queued or e.id = any (held_ids)))
    returning e.id, e.project_id, e.contact_id, e.source_type, e.message_class, e.created_at, e.sent_at, e.bounced_at, e.simulated, e.limited_by,
      v.outcome, v.flip_id, v.event_id,
      v.outcome = 'FAILED' and coalesce(e.reason ->> 'code' in ('unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review'),
        false) as is_left_out,
      case when v.outcome = 'BOUNCED' or v.outcome = 'FAILED' and e.message_id is null then
        mail_payload(e.id, case when v.outcome = 'FAILED' then coalesce(e.subject, e.render ->> 'subject') else e.subject end,
          e."from", e.from_name, e.message_id, e.template_id, e.campaign_id, e.source_type)
        || case v.outcome
          when 'BOUNCED' then jsonb_build_object('bounceType', 'Permanent', 'bouncedAt',
            to_char(e.bounced_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          else jsonb_build_object('error', mail_reason_text(e.reason), 'failedAt',
            to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end
        || coalesce((select jsonb_build_object('tags', jsonb_object_agg(t.name, t.value)) from email_tags t where t.email_id = e.id
          having count(*) > 0), '{}') end as payload),
  mail_counted as (
    insert into mail_count_changes (project_id, hour, bounced, rated, rated_bounced)
    select s.project_id, date_bin('1 hour', s.created_at, timestamptz 'epoch'), sum(now.bounced - was.bounced), sum(now.rated - was.rated),
      sum(now.rated_bounced - was.rated_bounced)
    from settled s cross join lateral mail_counts_of(s.source_type, 'PENDING', s.simulated) was
      cross join lateral mail_counts_of(s.source_type, s.outcome, s.simulated, bounced_at => s.bounced_at) now
    where s.outcome <> 'SENT' group by 1, 2),
  usage_moved as (
    insert into usage_counters as u (project_id, month, category, settled, failed)
    select project_id, date_trunc('month', created_at at time zone 'UTC')::date,
      case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL'
        else source_type end,
      count(*) filter (where outcome in ('SENT', 'BOUNCED')), count(*) filter (where outcome = 'FAILED')
    from settled
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, month, category) do update set
      settled = u.settled + excluded.settled, failed = u.failed + excluded.failed
    returning 1),
  flipped as materialized (
    select w.id
    from (
      select project_id, limited_by, jsonb_agg(jsonb_build_object('id', contact_id, 'subscribed', false,
        'flipId', flip_id, 'flipEmailId', id, 'flipData', jsonb_build_object('reason', 'bounce'))) as rows
      from (select distinct on (contact_id) contact_id, id, project_id, flip_id, limited_by from settled where outcome = 'BOUNCED') s
      where (select count(*) from usage_moved) >= 0 group by project_id, limited_by) b,
    write_contacts(project => b.project_id, given => b.rows, cause => '{"type": "report"}', limited_by => b.limited_by,
      subscribed_when_new => null, waits => true, restores => false) w),
  tally as (
    select (count(*) filter (where outcome = 'SENT'))::int as sent, (count(*) filter (where is_left_out))::int as skipped,
      (count(*) filter (where outcome <> 'SENT' and not is_left_out))::int as failed,
      (count(*) filter (where outcome = 'BOUNCED'))::int as bounced
    from settled),
  counted as (
    update campaigns c set sent_count = c.sent_count + t.sent, skipped_count = c.skipped_count + t.skipped,
      failed_count = c.failed_count + t.failed, bounced_count = c.bounced_count + t.bounced
    from tally t
    where c.id = claim.campaign and c.send_seq = claim.seq and t.sent + t.skipped + t.failed > 0
      and (select count(*) from usage_moved) >= 0
    returning 1),
  hours_counted as (
    insert into campaign_hours as h (campaign_id, send_seq, hour, sent, bounced)
    select claim.campaign, claim.seq, date_bin('1 hour', coalesce(sent_at, bounced_at), timestamptz 'epoch'),
      count(*) filter (where outcome = 'SENT'), count(*) filter (where outcome = 'BOUNCED')
    from settled where outcome in ('SENT', 'BOUNCED') and not is_queued and (select count(*) from counted) > 0
    group by 3 order by 3
    on conflict (campaign_id, send_seq, hour) do update set sent = h.sent + excluded.sent, bounced = h.bounced + excluded.bounced)
  select t.sent, t.skipped, t.failed, array(
    select row(encode(overlay(uuid_send(id) placing stamp from 1 for 6), 'hex')::uuid, project_id, contact_id, id, 'email.sent', null, sent_at, limited_by)::new_event from settled where outcome = 'SENT'
    union all
    select row(event_id, project_id, contact_id, id, 'email.bounce', payload, bounced_at, limited_by)::new_event
    from settled where outcome = 'BOUNCED' and (select count(*) from flipped) >= 0
    union all
    select row(uuidv7(), project_id, contact_id, id, 'email.failed', payload, now(), limited_by)::new_event
    from settled where outcome = 'FAILED' and payload is not null and not is_left_out)
  into sent, skipped, failed, happened from tally t;

  if is_queued then
    if cardinality(kept_ids) > 0 then
      insert into failed_attachments (email_id, project_id, bytes)
        select q.email_id, q.project_id, q.bytes from email_queue q join emails e on e.id = q.email_id
        where q.email_id = any (kept_ids) and e.id = any (kept_ids) and e.status = 'FAILED'
        on conflict (email_id) do nothing;
    end if;
    delete from email_queue q where q.email_id = any (ids)
      and (q.claim_id = claim.id or q.email_id = any (sent_ids));
    update email_queue q set
      due_at = clock_timestamp() + r.delay_ms * interval '1 millisecond',
      claim_id = case when r.is_unconfirmed then q.claim_id end, claimed_at = case when r.is_unconfirmed then q.claimed_at end,
      lookups = case when r.is_unconfirmed then q.lookups + 1 else 0 end,
      attempts = q.attempts + r.attempts, last_refusal = coalesce(r.refusal, q.last_refusal)
    from unnest(returned) r
    where q.email_id = any (array(select r.id from unnest(returned) r)) and q.email_id = r.id and q.claim_id = claim.id;
  else
    update campaign_claims k set
      settled = cardinality(returned) = 0, holder = null,
      due_at = clock_timestamp() + coalesce((returned[1]).delay_ms, 0) * interval '1 millisecond',
      handed_at = case when (returned[1]).is_unconfirmed then k.handed_at end,
      attempts = k.attempts + coalesce((returned[1]).attempts, 0)
    where k.id = claim.id and k.holder = claim.holder and not k.settled;
  end if;

  perform record_events(happened);

  if sent + skipped + failed < cardinality(ids) then
    with reopened as (
      update emails e set status = 'PENDING', reason = null
      where e.id = any (sent_ids)
        and (is_queued or e.campaign_id is not distinct from claim.campaign and e.send_seq = claim.seq)
        and e.sent_at is null and e.status = 'FAILED' and e.message_id is null
      returning e.project_id, e.created_at, e.source_type, e.message_class, e.simulated),
    quota_taken as (
      update usage_counters u set failed = greatest(0, u.failed - r.mails)
      from (
        select project_id, date_trunc('month', created_at at time zone 'UTC')::date as month,
          case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL'
            else source_type end as category, count(*) as mails
        from reopened group by 1, 2, 3) r
      where u.project_id = any (array(select project_id from reopened)) and u.project_id = r.project_id and u.month = r.month
        and u.category = r.category)
    insert into mail_count_changes (project_id, hour, rated)
      select r.project_id, date_bin('1 hour', r.created_at, timestamptz 'epoch'), sum(now.rated - was.rated)
      from reopened r cross join lateral mail_counts_of(r.source_type, 'FAILED', r.simulated) was
        cross join lateral mail_counts_of(r.source_type, 'PENDING', r.simulated) now
      group by 1, 2;
    if found then
      select * into again from settle_mail(claim => claim, verdicts => verdicts, returned => '{}');
      sent := sent + again.sent;
    end if;
  end if;
  return next;
end
$fn$;
