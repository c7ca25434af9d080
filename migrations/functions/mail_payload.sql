-- What every `email.*` event says of its mail (docs/contract/core.md#5-2). It is one expression, so that Postgres makes it part of the
-- statement that asks.
create or replace function mail_payload(
  id uuid, subject text, sender text, from_name text, message_id text, template_id uuid, campaign_id uuid, source_type text
) returns jsonb language sql stable parallel safe as $fn$
  select jsonb_build_object('subject', subject, 'from', sender, 'fromName', from_name, 'messageId', message_id, 'emailId', id,
    'templateId', template_id, 'campaignId', campaign_id, 'sourceType', source_type)
$fn$;
