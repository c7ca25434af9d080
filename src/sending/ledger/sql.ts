/** How far a status is: it only climbs (docs/contract/platform.md#9-2). PENDING, SENDING and FAILED are 0. */
export function statusRank(status: string): string {
  return `case ${status} when 'SENT' then 1 when 'DELIVERED' then 2 when 'RECEIVED' then 2 when 'OPENED' then 3
    when 'CLICKED' then 4 when 'BOUNCED' then 5 when 'COMPLAINED' then 6 else 0 end`;
}

/** A row's attachments as they are kept once the mail is final: named and typed, without their bytes. */
export function withoutBytes(column: string): string {
  return `case when jsonb_typeof(${column}) = 'array'
    then (select jsonb_agg(file - 'content') from jsonb_array_elements(${column}) file) else ${column} end`;
}
