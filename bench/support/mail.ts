import type { Database } from '../../src/store/sql.ts';

/** How much mail a benchmark makes. */
export interface MailSize {
  mails: number;
  contacts: number;
  /** How far back the first one lies. */
  days: number;
}

/** The size that BENCH_EMAILS asks for, ten million unless it is set: a mail to each of twenty contacts, within 90 days. */
export function mailSize(): MailSize {
  const mails = Number(process.env.BENCH_EMAILS ?? 10_000_000);
  return { mails, contacts: Math.max(1, Math.ceil(mails / 20)), days: 90 };
}

/**
 * Fills a project with mail at a steady pace, all of it made of the row's number: half of it of campaigns, one for each
 * day. 98 % is delivered, 40 % opened within a day, 10 % clicked, 1 % bounced, 0.02 % complained about; each of these has
 * its event, and one mail in ten an event of the customer's own. Expects an empty database and the right to switch triggers
 * off; indexes are made after the rows, and what triggers would have counted is counted at once.
 */
export async function fillMail(db: Database, projectId: string, size: MailSize): Promise<void> {
  const { mails, contacts, days } = size;
  // Mail and events are made by transactions of their own, from the same instant: an event knows its mail by an ID that has the time in it.
  const present = await db.row<{ at: string }>(`select date_trunc('milliseconds', now())::text as at`);
  const values = [projectId, mails, contacts, days, present?.at];
  await db.count(contactRows, [projectId, contacts]);
  await db.count(campaignRows, [projectId, days]);
  // Rows come as they end up, so that the space which the ledger leaves for settling would stay empty.
  const shipped = await db.row<{ factor: string }>(
    `select coalesce((select option_value from pg_options_to_table(reloptions) where option_name = 'fillfactor'), '100') as factor
     from pg_class where oid = 'emails'::regclass`,
  );
  await db.rows('alter table emails set (fillfactor = 90)');
  await Promise.all([
    loaded(db, 'emails', [[emailRows, values]]),
    loaded(db, 'events', [
      [eventRows, values],
      [ownEventRows, values],
    ]),
  ]);
  // What comes afterwards is settled in its own page again. Otherwise its next version would go wherever an old page has room.
  await db.rows(`alter table emails set (fillfactor = ${Number(shipped?.factor)})`);
  for (const table of ['contacts', 'emails', 'events', 'campaigns']) await db.rows(`vacuum (analyze) ${table}`);
  await db.count(counted);
}

// Without indexes, keys and triggers while the rows come: checking each of millions takes longer than all the rest.
function loaded(db: Database, table: string, statements: [text: string, values: unknown[]][]): Promise<void> {
  return db.transaction(async (sql) => {
    await sql.rows('set local session_replication_role = replica');
    await sql.rows(`set local maintenance_work_mem = '512MB'`);
    const indexes = await sql.rows<{ name: string; definition: string }>(
      `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
       from pg_index i where i.indrelid = $1::regclass
         and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
      [table],
    );
    for (const { name } of indexes) await sql.rows(`drop index ${name}`);
    for (const [text, values] of statements) await sql.count(text, values);
    for (const { definition } of indexes) await sql.rows(definition);
  });
}

const idAt = (instant: string, number: string) => `(
  lpad(to_hex((extract(epoch from ${instant}) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(${number}), 15, '0'))::uuid`;
const epoch = `timestamptz '2020-01-01'`;
const contactId = (number: string) => idAt(epoch, number);
const campaignId = (number: string) => idAt(`${epoch} + interval '1 day'`, number);

const contactRows = `
  insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
  select ${contactId('n')}, $1, 'reader.' || n || '@example.com', true, jsonb_build_object('firstName', 'Reader ' || n), ${epoch}, ${epoch}
  from generate_series(1, $2::bigint) n`;

const campaignRows = `
  insert into campaigns (id, project_id, name, subject, body, "from", audience_type, status, send_seq, sent_at, created_at,
    total_recipients, sent_count, opened_count, clicked_count)
  select ${campaignId('n')}, $1, 'Herons of day ' || n, 'Hello {{firstName}}', '<p>Dear {{firstName}}, the herons are back.</p>',
    'hello@birdwatch.test', 'ALL', 'SENT', 1, at, at, 50000, 50000, 20000 - n * 7, 5000
  from (select n, now() - ($2::int - n) * interval '1 day' as at from generate_series(1, $2::int) n) day`;

// What became of a mail, once it has happened: rows that lie ahead of now would never be folded into the counts, and be counted one by one.
const became = (condition: string, after: string, name: string) =>
  `case when ${condition} and at + ${after} <= $5::timestamptz then at + ${after} end as ${name}`;

// The values of one mail: its number says when it was created, to whom, and what became of it.
const mail = `
  select n, ${idAt('at', 'n')} as id, ${contactId('1 + n % $3::bigint')} as contact_id, 1 + n % $3::bigint as reader, at,
    case when n % 2 = 0 then ${campaignId('1 + floor((n - 1)::float8 * $4::int / $2::bigint)::bigint')} end as campaign_id,
    at + interval '1 second' as sent_at,
    ${became('h % 50 <> 0', `interval '3 seconds'`, 'delivered_at')},
    ${became('h % 5 < 2', `h % 86400 * interval '1 second'`, 'opened_at')},
    ${became('h % 10 = 0', `(h % 86400 + 60) * interval '1 second'`, 'clicked_at')},
    ${became('h % 100 = 50', `interval '5 seconds'`, 'bounced_at')},
    ${became('h % 5000 = 1', `interval '1 hour'`, 'complained_at')}
  from (
    select n, hashint8extended(n, 7) & 2147483647 as h, $5::timestamptz - interval '10 seconds'
      - ($2::bigint - n)::float8 / $2::bigint * $4::int * interval '1 day' as at
    from generate_series(1, $2::bigint) n) numbered`;

const emailRows = `
  insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, campaign_id, send_seq,
    status, message_id, provider, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at, opens, clicks,
    created_at, updated_at)
  select id, $1, contact_id, 'reader.' || reader || '@example.com', 'hello@birdwatch.test', 'Hello Reader ' || reader,
    case when campaign_id is null then '<p>Dear Reader ' || reader || ', your order has left our house. The herons wish you well.</p>' end,
    case when campaign_id is null then 'TRANSACTIONAL' else 'CAMPAIGN' end,
    case when campaign_id is null then 'TRANSACTIONAL' else 'MARKETING' end, campaign_id,
    case when campaign_id is not null then 1 end, case when delivered_at is null then 'SENT' else 'DELIVERED' end,
    'm-' || n, 'postmark', sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at,
    (opened_at is not null)::int, (clicked_at is not null)::int, at, at
  from (${mail}) mail`;

const eventRows = `
  insert into events (id, project_id, contact_id, email_id, name, created_at, mail_at)
  select ${idAt('told.at', 'n * 8 + told.kind')}, $1, contact_id, mail.id, told.name, told.at + interval '200 milliseconds', told.at
  from (${mail}) mail, lateral (values (0, 'email.sent', sent_at), (1, 'email.delivery', delivered_at),
    (2, 'email.open', opened_at), (3, 'email.click', clicked_at), (4, 'email.bounce', bounced_at),
    (5, 'email.complaint', complained_at)) told (kind, name, at)
  where told.at is not null`;

const ownEventRows = `
  insert into events (id, project_id, contact_id, name, data, created_at)
  select ${idAt('at', 'n * 8 + 6')}, $1, contact_id, (array['heron seen', 'nest found', 'walk booked'])[1 + n % 3],
    jsonb_build_object('count', n % 7), at + interval '10 minutes'
  from (${mail}) mail where n % 10 = 3 and at + interval '10 minutes' <= $5::timestamptz and $2::bigint > 0`;

const counted = `
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced,
    rated_complained)
  select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), count(*), 0, count(delivered_at), count(opened_at),
    count(clicked_at), count(bounced_at), count(*), count(bounced_at), count(complained_at)
  from emails group by 1, 2`;
