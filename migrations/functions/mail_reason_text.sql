-- The sentence of a reason that the ledger stores. The same table is `reasonSentences` in src/mail/ledger/reasons.ts, which a test
-- compares; a code of a later release stands for itself.
create or replace function mail_reason_text(reason jsonb) returns text language sql immutable parallel safe as $fn$
  select replace(replace(case reason ->> 'code'
    when 'project_disabled' then 'Project is disabled'
    when 'domain_unverified' then 'Sender domain is not verified'
    when 'limit_reached' then 'Billing limit reached'
    when 'not_subscribed' then 'The contact is not subscribed'
    when 'unsubscribed' then 'Contact is unsubscribed'
    when 'campaign_cancelled' then 'Campaign cancelled'
    when 'left_audience' then 'No longer in the audience that was reviewed'
    when 'left_out_at_review' then 'Left out at the review: {words}'
    when 'cancelled' then 'Cancelled before it was sent'
    when 'left_workflow' then 'left the workflow: {words}'
    when 'not_rendered' then 'The message could not be rendered: {words}'
    when 'refused' then 'Refused by the provider ({number}): {words}'
    when 'submission_unknown' then 'submission unknown'
    when 'too_old' then 'Given up after 24 hours: {words}'
    when 'too_many_attempts' then 'Given up after {number} attempts: {words}'
    when 'provider' then '{words}'
    else reason ->> 'code' end, '{number}', coalesce(reason ->> 'number', '')), '{words}', coalesce(reason ->> 'words', ''))
$fn$;
