import { newId } from '../../src/lib/ids.ts';
import { isLeftOut } from '../../src/mail/ledger/reasons.ts';
import type { Database } from '../../src/store/sql.ts';

/** How much of everything the dashboard is opened with. */
export interface MailOfDashboard {
  /** Rows of the ledger of one campaign. */
  ledger: number;
  /** Mails that are no campaign's. */
  mails: number;
  /** Campaigns beside the large one. */
  campaigns: number;
  /** Events of one contact, the loud one. */
  loud: number;
}

/**
 * Mail of a project that has its contacts already, set-based and past the triggers: one campaign with a large ledger, others
 * in every state, transactional mail of 60 days, a contact with a long history, and mail that a rule caught. 2 % of the
 * campaign's recipients failed or were left out; of what was handed over 98 % is delivered, 40 % opened, 10 % clicked. Each of
 * these has its event. Answers the ids of the large campaign and of the loud contact.
 */
export async function fillDashboardMail(db: Database, projectId: string, size: MailOfDashboard) {
  const campaign = newId();
  const template = newId();
  const loud = await db.row<{ id: string }>(
    'select id from contacts where project_id = $1 order by id offset 4242 limit 1',
    [projectId],
  );
  if (loud === null) throw new Error('There are too few contacts');
  await db.transaction(async (sql) => {
    await sql.rows('set local session_replication_role = replica');
    await sql.count(manyTemplates, [projectId, template]);
    await sql.count(largeCampaign, [campaign, projectId, size.ledger]);
    await sql.count(manyCampaigns, [projectId, size.campaigns]);
    await sql.count(campaignSend, [campaign, projectId, size.ledger]);
    await sql.count(ledgerRows, [campaign, projectId, size.ledger]);
    await sql.count(mailRows, [projectId, size.mails]);
    await sql.count(loudMail, [projectId, loud.id, Math.floor(size.loud / 5)]);
    await sql.count(caughtRows, [projectId]);
    await sql.count(mailEvents, [projectId]);
    await sql.count(loudEvents, [projectId, loud.id, Math.ceil(size.loud * 0.6)]);
    await sql.count(campaignCounts, [campaign]);
  });
  for (const table of ['emails', 'events', 'campaigns', 'campaign_sends', 'templates', 'suppression_rules'])
    await db.rows(`vacuum (analyze) ${table}`);
  await db.count(mailCounts);
  await db.rows('analyze mail_count_changes');
  return { campaign, template, loud: loud.id };
}

const body =
  '<p>Dear {{firstName}}, the herons are back. <a href="https://birdwatch.test/herons">Come and see</a>.</p>';
const from = 'hello@fernpost.test';

const manyTemplates = `
  insert into templates (id, project_id, name, subject, body, "from", type)
  select case n when 1 then $2::uuid else uuidv7() end, $1, 'Letter ' || n, 'Letter ' || n || ' for {{firstName}}', '${body}', '${from}',
    (array['MARKETING', 'TRANSACTIONAL', 'HEADLESS'])[1 + n % 3]
  from generate_series(1, 300) n`;

const largeCampaign = `
  insert into campaigns (id, project_id, name, subject, body, "from", audience_type, status, send_seq, sent_at, created_at, total_recipients)
  values ($1, $2, 'Herons for everybody', 'Hello {{firstName}}', '${body}', '${from}', 'ALL', 'SENT', 1, now() - interval '2 days',
    now() - interval '3 days', $3::int)`;

const manyCampaigns = `
  insert into campaigns (id, project_id, name, subject, body, "from", audience_type, status, send_seq, sent_at, scheduled_for, created_at,
    total_recipients, sent_count, delivered_count, opened_count, clicked_count)
  select uuidv7(), $1, 'Herons of week ' || n, 'Hello {{firstName}}', '${body}', '${from}', 'ALL', status,
    case when status in ('SENT', 'CANCELLED') then 1 else 0 end, case when status = 'SENT' then at end,
    case when status = 'SCHEDULED' then now() + n * interval '1 day' end, at - interval '1 day', 1000, 990, 980, 400 + n, 90
  from (select n, now() - n * interval '7 hours' as at, case when n % 10 = 0 then 'DRAFT' when n % 10 = 1 then 'SCHEDULED'
    when n % 10 = 2 then 'CANCELLED' else 'SENT' end as status from generate_series(1, $2::int) n) numbered`;

const campaignSend = `
  insert into campaign_sends (campaign_id, send_seq, project_id, expanded_count, expanded, closed)
  values ($1, 1, $2, $3::int, true, true)`;

const hash = (number: string) => `(hashint8extended(${number}, 5) & 2147483647)`;

// The outcome of a mail, by a number made of its place.
const fate = `at + interval '1 second' as sent_at, case when h % 50 <> 0 then at + interval '3 seconds' end as delivered_at,
  case when h % 5 < 2 then at + h % 86400 * interval '1 second' end as opened_at,
  case when h % 10 = 0 then at + (h % 86400 + 60) * interval '1 second' end as clicked_at`;
const statusOf = `case when clicked_at is not null then 'CLICKED' when opened_at is not null then 'OPENED'
  when delivered_at is not null then 'DELIVERED' else 'SENT' end`;

const ledgerRows = `
  insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, campaign_id, send_seq, status,
    message_id, provider, reason, sent_at, delivered_at, opened_at, clicked_at, opens, clicks, created_at, updated_at)
  select uuidv7(), $2, contact_id, email, '${from}', 'Hello', 'CAMPAIGN', 'MARKETING', $1, 1,
    case when failed then 'FAILED' else ${statusOf} end, case when not failed then 'm-' || n end, 'postmark',
    case when failed then case when h % 100 = 99 then '{"code": "unsubscribed"}'::jsonb
      else '{"code": "provider", "words": "The address does not exist"}' end end,
    case when not failed then sent_at end, case when not failed then delivered_at end, case when not failed then opened_at end,
    case when not failed then clicked_at end, (not failed and opened_at is not null)::int, (not failed and clicked_at is not null)::int, at, at
  from (
    select *, h % 100 in (49, 99) as failed, ${fate}
    from (select n, contact_id, email, ${hash('n')} as h, now() - interval '2 days' + n * interval '1 millisecond' as at
      from (select row_number() over (order by id) as n, id as contact_id, email
        from (select id, email from contacts where project_id = $2 order by id limit $3::int) people) numbered) hashed) mail`;

const mailRows = `
  insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, status, message_id,
    provider, sent_at, delivered_at, opened_at, clicked_at, opens, clicks, created_at, updated_at)
  select uuidv7(), $1, contact_id, email, '${from}', 'Your receipt ' || n, '<p>Receipt ' || n || ': one pair of binoculars.</p>',
    'TRANSACTIONAL', 'TRANSACTIONAL', ${statusOf}, 't-' || n, 'postmark', sent_at, delivered_at, opened_at, clicked_at,
    (opened_at is not null)::int, (clicked_at is not null)::int, at, at
  from (
    select *, ${fate}
    from (select n, contact_id, email, ${hash('n')} as h, now() - n * interval '60 days' / $2::int as at
      from (select row_number() over () as n, id as contact_id, email
        from (select id, email from contacts where project_id = $1 order by email limit $2::int) people) numbered) hashed) mail`;

const loudMail = `
  insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, status, message_id,
    provider, sent_at, delivered_at, opened_at, clicked_at, opens, clicks, created_at, updated_at)
  select uuidv7(), $1, $2, (select email from contacts where id = $2), '${from}', 'Alarm ' || n, '<p>Alarm ' || n || '</p>',
    'TRANSACTIONAL', 'TRANSACTIONAL', ${statusOf}, 'l-' || n, 'postmark', sent_at, delivered_at, opened_at, clicked_at,
    (opened_at is not null)::int, (clicked_at is not null)::int, at, at
  from (select *, ${fate} from (select n, ${hash('n')} as h, now() - n * interval '4 minutes' as at
    from generate_series(1, $3::int) n) hashed) mail`;

const caughtRows = `
  with rule as (
    insert into suppression_rules (id, project_id, name, kind, pattern) values (uuidv7(), $1, 'Tests', 'DOMAIN', 'kunde.example') returning id)
  insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class, status, suppression, created_at)
  select uuidv7(), $1, c.id, c.email, '${from}', 'Caught', '<p>Caught</p>', 'TRANSACTIONAL', 'TRANSACTIONAL', 'SUPPRESSED',
    jsonb_build_object('ruleId', rule.id, 'name', 'Tests', 'kind', 'DOMAIN', 'pattern', 'kunde.example', 'recipient', c.email,
      'matchedAt', now()), now() - row_number() over () * interval '1 minute'
  from rule, (select id, email from contacts where project_id = $1 order by id desc limit 20000) c`;

const mailEvents = `
  insert into events (id, project_id, contact_id, email_id, name, created_at, mail_at)
  select uuidv7(), $1, m.contact_id, m.id, told.name, told.at + interval '200 milliseconds', told.at
  from emails m, lateral (values ('email.sent', sent_at), ('email.delivery', delivered_at), ('email.open', opened_at),
    ('email.click', clicked_at)) told (name, at)
  where m.project_id = $1 and told.at is not null`;

const loudEvents = `
  insert into events (id, project_id, contact_id, name, data, created_at)
  select uuidv7(), $1, $2, 'page.view', jsonb_build_object('page', n), now() - n * interval '50 seconds' from generate_series(1, $3::int) n`;

const campaignCounts = `
  update campaigns c set sent_count = m.sent, delivered_count = m.delivered, opened_count = m.opened, clicked_count = m.clicked,
    skipped_count = m.skipped, failed_count = m.failed - m.skipped
  from (select count(sent_at) as sent, count(delivered_at) as delivered, count(opened_at) as opened, count(clicked_at) as clicked,
      count(*) filter (where status = 'FAILED') as failed, count(*) filter (where ${isLeftOut('e')}) as skipped
    from emails e where campaign_id = $1) m
  where c.id = $1`;

const mailCounts = `
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced,
    rated_complained)
  select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), count(*), 0, count(delivered_at), count(opened_at),
    count(clicked_at), 0, count(*), 0, 0
  from emails where suppression is null group by 1, 2`;
