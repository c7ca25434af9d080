import { isoText } from '../../core/database/columns.ts';

/**
 * What every `email.*` event says of its mail (contract page 1, 5.2): jsonb from the row that the alias names. `more` adds
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
