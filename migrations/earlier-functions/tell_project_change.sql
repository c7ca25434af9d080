-- What happens to campaigns, imports, domains and workflow executions is an event of the project, in the transaction of the change
-- and whoever makes it, so that webhook endpoints get it in the order of all events. These events have no contact: nobody enters a
-- workflow or a segment by them. Executions end by the million, so theirs are written only while an endpoint subscribes to them.
create or replace function tell_project_change() returns trigger language plpgsql as $fn$
declare
  happened text;
  facts jsonb;
begin
  if tg_table_name = 'campaigns' then
    happened := case when new.status = 'SENT' then 'campaign.sent' when new.status = 'SENDING' then 'campaign.paused'
      else 'campaign.cancelled' end;
    facts := jsonb_build_object('campaignId', new.id, 'campaignName', new.name, 'recipients', new.total_recipients,
      'sent', new.sent_count, 'skipped', new.skipped_count, 'failed', new.failed_count);
    if happened = 'campaign.paused' and new.pause_reason is not null then
      facts := facts || jsonb_build_object('reason', new.pause_reason);
    end if;
  elsif tg_table_name = 'jobs' then
    happened := 'import.finished';
    facts := jsonb_build_object('importId', new.id, 'filename', new.spec ->> 'filename', 'state', new.state,
      'total', new.total_count, 'created', new.created_count, 'updated', new.updated_count, 'failed', new.failure_count,
      'error', new.failed_reason);
  elsif tg_table_name = 'domains' then
    happened := case when new.verified then 'domain.verified' else 'domain.lost' end;
    facts := jsonb_build_object('domainId', new.id, 'domain', new.domain);
  else
    happened := case when new.status = 'FAILED' then 'workflow.failed' else 'workflow.finished' end;
    if not exists (select from webhook_endpoints w where w.project_id = new.project_id and w.events && array['*', 'workflow.*', happened]) then
      return null;
    end if;
    facts := jsonb_build_object('executionId', new.id, 'workflowId', new.automation_id,
      'workflowName', (select name from automations where id = new.automation_id), 'contactId', new.contact_id,
      'status', new.status, 'reason', new.exit_reason);
  end if;
  insert into events (id, project_id, name, data) values (uuidv7(), new.project_id, happened, facts);
  return null;
end
$fn$;

create or replace trigger campaigns_told after update of status, paused_at on campaigns
  for each row when (new.status = 'SENT' and old.status <> 'SENT' or new.status = 'CANCELLED' and old.status <> 'CANCELLED'
    or new.status = 'DRAFT' and old.status = 'SCHEDULED' and new.audit_note is null
    or new.status = 'SENDING' and old.paused_at is null and new.paused_at is not null)
  execute function tell_project_change();

create or replace trigger imports_told after update of state on jobs
  for each row when (new.kind = 'import' and new.state in ('completed', 'failed') and old.state <> new.state)
  execute function tell_project_change();

create or replace trigger domains_told after update of verified on domains
  for each row when (old.verified <> new.verified)
  execute function tell_project_change();

create or replace trigger automation_runs_told after update of status on automation_runs
  for each row when (new.status in ('COMPLETED', 'EXITED', 'FAILED') and old.status <> new.status)
  execute function tell_project_change();
