import { isoText } from '../../core/database/columns.ts';
import { newEvent } from '../../core/database/record-events.ts';
import { type Query, raw, sql } from '../../core/database/sql.ts';

/**
 * What every `email.*` event says of its mail (docs/contract/core.md#5-2): jsonb from the row that the alias names. `more` adds
 * pairs of keys and values; joining two objects afterwards would cost as much as building one.
 */
export function mailPayload(alias: string, more?: string): string {
  return `jsonb_build_object('subject', ${alias}.subject, 'from', ${alias}."from", 'fromName', ${alias}.from_name,
    'messageId', ${alias}.message_id, 'emailId', ${alias}.id, 'templateId', ${alias}.template_id,
    'campaignId', ${alias}.campaign_id, 'sourceType', ${alias}.source_type${more === undefined ? '' : `, ${more}`})`;
}

/** What an `email.*` event says besides when its mail has tags: jsonb with them, or an empty object. */
export function mailTags(alias: string): string {
  return `coalesce((select jsonb_build_object('tags', jsonb_object_agg(tag.name, tag.value)) from email_tags tag
    where tag.email_id = ${alias}.id having count(*) > 0), '{}')`;
}

/**
 * The data of an event that the alias names. An `email.sent` of a campaign is stored without any: all of it is in the
 * ledger row, and a copy of that for each message would be larger than the row.
 */
export function eventData(alias: string): string {
  return `case when ${alias}.data is null and ${alias}.name = 'email.sent' then (
    select ${mailPayload('mail', `'sentAt', ${isoText('mail.sent_at')}`)} from emails mail where mail.id = ${alias}.email_id)
    else ${alias}.data end`;
}

/**
 * What happened to a campaign, as an event of its project, from the row of `campaigns` that the alias names: webhook endpoints get it in the
 * order of all events. It has no contact, so nobody enters a workflow or a segment by it. `more` is further data: jsonb.
 */
export function campaignEvent(alias: string, name: Query, more: Query = sql`'{}'`): Query {
  const data =
    raw(`jsonb_build_object('campaignId', ${alias}.id, 'campaignName', ${alias}.name, 'recipients', ${alias}.total_recipients,
    'sent', ${alias}.sent_count, 'skipped', ${alias}.skipped_count, 'failed', ${alias}.failed_count)`);
  return newEvent({ projectId: raw(`${alias}.project_id`), name, data: sql`${data} || ${more}` });
}
