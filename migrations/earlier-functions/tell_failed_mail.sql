-- Mail that failed is reported by the event email.failed with its reason, whoever writes the verdict: five statements do. What the
-- provider refuses after it took the mail is reported by its webhook, and what was skipped on purpose is no failure.
create or replace function tell_failed_mail() returns trigger language plpgsql as $fn$
begin
  perform record_events(array[row(uuidv7(), new.project_id, new.contact_id, new.id, 'email.failed',
    jsonb_build_object('subject', coalesce(new.subject, new.render ->> 'subject'), 'from', new."from", 'fromName', new.from_name,
      'messageId', new.message_id, 'emailId', new.id, 'templateId', new.template_id, 'campaignId', new.campaign_id,
      'sourceType', new.source_type, 'error', mail_reason_text(new.reason),
      'failedAt', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      || coalesce((select jsonb_build_object('tags', jsonb_object_agg(name, value)) from email_tags where email_id = new.id
        having count(*) > 0), '{}'),
    now(), null)::new_event]);
  return null;
end
$fn$;

create or replace trigger emails_failed after update of status on emails
  for each row when (new.status = 'FAILED' and old.status <> 'FAILED' and new.message_id is null
    and coalesce(new.reason ->> 'code', '') not in ('unsubscribed', 'campaign_cancelled'))
  execute function tell_failed_mail();
