/**
 * SQL of a query that answers a row when the contact has left by a mail of the campaign before: a recipient counts once in
 * `unsubscribed_count`, however often they leave and come back. Both are SQL expressions.
 */
export function leftBefore(contact: string, campaign: string): string {
  return `select from events ev join emails em on em.id = ev.email_id
    where ev.contact_id = ${contact} and ev.name = 'contact.unsubscribed' and ev.data ->> 'reason' is null
      and em.campaign_id = ${campaign}`;
}
