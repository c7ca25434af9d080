-- Removes mail from before `cutoff`, the next of a walk in the order of ids (retention_page); `before` is the first id of that instant. Only
-- removeByAge (src/store/columns.ts) calls it. Returns how many it looked at, and how many it removed. What is under way stays: mail that waits, of a
-- send that is not over or whose ledger another one follows, of an execution that goes on, and mail that is paid for and not reported yet.
--
-- 1. Conditions and suppression stay true: of each contact the mail stays that was sent, delivered, opened, clicked, bounced or complained about last,
--    and mail of the campaigns, templates and steps that saved conditions name (narrowed_filters).
-- 2. Sums stay true. The trigger takes deleted mail off the counts by the hour, and the statement that deletes it adds it again; what is
--    counted from rows elsewhere is added up: the recipients of a send by verdict and reason, as src/campaigns/results/verdicts.ts has them, but
--    without the provider's words; and the mail of a template.
-- 3. `email.sent` without data, whose data is its mail, goes with it; the index of its contact leads to it. Other events have their own time.
create or replace function remove_old_mail(cutoff timestamptz, before uuid, again uuid, most integer, own integer default null)
returns table(walked integer, removed integer) language plpgsql
  set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $fn$
declare
  page uuid[];
  busy uuid[];
  named text[];
  notes uuid[];
begin
  select p.walked, p.page into walked, page from retention_page('mail', 'emails', before, again, most, own, 'email_retention_days') p;
  busy := array(
    select p.campaign_id
    from (select distinct m.project_id, m.campaign_id, m.send_seq from emails m where m.id = any (page) and m.campaign_id is not null) p
    where exists (select from campaign_sends s where s.campaign_id = p.campaign_id and s.send_seq = p.send_seq and not s.closed)
      or exists (select from campaigns c where c.id = p.campaign_id and c.status = 'SENDING')
      or exists (select from campaigns k where k.project_id = p.project_id and k.resend_of = p.campaign_id and k.status in ('SCHEDULED', 'SENDING')));
  named := array(
    select source.value #>> '{}'
    from narrowed_filters(array(select distinct m.project_id from emails m where m.id = any (page))) f
      cross join lateral jsonb_path_query(f.filter, 'lax $.of.*') source (value)
    where source.value #>> '{}' is not null);
  with gone as (
    delete from emails m
    where m.id = any (page) and m.status not in ('PENDING', 'SENDING') and coalesce(m.sent_at, m.created_at) < cutoff
      and (m.campaign_id is null or m.campaign_id <> all (busy))
      and (cardinality(named) = 0 or coalesce(
        m.campaign_id::text <> all (named), true) and coalesce(m.template_id::text <> all (named), true) and not exists (
          select from automation_step_runs x where x.id = m.workflow_step_execution_id and x.step_id::text = any (named)))
      and not exists (select from email_queue q where q.email_id = m.id)
      and (m.workflow_execution_id is null or not exists (
        select from automation_runs r where r.id = m.workflow_execution_id and r.status in ('RUNNING', 'WAITING')))
      and not exists (
        select from usage_reports u join projects p on p.id = u.project_id
        where u.project_id = m.project_id and p.customer is not null and u.reported_through < m.id)
      and not exists (select from usage_reports_waiting w where w.project_id = m.project_id and w.email_id = m.id)
      and not exists (
        select from (values ('sent'), ('delivered'), ('opened'), ('clicked'), ('bounced'), ('complained')) activity (name)
        where case activity.name
          when 'sent' then m.sent_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.sent_at, n.id) > (m.sent_at, m.id))
          when 'delivered' then m.delivered_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.delivered_at, n.id) > (m.delivered_at, m.id))
          when 'opened' then m.opened_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.opened_at, n.id) > (m.opened_at, m.id))
          when 'clicked' then m.clicked_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.clicked_at, n.id) > (m.clicked_at, m.id))
          when 'bounced' then m.bounced_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.bounced_at, n.id) > (m.bounced_at, m.id))
          else m.complained_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.complained_at, n.id) > (m.complained_at, m.id)) end)
    returning m.*),
  hours as (
    insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
    select m.project_id, date_bin('1 hour', m.created_at, timestamptz 'epoch'), sum(c.outgoing), sum(c.incoming), sum(c.delivered),
      sum(c.opened), sum(c.clicked), sum(c.bounced), sum(c.rated), sum(c.rated_bounced), sum(c.rated_complained)
    from gone m cross join lateral mail_counts_of(m.source_type, m.status, m.simulated, m.delivered_at, m.opened_at, m.clicked_at,
      m.bounced_at, m.complained_at) c
    group by 1, 2 having sum(c.outgoing) + sum(c.incoming) > 0),
  recipients as (
    insert into campaign_ledger_sums as s (campaign_id, send_seq, verdict, reason, recipients)
    select v.campaign_id, v.send_seq, v.verdict, v.reason, count(*)
    from (
      select m.campaign_id, m.send_seq, case
          when m.sent_at is not null or m.message_id is not null then 'handed_over'
          when m.status in ('SUPPRESSED', 'CANCELLED')
            or m.reason ->> 'code' in ('unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review') then 'skipped'
          else 'failed' end as verdict,
        case
          when m.sent_at is not null or m.message_id is not null then ''
          when m.suppression ->> 'kind' = 'HOLDOUT' then 'In the control group (holdout)'
          when m.status = 'SUPPRESSED' then 'Suppressed' || coalesce(' by rule "' || (m.suppression ->> 'name') || '"', '')
          when m.reason is null then 'Unknown'
          when m.reason ->> 'code' = 'provider' then 'Refused by the provider'
          else rtrim(mail_reason_text(m.reason - 'words'), ': ') end as reason
      from gone m where m.campaign_id is not null) v
    where exists (select from campaigns c where c.id = v.campaign_id)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (campaign_id, send_seq, verdict, reason) do update set recipients = s.recipients + excluded.recipients),
  of_templates as (
    update templates t set removed_mails = t.removed_mails + n.mails
    from (select template_id, count(*) as mails from gone where template_id is not null group by template_id order by template_id) n
    where t.id = n.template_id)
  select count(*), coalesce(array_agg(sent.id) filter (where sent.id is not null), '{}') into removed, notes
  from gone m left join lateral (
    select e.id from events e
    where e.contact_id = m.contact_id and e.created_at >= m.created_at and e.created_at < cutoff and e.email_id = m.id
      and e.name = 'email.sent' and e.data is null
    order by e.created_at limit 1) sent on m.sent_at is not null;
  perform remove_events(notes);
  return next;
end
$fn$;
