import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRuns } from '../../src/automations/enrollment/starting.ts';
import { pageOfAutomations } from '../../src/automations/queries.ts';
import { countPaths } from '../../src/automations/runs/queries.ts';
import { audienceSize } from '../../src/campaigns/audience/audience.ts';
import { auditCampaign } from '../../src/campaigns/results/results.ts';
import { conditionQuery } from '../../src/contacts/conditions.ts';
import { countByName, countNewEvents } from '../../src/contacts/events/counting-queries.ts';
import { deleteSomeEvents } from '../../src/contacts/events/queries.ts';
import type { Notification } from '../../src/domains/providers/mailer.ts';
import { applyNotification } from '../../src/feedback/reports/notify.ts';
import { takeReport } from '../../src/feedback/reports/report.ts';
import { totalOf } from '../../src/insight/activity/total-queries.ts';
import { explain } from '../../src/insight/explain/service.ts';
import { parseCondition } from '../../src/lib/conditions/condition.ts';
import { firstIdAt } from '../../src/lib/ids.ts';
import { dayMs, hourMs, sqlSpan } from '../../src/lib/time.ts';
import { foldMailChanges, mailByDay, mailCounts } from '../../src/mail/ledger/mail-count-queries.ts';
import { reasonCodes, reasonSentences } from '../../src/mail/ledger/reasons.ts';
import type { ChangeProject } from '../../src/projects/schema.ts';
import { changeSettings } from '../../src/projects/service.ts';
import { removeByAge, removedBefore } from '../../src/store/columns.ts';
import type { Database } from '../../src/store/sql.ts';
import { templateUsage } from '../../src/templates/service.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { anAutomation, letIn } from '../support/automation-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { queueMail } from '../support/delivery-fixtures.ts';

let database: TestDatabase;
let project: TestProject;
let template: string;
let campaigns: string[];
const now = new Date();
const keptDays = 90;
const cutoff = new Date((Math.floor(now.getTime() / dayMs) - keptDays) * dayMs);
const people = 23;
const run = (kind: 'mail' | 'events' | 'runs', at = now) =>
  removeByAge(database.db, kind, { days: keptDays, leastDays: 0 }, at, 1_000_000);
const one = <Row extends object>(text: string, values: unknown[] = []) =>
  database.db.row<Row>(text, values) as Promise<Row>;

beforeAll(async () => {
  database = await testDatabase();
  project = await aProject(database);
  await aYear();
});
afterAll(() => database.close());

/** A year of a project, an hour's distance between anything: newsletters, receipts, received mail, reports, events of its own. */
async function aYear(): Promise<void> {
  const { db } = database;
  const q = (text: string, values: unknown[] = []) => db.count(text, [project.id, ...values]);
  await q(
    `insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
     select uuidv7('-400 days'), $1, 'x' || n || '@kunde.example', true, now() - interval '400 days', now() - interval '400 days'
     from generate_series(1, $2::int) n`,
    [people],
  );
  ({ id: template } = await one<{ id: string }>(
    `insert into templates (id, project_id, name, subject, body, "from") values (uuidv7(), $1, 'Receipt', 's', 'b', $2) returning id`,
    [project.id, project.sender],
  ));
  // The last one is still being sent, after 300 days.
  await q(
    `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, status, send_seq, sent_at, created_at)
     select uuidv7(at - now()), $1, 'No. ' || n, 's', 'b', $2, 'ALL', case when n = 13 then 'SENDING' else 'SENT' end, 1, at, at
     from (select n, now() - make_interval(days => case when n = 13 then 300 else 30 * n - 15 end) as at from generate_series(1, 13) n) dated`,
    [project.sender],
  );
  await q(`insert into campaign_sends (campaign_id, send_seq, project_id, expanded, closed)
    select id, 1, project_id, true, status = 'SENT' from campaigns where project_id = $1`);
  campaigns = (
    await db.rows<{ id: string }>('select id from campaigns where project_id = $1 order by sent_at desc', [project.id])
  ).map(({ id }) => id);
  const mails = `insert into emails (id, project_id, contact_id, to_address, "from", subject, source_type, message_class, campaign_id, send_seq,
    template_id, status, reason, suppression, message_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, opens, created_at)`;
  const reasons = reasonCodes.map((code) => JSON.stringify({ code, number: 406, words: `no x@kunde.example here` }));
  await q(
    `${mails}
     select uuidv7(at - now()), $1, contact_id, email, $2, 's', source, 'MARKETING', campaign, case when campaign is not null then 1 end, template,
       case when h = 0 then 'SUPPRESSED' when h in (1, 2) then 'FAILED' when h = 3 then 'BOUNCED' when h < 8 then 'OPENED' else 'DELIVERED' end,
       case when h in (1, 2, 3) then ($3::text[])[1 + row_number() over () % cardinality($3::text[])]::jsonb end,
       case when h = 0 then '{"name": "Rivals"}'::jsonb end,
       case when h > 2 then 'm-' || row_number() over () end, case when h > 2 then at + interval '1 second' end,
       case when h > 3 then at + interval '5 seconds' end, case when h between 4 and 7 then at + interval '2 days' end,
       case when h = 4 then at + interval '3 days' end, case when h = 3 then at + interval '9 seconds' end,
       case when h between 4 and 7 then 1 else 0 end, at
     from (
       select *, abs(hashtext(contact_id::text || at::text)) % 17 as h from (
         select c.id as contact_id, c.email, 'CAMPAIGN' as source, k.id as campaign, null::uuid as template, k.sent_at as at
         from contacts c cross join campaigns k where c.project_id = $1 and k.project_id = $1
         union all
         select c.id, c.email, 'TRANSACTIONAL', null, $4::uuid, date_trunc('day', now()) - make_interval(days => 9 * n + (row_number() over () % 9)::int, hours => 7)
         from contacts c cross join generate_series(1, 40) n where c.project_id = $1) planned) drawn`,
    [project.sender, reasons, template],
  );
  await q(`${mails}
    select uuidv7(at - now()), $1, id, 'in@kunde.example', email, 's', 'INBOUND', 'TRANSACTIONAL', null, null, null, 'RECEIVED', null, null, 'r' || n,
      null, at, null, null, null, 0, at
    from (select c.id, c.email, n, now() - make_interval(days => 80 * n) as at from contacts c cross join generate_series(1, 4) n where c.project_id = $1) came`);
  // Mail that waits, for whatever reason, and mail of an execution that goes on.
  await q(
    `with waiting as (
       ${mails.replace('opens, created_at)', 'created_at)')}
       select uuidv7('-200 days'), $1, id, email, $2, 's', 'TRANSACTIONAL', 'TRANSACTIONAL', null, null, null, 'PENDING', null, null, null, null, null, null,
         null, null, now() - interval '200 days' from contacts where project_id = $1 order by id limit 1 returning id)
     insert into email_queue (email_id, project_id, due_at) select id, $1, now() + interval '9 days' from waiting`,
    [project.sender],
  );
  await q(`update campaigns c set total_recipients = r.total, sent_count = r.sent, skipped_count = r.skipped, failed_count = r.total - r.sent - r.skipped
    from (select campaign_id, count(*) as total, count(*) filter (where message_id is not null) as sent,
        count(*) filter (where status = 'SUPPRESSED' or message_id is null and reason ->> 'code' in ('unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review')) as skipped
      from emails where project_id = $1 group by 1) r where r.campaign_id = c.id`);
  await q(`insert into events (id, project_id, contact_id, email_id, name, data, created_at, mail_at)
    select case when hashtext(id::text) % 2 = 0 then id else uuidv7(sent_at - now()) end, $1, contact_id, id, 'email.sent', null::jsonb, sent_at, sent_at from emails where project_id = $1 and sent_at is not null
    union all
    select uuidv7(delivered_at - now()), $1, contact_id, id, 'email.delivery', '{"a": 1}', delivered_at, delivered_at from emails
    where project_id = $1 and delivered_at is not null and sent_at is not null
    union all
    select uuidv7(opened_at - now()), $1, contact_id, id, 'email.open', '{"a": 1}', opened_at, opened_at from emails where project_id = $1 and opened_at is not null
    union all
    select uuidv7(at - now()), $1, id, null, case when n % 7 = 0 then 'plan.changed' else 'app.opened' end, '{}', at, null::timestamptz
    from (select c.id, n, now() - make_interval(days => 4 * n, hours => 3) as at from contacts c cross join generate_series(1, 90) n
      where c.project_id = $1 and (n > 50 or hashtext(c.id::text) % 3 <> 0)) own
    union all
    select uuidv7(at - now()), $1, id, null, 'contact.' || name, null, at, null
    from (select c.id, n, name, now() - make_interval(days => n) as at from contacts c cross join (values (330, 'unsubscribed'), (320, 'subscribed')) f (n, name)
      where c.project_id = $1) flips
    union all
    select uuidv7(sent_at - now()), $1, null, null, 'campaign.sent', '{}', sent_at, null from campaigns where project_id = $1`);
  await q(`with workflow as (insert into automations (id, project_id, name) values (uuidv7(), $1, 'Long') returning id),
      version as (insert into automation_versions (id, automation_id, version, graph, hash) select uuidv7(), id, 1, '{}', 'h' from workflow returning id, automation_id),
      cause as (select id, contact_id from events where project_id = $1 and name = 'app.opened' and created_at < now() - interval '200 days' order by id desc limit 1),
      run as (
        insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status, source_event_id)
        select uuidv7(), $1, v.automation_id, v.id, c.contact_id, 1, 'WAITING', c.id from version v, cause c returning id)
    update emails set workflow_execution_id = run.id from run
    where emails.id = (select id from emails where project_id = $1 and template_id is not null and created_at < now() - interval '200 days' order by id desc limit 1)`);
  await q(`insert into events (id, project_id, contact_id, name, data, created_at)
    select uuidv7(at - now()), $1, id, 'order.paid', jsonb_build_object('total', n), at
    from (select c.id, n, now() - make_interval(days => 30 * n, hours => 5) as at from contacts c cross join generate_series(1, 10) n where c.project_id = $1) paid`);
  // What a saved condition asks more than the last of stays.
  await q(
    `insert into segments (id, project_id, name, type, condition) values (uuidv7(), $1, 'Narrow', 'DYNAMIC', $2)`,
    [JSON.stringify({ logic: 'AND', groups: [{ filters: narrowed() }] })],
  );
  await stepsThatAsk();
  await db.rows(`update event_counts_state set counted_through = '-infinity'`);
  await q(`insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
    select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), c.* from emails m cross join lateral mail_counts_of(m.source_type, m.status, m.simulated,
      m.delivered_at, m.opened_at, m.clicked_at, m.bounced_at, m.complained_at) c where project_id = $1`);
}

/** Events that CONDITION steps ask for more than once: of a draft, of a version that a contact is in, and of one that nobody is in. */
async function stepsThatAsk(): Promise<void> {
  const { db } = database;
  const tree = (field: string) => ({ logic: 'AND', groups: [{ filters: [oftenAsked(field)] }] });
  const asking = (field: string) => ({ type: 'CONDITION', config: { mode: 'tree', condition: tree(field) } });
  await db.rows(
    `with flow as (insert into automations (id, project_id, name) values (uuidv7(), $1, 'Asking') returning id),
      drafts as (insert into automation_steps (id, automation_id, type, name, position, config)
        select uuidv7(), id, 'CONDITION', 'Draft', '{}', config from flow, jsonb_array_elements($2::jsonb) config),
      versions as (insert into automation_versions (id, automation_id, version, graph, hash)
        select uuidv7(), id, n, jsonb_build_object('steps', jsonb_build_array(step)), ('h' || n)::bytea from flow, jsonb_array_elements($3::jsonb) with ordinality s (step, n)
        returning id, automation_id, version)
    insert into automation_runs (id, project_id, automation_id, version_id, contact_id, entry, status)
    select uuidv7(), $1, v.automation_id, v.id, c.id, 1, case v.version when 1 then 'WAITING' else 'COMPLETED' end
    from versions v join lateral (select id from contacts where project_id = $1 order by id offset v.version limit 1) c on true`,
    [
      project.id,
      // A step that is being edited may have anything in its condition, and a comparison in its value.
      JSON.stringify([
        { mode: 'multi', branches: [{ id: 'often', condition: tree(kept[0]) }, { id: 'none' }] },
        { mode: 'tree', condition: { where: 1, filters: [{ field: 7, times: {} }] } },
        { mode: 'multi', branches: [{ id: 'same', operator: 'equals', value: { where: 1 } }] },
      ]),
      JSON.stringify([asking(kept[1]), asking(forgotten)]),
    ],
  );
  await db.rows(
    `insert into events (id, project_id, contact_id, name, data, created_at)
     select uuidv7(at - now()), $1, id, regexp_replace(name, '^event\\.', ''), '{}', at
     from (select c.id, name, now() - make_interval(days => 100 + n) as at from contacts c cross join generate_series(1, 3) n cross join unnest($2::text[]) name
       where c.project_id = $1) asked`,
    [project.id, [...kept, forgotten]],
  );
}

const oftenAsked = (field: string) => ({ field, operator: 'triggered', times: { atLeast: 3 } });
// The second one as conditions may name events too, without a prefix.
const kept = ['event.trial.extended', 'trial.paused'] as const;
const forgotten = 'event.trial.ended';

async function fold(): Promise<void> {
  await expect
    .poll(async () => {
      await countNewEvents(database.db);
      return (
        await one<{ done: boolean }>(
          `select counted_through > now() - interval '1 minute' as done from event_counts_state`,
        )
      ).done;
    })
    .toBe(true);
  await foldMailChanges(database.db, async () => {});
}

const narrowed = () => [
  { field: 'event.order.paid', operator: 'triggered', times: { atLeast: 9 } },
  { field: 'event.order.paid', operator: 'notTriggered', where: [{ path: 'total', operator: 'equals', value: 8 }] },
  { field: 'email.opened', operator: 'triggered', of: { campaignId: campaigns[11] } },
  { field: 'email.sent', operator: 'notTriggered', of: { campaignId: campaigns[11] } },
];

const daysAgo = (days: number, ms = 0) => new Date(now.getTime() - days * dayMs + ms);

/** Everything that is counted, to the last mail: by time, by campaign and by template. */
async function sums() {
  const { db } = database;
  const spans = [
    { from: null, until: null },
    { from: daysAgo(365), until: null },
    { from: daysAgo(200, 1_234_567), until: daysAgo(40, 7_654_321) },
    { from: daysAgo(300), until: daysAgo(120) },
  ].map(({ from, until }) => ({
    from: from && new Date(Math.floor(from.getTime() / dayMs) * dayMs),
    until: until && new Date(Math.floor(until.getTime() / dayMs) * dayMs),
  }));
  return {
    mail: await Promise.all(spans.map((span) => mailCounts(db, project.id, sqlSpan(span, hourMs)))),
    days: (await mailByDay(db, project.id, daysAgo(500), now)).toSorted((a, b) => (a.day < b.day ? -1 : 1)),
    events: await Promise.all(spans.map((span) => countByName(db, project.id, sqlSpan(span, dayMs)))),
    feed: await Promise.all(
      spans.map((span) =>
        totalOf(db, project.id, sqlSpan(span, hourMs), new Set(['event.triggered', 'email.sent', 'email.opened'])),
      ),
    ),
    audits: await Promise.all(
      campaigns.map(async (id) => {
        const { hash: _, notKept: __, reasons, ...counts } = await auditCampaign(db, project.id, id);
        return { ...counts, because: reasons.reduce((sum, { count }) => sum + count, 0) };
      }),
    ),
    template: (await templateUsage(db.session(), project.id, template)).emailsSent,
    campaigns: await db.rows(
      'select id, total_recipients, sent_count, skipped_count, failed_count from campaigns order by id',
    ),
    usage: await db.rows('select * from usage_counters order by month, category'),
    consent: await db.rows(`select contact_id, name, created_at from events where name like 'contact.%' order by 1, 3`),
  };
}

const happened = [
  'event.app.opened',
  'event.plan.changed',
  'event.email.open',
  'event.campaign.sent',
  ...['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'].map((name) => `email.${name}`),
];

/** Whom each condition finds that asks about the past. */
async function found(): Promise<Record<string, string[]>> {
  const simple = happened.flatMap((field) => [
    { field, operator: 'triggered' },
    { field, operator: 'notTriggered' },
    ...[30, 100, 200].flatMap((value) =>
      ['triggeredWithin', 'triggeredOlderThan', 'notTriggeredWithin'].map((operator) => ({
        field,
        operator,
        value,
        unit: 'days',
      })),
    ),
  ]);
  const { db } = database;
  const pairs = await Promise.all(
    [...simple, ...narrowed(), ...kept.map(oftenAsked)].map(async (filter) => {
      const condition = parseCondition({ logic: 'AND', groups: [{ filters: [filter] }] });
      const query = conditionQuery(condition, { projectId: project.id, now, reach: 'all' });
      const rows = await db.rows<{ id: string }>(
        `select c.id from contacts c where c.project_id = '${project.id}' and ${query.text} order by 1`,
        [...query.values],
      );
      return [JSON.stringify(filter), rows.map(({ id }) => id)] as const;
    }),
  );
  return Object.fromEntries(pairs);
}

describe('a year of mail and events, of which 90 days are kept', () => {
  test('every sum, every audience and every consent is what it was', async () => {
    await fold();
    const [before, matched] = [await sums(), await found()];
    const had = await one<{ mails: number; events: number }>(
      'select (select count(*) from emails)::int as mails, (select count(*) from events)::int as events',
    );
    await database.db.rows('analyze emails; analyze events');
    const mails = await run('mail');
    const orphans = await database.db.rows(
      `select e.id from events e where e.name = 'email.sent' and not exists (select from emails m where m.id = e.email_id)`,
    );
    expect(orphans).toEqual([]);
    const removed = { mails, events: await run('events') };
    expect(removed.mails).toBeGreaterThan(900);
    expect(removed.events).toBeGreaterThan(1_500);
    const has = await one<{ mails: number; events: number; old: number; oldEvents: number }>(
      `select (select count(*) from emails)::int as mails, (select count(*) from events)::int as events,
        (select count(*) from emails where coalesce(sent_at, created_at) < $1)::int as old,
        (select count(*) from events where created_at < $1 and name not like 'contact.%')::int as "oldEvents"`,
      [cutoff],
    );
    expect(has.mails).toBe(had.mails - removed.mails);
    // Of each contact the last mail of each kind and what the segment asks for, the campaign that is being sent, the one that waits and the one of the execution.
    expect(has.old).toBeLessThanOrEqual(people * 8 + 2);
    expect(has.oldEvents).toBeLessThanOrEqual(people * (5 + 10 + 2 * 3 + 1) + 1);
    const asked = await database.db.rows(
      `select name, count(*)::int / $1::int as each from events where name like 'trial.%' group by 1 order by 1`,
      [people],
    );
    expect(asked).toEqual([
      { name: 'trial.ended', each: 1 },
      { name: 'trial.extended', each: 3 },
      { name: 'trial.paused', each: 3 },
    ]);
    expect(await sums()).toEqual(before);
    expect(await found()).toEqual(matched);
    await fold();
    expect(await sums()).toEqual(before);
    expect(await run('mail')).toBe(0);
    expect(await run('events')).toBe(0);
  });

  test('what is under way stays: mail that waits, a campaign that is still being sent, mail and cause of an execution', async () => {
    expect(await one(`select count(*)::int as mails from emails where status = 'PENDING'`)).toEqual({ mails: 1 });
    const sending = await one<{ rows: number }>(
      `select count(*)::int as rows from emails e join campaigns c on c.id = e.campaign_id where c.status = 'SENDING'`,
    );
    expect(sending).toEqual({ rows: people });
    const execution = await one(`select count(m.id)::int as mails, count(e.id)::int as events from automation_runs r
      left join emails m on m.workflow_execution_id = r.id left join events e on e.id = r.source_event_id where r.source_event_id is not null`);
    expect(execution).toEqual({ mails: 1, events: 1 });
  });

  test('an audit says how many rows are no longer kept, has no hash of the rest, and its reasons have no words of the provider', async () => {
    const young = await auditCampaign(database.db, project.id, campaigns[0] ?? '');
    expect(young).toMatchObject({ addsUp: true, hash: expect.any(String) });
    expect(young).not.toHaveProperty('notKept');
    const audits = await Promise.all(campaigns.slice(4, 10).map((id) => auditCampaign(database.db, project.id, id)));
    for (const audit of audits) {
      expect(audit).toMatchObject({ addsUp: true, hash: null, removed: 0, recipients: people });
      expect(audit.notKept).toBeGreaterThan(0);
      expect(JSON.stringify(audit.reasons)).not.toContain('kunde.example');
    }
    const kept = await database.db.rows<{ verdict: string; reason: string }>(
      'select distinct verdict, reason from campaign_ledger_sums',
    );
    const sentences = new Set(Object.values(reasonSentences).map((text) => text.split(/[:{]/)[0]?.trim()));
    for (const { verdict, reason } of kept) {
      expect(reason === '').toBe(verdict === 'handed_over');
      if (reason !== '' && !reason.startsWith('Suppressed by rule'))
        expect([...sentences].some((text) => text !== undefined && reason.startsWith(text))).toBe(true);
    }
  });

  test('a resend to those whom an old campaign missed is refused, since not all of them are known', async () => {
    const audience = {
      projectId: project.id,
      type: 'MARKETING',
      audienceType: 'ALL',
      resendOf: campaigns[8],
      resendSeq: 1,
    } as const;
    await expect(audienceSize(database.db, audience, now)).rejects.toMatchObject({ status: 409 });
    expect(await audienceSize(database.db, { ...audience, resendOf: campaigns[0] }, now)).toBeGreaterThanOrEqual(0);
  });

  test('explanations say what is no longer known', async () => {
    const { db } = database;
    const { contact } = await one<{ contact: string }>(
      `select c.email as contact from contacts c where not exists (select from emails e where e.contact_id = c.id and e.campaign_id = $1) limit 1`,
      [campaigns[8]],
    );
    const about = (what: object, at?: Date) =>
      explain(
        db.session(),
        project.id,
        { contact, about: what as { campaignId: string }, ...(at && { at: at.toISOString() }) },
        90,
      );
    expect(await about({ campaignId: campaigns[8] })).toMatchObject({
      verdict: 'cannot_tell',
      sentence: 'The campaign is so old that what happened to each of its recipients is no longer kept.',
    });
    // A campaign after the removed events that asks for one of them, as of its own beginning.
    const { id } = await one<{ id: string }>(
      `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, audience_condition, status, send_seq, sent_at)
       values (uuidv7(), $1, 'Late', 's', 'b', $2, 'FILTERED', $3, 'SENT', 1, $4) returning id`,
      [
        project.id,
        project.sender,
        JSON.stringify({ logic: 'AND', groups: [{ filters: [{ field: 'event.email.sent', operator: 'triggered' }] }] }),
        daysAgo(300),
      ],
    );
    await db.rows(
      'insert into campaign_sends (campaign_id, send_seq, project_id, expanded, closed) values ($1, 1, $2, true, true)',
      [id, project.id],
    );
    const finding = await about({ campaignId: id });
    expect(finding.verdict).toBe('cannot_tell');
    expect(finding.decisions.map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(
        /^"event\.email\.sent" has happened: not known\. Events from before .+ may no longer be kept\.$/,
      ),
    );
    // What a contact never had was not removed either: the last of it would have stayed.
    await db.rows('update campaigns set audience_condition = $2 where id = $1', [
      id,
      JSON.stringify({ logic: 'AND', groups: [{ filters: [{ field: 'event.never', operator: 'triggered' }] }] }),
    ]);
    expect(await about({ campaignId: id })).toMatchObject({ verdict: 'did_not' });
  });

  test('a report about mail that is gone is answered at once, and a complaint still ends the subscription', async () => {
    const deps = { db: database.db.session(), clock: () => new Date(), log: { warn() {} }, patienceMs: 0 } as never;
    const { email } = await one<{ email: string }>('select email from contacts where subscribed order by id limit 1');
    const report = (kind: 'open' | 'complaint'): Notification => ({
      key: `${kind}-gone`,
      at: new Date().toISOString(),
      emailId: firstIdAt(daysAgo(300)),
      projectId: project.id,
      recipient: email,
      messageId: 'gone',
      effect: { kind },
    });
    expect(await takeReport(deps, 'test', report('open'))).toEqual({
      status: 200,
      body: { success: true, message: 'The mail is no longer kept' },
    });
    expect(await takeReport(deps, 'test', report('complaint'))).toMatchObject({ status: 200 });
    expect(await one('select subscribed from contacts where email = $1', [email])).toEqual({ subscribed: false });
    expect(
      await one(
        `select e.data ->> 'reason' as reason from events e join contacts c on c.id = e.contact_id where c.email = $1 order by e.created_at desc limit 1`,
        [email],
      ),
    ).toEqual({ reason: 'complaint' });
  });

  test('what was kept as the last of its kind goes once there is a later one, with the first walk of the next month', async () => {
    const later = new Date(now.getTime() + 40 * dayMs);
    const before = await sums();
    expect(await run('mail', later)).toBeGreaterThan(0);
    expect(await run('events', later)).toBeGreaterThan(0);
    await fold();
    expect(await sums()).toEqual(before);
  });

  test('the events of a name that are deleted take the counts of removed ones along', async () => {
    await deleteSomeEvents(database.db, project.id, 'plan.changed', 1_000_000);
    await fold();
    const counts = await countByName(database.db, project.id, sqlSpan({ from: null, until: null }, dayMs));
    expect(counts.map(({ name }) => name)).not.toContain('plan.changed');
  });
});

describe('executions of workflows, of which 90 days are kept', () => {
  const named = ['gone', 'failed', 'waiting', 'mailed', 'named', 'young'] as const;
  const everything = sqlSpan({ from: null, until: null }, hourMs);
  let flows: TestProject;
  let automation: Awaited<ReturnType<typeof anAutomation>>;
  let contacts: Record<(typeof named)[number], string>;

  /** What is counted of them. */
  async function counted() {
    const { db } = database;
    const filter = { search: null, enabled: null, stepId: null, sort: 'name', dir: 'asc' } as const;
    const [listed] = await pageOfAutomations(db, flows.id, filter, { offset: 0 }, 1);
    const { runsStarted, runsCompleted } = await mailCounts(db, flows.id, everything);
    const types = new Set(['workflow.started', 'workflow.completed'] as const);
    return {
      ...{ executions: listed?.executions, runsStarted, runsCompleted },
      feed: await totalOf(db, flows.id, everything, types),
      parts: await totalOf(db, flows.id, sqlSpan({ from: daysAgo(200), until: daysAgo(0) }, hourMs), types),
      paths: await countPaths(db, automation.id, null),
      year: await countPaths(db, automation.id, 366),
    };
  }

  beforeAll(async () => {
    const { db } = database;
    flows = await aProject(database, 'Flows');
    automation = await anAutomation(db, flows.id, {
      event: 'plan.bought',
      steps: { mail: ['DELAY', { amount: 1, unit: 'days' }], out: ['EXIT'] },
    });
    contacts = Object.fromEntries(
      (
        await db.rows<{ id: string; name: string }>(
          `insert into contacts (id, project_id, email, subscribed) select uuidv7('-400 days'), $1, name || '@kunde.example', true
           from unnest($2::text[]) name returning id, split_part(email, '@', 1) as name`,
          [flows.id, named],
        )
      ).map(({ id, name }) => [name, id]),
    ) as typeof contacts;
    const { out = '', mail = '' } = automation.steps;
    await letIn(db, automation, Object.values(contacts));
    // They entered 200 days ago and took two steps, all but the young one, each an hour later than the one before.
    await db.count(
      `with placed as (
         select r.id, r.contact_id, split_part(c.email, '@', 1) as name,
           now() - make_interval(days => case when c.email like 'young@%' then 40 else 200 end, hours => row_number() over (order by c.email)::int) as at
         from automation_runs r join contacts c on c.id = r.contact_id where r.automation_id = $1)
       update automation_runs r set id = uuidv7(p.at - now()), started_at = p.at, updated_at = p.at, seq = 2,
         status = case p.name when 'waiting' then 'WAITING' when 'failed' then 'FAILED' else 'EXITED' end,
         completed_at = case when p.name <> 'waiting' then p.at + interval '2 days' end from placed p where p.id = r.id`,
      [automation.id],
    );
    await db.count(
      `insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, output, started_at, completed_at)
       select uuidv7(), r.id, r.project_id, r.contact_id, case when n = 1 then $2::uuid when c.email like 'named@%' then $4::uuid else $3::uuid end, n,
         case n when 1 then 'CONDITION' else 'EXIT' end, 'x',
         case when r.status = 'WAITING' and n = 2 then 'WAITING' when r.status = 'FAILED' and n = 2 then 'FAILED' else 'COMPLETED' end,
         case when n = 1 then jsonb_build_object('branch', case when c.email < 'n' then 'yes' else 'no' end) end,
         r.started_at + interval '20 hours' * n, r.completed_at
       from automation_runs r join contacts c on c.id = r.contact_id cross join generate_series(1, 2) n where r.automation_id = $1`,
      [automation.id, mail, out, automation.steps.trigger],
    );
    // One of those steps had failed before it was retried.
    await db.count(
      `insert into automation_step_runs (id, run_id, project_id, contact_id, step_id, seq, step_type, step_name, status, started_at, completed_at)
       select uuidv7(), run_id, project_id, contact_id, step_id, 0, step_type, step_name, 'FAILED', started_at, started_at
       from automation_step_runs where contact_id = $1 and seq = 2`,
      [contacts.gone],
    );
    await db.count(
      `with waiting as (
         insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, workflow_execution_id, workflow_step_execution_id)
         select uuidv7(), $1, x.contact_id, 'mailed@kunde.example', $3, 'WORKFLOW', 'TRANSACTIONAL', 'PENDING', x.run_id, x.id
         from automation_step_runs x where x.contact_id = $2 and x.seq = 1 returning id)
       insert into email_queue (email_id, project_id, due_at) select id, $1, now() + interval '9 days' from waiting`,
      [flows.id, contacts.mailed, flows.sender],
    );
    await db.count(
      `insert into segments (id, project_id, name, type, condition) values (uuidv7(), $1, 'Opened the mail of a step', 'DYNAMIC', $2)`,
      [
        flows.id,
        JSON.stringify({
          logic: 'AND',
          groups: [
            { filters: [{ field: 'email.opened', operator: 'triggered', of: { stepId: automation.steps.trigger } }] },
          ],
        }),
      ],
    );
    await db.count('delete from mail_count_changes where project_id = $1', [flows.id]);
    await db.count(
      `insert into mail_count_changes (project_id, hour, runs_started, runs_completed)
       select project_id, date_bin('1 hour', started_at, timestamptz 'epoch'), 1, 0 from automation_runs where project_id = $1
       union all select project_id, date_bin('1 hour', completed_at, timestamptz 'epoch'), 0, 1 from automation_runs where project_id = $1 and completed_at is not null`,
      [flows.id],
    );
  });

  test('those that ended go with their steps; every count is what it was, and what is under way or asked about stays', async () => {
    const before = await counted();
    expect(before).toMatchObject({ executions: 6, runsStarted: 6, runsCompleted: 5, feed: 11 });
    expect(before.paths.reduce((sum, { count }) => sum + count, 0)).toBe(12);
    expect(await run('runs')).toBe(2);
    const left = await database.db.rows<{ name: string; steps: number }>(
      `select split_part(c.email, '@', 1) as name, count(x.id)::int as steps from automation_runs r join contacts c on c.id = r.contact_id
       join automation_step_runs x on x.run_id = r.id where r.automation_id = $1 group by 1 order by 1`,
      [automation.id],
    );
    expect(left).toEqual(['mailed', 'named', 'waiting', 'young'].map((name) => ({ name, steps: 2 })));
    expect(await counted()).toEqual(before);
    await fold();
    expect(await counted()).toEqual(before);
    expect(await run('runs')).toBe(0);
    // A walk of the next month finds nothing either, until the youngest is as old.
    expect(await run('runs', new Date(now.getTime() + 62 * dayMs))).toBe(1);
    expect(await counted()).toEqual(before);
  });

  test('who has been in a workflow without re-entry does not enter it again, and an explanation does not guess', async () => {
    const { db } = database;
    const contactId = contacts.gone;
    const wish = { contactId, context: null, sourceEventId: null };
    const { outcomes } = await db.transaction((tx) => startRuns(tx, flows.id, automation.id, [wish], 0));
    expect(outcomes).toMatchObject([{ outcome: 'reentry' }]);
    const about = { workflowId: automation.id } as { workflowId: string };
    const known = (contact: string) => explain(db.session(), flows.id, { contact, about }, keptDays);
    const gone = await known('gone@kunde.example');
    expect(gone).toMatchObject({ verdict: 'cannot_tell' });
    expect(gone.sentence).toMatch(/^Executions from before .+ may no longer be kept\.$/);
    expect(await known('waiting@kunde.example')).toMatchObject({ verdict: 'will' });
  });
});

test('an old event stays while a workflow is about to start by it, or an endpoint has not got it yet', async () => {
  const { db } = database;
  const [waits, owns] = [await aProject(database, 'Waits'), await aProject(database, 'Owns')];
  const { id: automation } = await anAutomation(db, owns.id, { event: 'plan.bought', steps: { out: ['EXIT'] } });
  const event = async (projectId: string) => {
    const { id } = await one<{ id: string }>(
      `with c as (insert into contacts (id, project_id, email, subscribed) values (uuidv7(), $1, gen_random_uuid() || '@kunde.example', true) returning id)
       insert into events (id, project_id, contact_id, name, created_at) select uuidv7('-200 days'), $1, id, 'plan.bought', now() - interval '200 days' from c returning id`,
      [projectId],
    );
    return id;
  };
  const [arrives, starts, done, undelivered, delivered] = [
    ...[await event(owns.id), await event(owns.id), await event(owns.id)],
    ...[await event(waits.id), await event(waits.id)],
  ];
  await db.count(
    `insert into automation_arrivals (automation_id, project_id, contact_id, event_id)
     select $1, project_id, contact_id, id from events where id = $2`,
    [automation, arrives],
  );
  const contactOf = async (id: string | undefined) =>
    (await one<{ contact: string }>('select contact_id as contact from events where id = $1', [id])).contact;
  const runs = await letIn(db, { id: automation, projectId: owns.id, steps: {} }, [
    await contactOf(starts),
    await contactOf(done),
  ]);
  for (const [n, id] of [starts, done].entries())
    await db.count('update automation_runs set source_event_id = $2, status = $3 where id = $1', [
      runs[n]?.id,
      id,
      n === 0 ? 'WAITING' : 'COMPLETED',
    ]);
  const { id: endpoint } = await one<{ id: string }>(
    `insert into webhook_endpoints (id, project_id, url, events, secret_sealed, cursor_at, cursor_id, counted_from)
     values (uuidv7(), $1, 'https://crm.example.com', '{*}', '', now(), uuidv7(), now()) returning id`,
    [waits.id],
  );
  for (const [n, [id, status]] of [
    [undelivered, 'PENDING'],
    [delivered, 'DELIVERED'],
  ].entries())
    await db.count(
      `insert into webhook_deliveries (id, endpoint_id, sequence, event_id, event_name, event_at, status) values (uuidv7(), $1, $2, $3, 'plan.bought', now(), $4)`,
      [endpoint, n, id, status],
    );
  const all = [arrives, starts, done, undelivered, delivered];
  const left = () => db.rows<{ id: string }>('select id from events where id = any($1)', [all]);
  const remove = () => one<{ removed: number }>('select remove_events(old => $1) as removed', [all]);
  await countNewEvents(db);
  await db.count(`update event_counts_state set counted_through = now()`);
  expect(await remove()).toEqual({ removed: 2 });
  expect((await left()).map(({ id }) => id).toSorted()).toEqual([arrives, starts, undelivered].toSorted());
  // Not before an endpoint that is behind has read past it.
  await db.count(`update webhook_deliveries set status = 'DELIVERED' where endpoint_id = $1`, [endpoint]);
  await db.count(`update webhook_endpoints set cursor_at = now() - interval '1 year' where id = $1`, [endpoint]);
  expect(await remove()).toEqual({ removed: 0 });
  await db.count(`update webhook_endpoints set cursor_at = now() where id = $1`, [endpoint]);
  expect(await remove()).toEqual({ removed: 1 });
});

test('every statement finds its rows by an index', async () => {
  // Those of this connection, of which other connections know late; what it did before may be among them.
  const scans = async (tx: Database) => {
    const row = await tx.row<{ whole: number; byIndex: number }>(
      `select sum(seq_scan)::int as whole, sum(idx_scan)::int as "byIndex" from pg_stat_xact_user_tables
       where relname in ('emails', 'events', 'automation_runs', 'automation_step_runs', 'email_queue', 'webhook_deliveries')`,
    );
    return row as { whole: number; byIndex: number };
  };
  await database.db.transaction(async (tx) => {
    await tx.rows('delete from retention_cursors');
    const before = await scans(tx);
    for (const kind of ['mail', 'events', 'runs'] as const)
      await removeByAge(tx, kind, { days: keptDays, leastDays: 0 }, now, 1_000_000);
    const after = await scans(tx);
    expect(after.whole).toBe(before.whole);
    expect(after.byIndex).toBeGreaterThan(before.byIndex);
  });
});

test('of reports and mail that come while old mail is removed none is lost or counted twice', async () => {
  const { db } = database;
  await db.rows('delete from retention_cursors');
  const other = await aProject(database, 'Busy');
  await db.count(
    `insert into contacts (id, project_id, email, subscribed) select uuidv7('-300 days'), $1, 'busy' || n || '@kunde.example', true from generate_series(1, 40) n`,
    [other.id],
  );
  await db.count(
    `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, message_id, sent_at, delivered_at, created_at)
     select uuidv7(at - now()), $1, c.id, c.email, $2, 'TRANSACTIONAL', 'TRANSACTIONAL', 'DELIVERED', 'b' || n || c.email, at, at, at
     from contacts c, generate_series(0, 9) n, lateral (select now() - make_interval(days => 200 - n, hours => (row_number() over ())::int) as at) d
     where c.project_id = $1`,
    [other.id, other.sender],
  );
  await db.count(
    `insert into mail_count_changes (project_id, hour, outgoing, delivered, rated)
     select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), 1, 1, 1 from emails where project_id = $1`,
    [other.id],
  );
  const mails = await db.rows<{ id: string; to: string; message: string }>(
    'select id, to_address as "to", message_id as message from emails where project_id = $1 order by random()',
    [other.id],
  );
  const reports = mails.map(async ({ id, to, message }, n) => {
    const notification = {
      key: `busy-${n}`,
      at: new Date().toISOString(),
      emailId: id,
      projectId: other.id,
      recipient: to,
      messageId: message,
      effect: { kind: 'open' },
    } as Notification;
    return applyNotification(db.session(), 'test', { emailId: id, projectId: other.id }, notification, true);
  });
  const to = await db.rows<{ id: string; email: string }>('select id, email from contacts where project_id = $1', [
    other.id,
  ]);
  const sends = to.map(({ id, email }) => queueMail(db, other, id, email));
  const [outcomes] = await Promise.all([Promise.all(reports), run('mail'), ...sends]);
  const opened = outcomes.filter((outcome) => outcome === 'done').length;
  await foldMailChanges(db, async () => {});
  const counts = await mailCounts(db, other.id, sqlSpan({ from: null, until: null }, hourMs));
  expect(counts).toMatchObject({ outgoing: mails.length + to.length, delivered: mails.length, opened });
  const events = await one<{ opens: number }>(
    `select count(*)::int as opens from events where project_id = $1 and name = 'email.open'`,
    [other.id],
  );
  expect(events).toEqual({ opens: opened });
  const left = await one<{ old: number; waiting: number }>(
    `select count(*) filter (where status <> 'PENDING')::int as old, count(*) filter (where status = 'PENDING')::int as waiting from emails where project_id = $1`,
    [other.id],
  );
  expect(left.waiting).toBe(to.length);
  expect(left.old).toBeLessThan(mails.length);
});

test('a project keeps its rows for fewer days than the deployment: its sums stay, explanations know, and no other project loses any', async () => {
  const { db } = database;
  await db.rows('delete from retention_cursors');
  const projects = { short: await aProject(database, 'Short'), long: await aProject(database, 'Long') };
  for (const { id, sender } of Object.values(projects)) {
    await db.count(
      `insert into contacts (id, project_id, email, subscribed, created_at) values (uuidv7('-300 days'), $1, 'kept@kunde.example', true, now() - interval '300 days')`,
      [id],
    );
    const dated = `contacts c, unnest(array[200, 100, 50]) n, lateral (select now() - make_interval(days => n) as at) d where c.project_id = $1`;
    await db.count(
      `insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, status, message_id, sent_at, created_at)
       select uuidv7(at - now()), $1, c.id, c.email, $2, 'TRANSACTIONAL', 'TRANSACTIONAL', 'SENT', $1::uuid || '-' || n, at, at from ${dated}`,
      [id, sender],
    );
    await db.count(
      `insert into events (id, project_id, contact_id, name, created_at) select uuidv7(at - now()), $1, c.id, 'app.opened', at from ${dated}`,
      [id],
    );
    await db.count(
      `insert into mail_count_changes (project_id, hour, outgoing) select $1, date_bin('1 hour', created_at, timestamptz 'epoch'), 1 from emails where project_id = $1`,
      [id],
    );
    const automation = await anAutomation(db, id, { steps: {} });
    await letIn(
      db,
      automation,
      (await db.rows<{ id: string }>('select id from contacts where project_id = $1', [id])).map(
        ({ id: contact }) => contact,
      ),
    );
    await db.count(
      `update automation_runs set id = uuidv7('-200 days'), status = 'COMPLETED', started_at = now() - interval '200 days', completed_at = now() - interval '199 days'
       where automation_id = $1`,
      [automation.id],
    );
  }
  const keep = (id: string, days: number) => {
    const changes = {
      emailRetentionDays: days,
      eventRetentionDays: days,
      executionRetentionDays: days,
    } as ChangeProject;
    return changeSettings(db, id, changes, { encryptionKeys: [], historyDays: 0 });
  };
  const removed = async (leastDays = 0, days: number | null = null) => {
    const counts = { mail: 0, events: 0, runs: 0 };
    for (const kind of ['mail', 'events', 'runs'] as const)
      counts[kind] = await removeByAge(db, kind, { days, leastDays }, now, 1_000_000);
    return counts;
  };
  const left = (name: keyof typeof projects) =>
    one(
      `select (select count(*)::int from emails where project_id = $1) as mail, (select count(*)::int from events where project_id = $1) as events,
         (select count(*)::int from automation_runs where project_id = $1) as runs`,
      [projects[name].id],
    );
  const sent = async (name: keyof typeof projects) => {
    await foldMailChanges(db, async () => {});
    return (await mailCounts(db, projects[name].id, sqlSpan({ from: null, until: null }, hourMs))).outgoing;
  };
  expect(await removed()).toEqual({ mail: 0, events: 0, runs: 0 });

  // What changes of contacts need is kept, whatever a project asks for.
  await keep(projects.short.id, 60);
  expect(await removed(150)).toEqual({ mail: 1, events: 1, runs: 1 });
  await keep(projects.short.id, 90);
  expect(await removed()).toEqual({ mail: 1, events: 1, runs: 0 });
  expect(await left('short')).toEqual({ mail: 1, events: 1, runs: 0 });
  expect(await left('long')).toEqual({ mail: 3, events: 3, runs: 1 });
  expect([await sent('short'), await sent('long')]).toEqual([3, 3]);
  const before = async (name: keyof typeof projects) =>
    await removedBefore(db, projects[name].id, 'mail', 'events', 'runs');
  expect((await before('short'))?.getTime()).toBeGreaterThan(now.getTime() - 151 * dayMs);
  expect(await before('long')).toBeNull();

  // Whoever chooses as many days later has rows that the walk has passed already.
  await keep(projects.long.id, 90);
  expect(await removed()).toEqual({ mail: 2, events: 2, runs: 1 });
  expect(await left('long')).toEqual({ mail: 1, events: 1, runs: 0 });
  expect(await sent('long')).toBe(3);

  // Where the deployment keeps less, its own walk is enough, and nothing is known before it of any project.
  expect(await removed(0, 90)).toMatchObject({ runs: 0 });
  await db.count('delete from projects where id = any ($1)', [[projects.short.id, projects.long.id]]);
  expect(await db.count(`select from retention_cursors where rule like 'removed %' || $1`, [projects.short.id])).toBe(
    0,
  );
});
