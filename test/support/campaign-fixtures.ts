import pLimit from 'p-limit';
import { pino } from 'pino';
import { type CampaignActivityDeps, campaignActivities } from '../../activities/campaign.ts';
import { prepareBy } from '../../src/campaigns/delivery/content.ts';
import { startOfSend } from '../../src/campaigns/lifecycle/begin.ts';
import { openSend } from '../../src/campaigns/state.ts';
import type { Mailer } from '../../src/domains/providers/mailer.ts';
import { launchGate } from '../../src/launches/gate.ts';
import { readConfig } from '../../src/lib/config/config.ts';
import { newId } from '../../src/lib/ids.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createComposer } from '../../src/mail/engine/compose.ts';
import type { Database } from '../../src/store/sql.ts';
import type { StartCommand } from '../../temporal/commands.ts';
import type { TestProject } from './delivery-fixtures.ts';

/** What a test campaign says; everything has a value that fits most tests. */
export interface CampaignChanges {
  name?: string;
  subject?: string;
  body?: string;
  from?: string;
  type?: 'MARKETING' | 'TRANSACTIONAL' | 'HEADLESS';
  audienceType?: 'ALL' | 'SEGMENT' | 'FILTERED';
  audienceCondition?: object;
  segmentId?: string;
}

/** Inserts a draft, to ALL where nothing else is said, and answers its id. */
export async function aCampaign(sql: Database, project: TestProject, changes: CampaignChanges = {}): Promise<string> {
  const id = newId();
  await sql.count(
    `insert into campaigns (id, project_id, name, subject, body, "from", type, audience_type, audience_condition, segment_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      id,
      project.id,
      changes.name ?? 'Spring count',
      changes.subject ?? 'Hello {{firstName ?? friend}}',
      changes.body ?? '<p>Dear {{firstName ?? friend}}, the herons are back.</p>',
      changes.from ?? project.sender,
      changes.type ?? 'MARKETING',
      changes.audienceType ?? 'ALL',
      changes.audienceCondition ? JSON.stringify(changes.audienceCondition) : null,
      changes.segmentId ?? null,
    ],
  );
  return id;
}

/** Inserts contacts `watcher-1 … n@example.com` with a first name each, by one statement. */
export async function contacts(sql: Database, projectId: string, count: number): Promise<void> {
  await sql.count(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'watcher-' || n || '@example.com', true, jsonb_build_object('firstName', 'Name' || n)
     from generate_series(1, $2::int) n`,
    [projectId, count],
  );
}

/** Moves a draft to SENDING as the API does and answers the start of its workflow. */
export async function started(
  sql: Database,
  projectId: string,
  campaignId: string,
  recipients = 1000,
): Promise<StartCommand> {
  const send = await openSend(sql, campaignId, recipients, null);
  if (send === null) throw new Error('The campaign is no draft');
  return startOfSend(
    { id: campaignId, projectId, name: 'Spring count', sendSeq: send.sendSeq },
    'Birdwatch',
    recipients,
  );
}

/** Schedules a draft, or moves a scheduled one, as the API does; answers the start of its workflow. */
export async function scheduled(
  sql: Database,
  projectId: string,
  campaignId: string,
  inMs: number,
): Promise<StartCommand> {
  const clock = await sql.row<{ at: number }>(
    'select (1000 * extract(epoch from clock_timestamp()) + $1::float8)::float8 as at',
    [inMs],
  );
  const at = new Date(clock?.at ?? 0);
  const send = await openSend(sql, campaignId, 1000, at);
  if (send === null) throw new Error('The campaign can not be scheduled');
  return startOfSend(
    { id: campaignId, projectId, name: 'Spring count', sendSeq: send.sendSeq, dueAt: at.toISOString() },
    'Birdwatch',
    1000,
  );
}

/** Renders messages of test campaigns. */
export const compose = createComposer(readConfig({}), { warn: () => undefined });

/** The activities of campaigns at the pace of a test: small claims, short shares. */
export function campaignActivitiesFor(db: Database, mailer: Mailer, changes: Partial<CampaignActivityDeps> = {}) {
  return campaignActivities({
    db,
    heavyReads: { of: () => db },
    mailer,
    statements: pLimit(6),
    claiming: pLimit(1),
    rendering: pLimit(1),
    cursors: pLimit(2),
    log: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    rate: 0,
    lagMs: 0,
    clock: systemClock,
    launchGate,
    billing: { freeTier: null, publicDailyEmails: null },
    tell: async () => [],
    dispatchSoon: () => undefined,
    prepare: prepareBy(compose),
    stopping: new AbortController().signal,
    lanes: 2,
    chunk: 10,
    pace: { claims: 4, longestMs: 5000 },
    expansionPage: 7,
    ...changes,
  });
}

/** A campaign's row as tests read it. */
export interface CampaignRow {
  status: string;
  total: number;
  sent: number;
  skipped: number;
  failed: number;
  bounced: number;
}

/** Reads status and counters of a campaign. */
export async function campaignRow(sql: Database, id: string): Promise<CampaignRow> {
  const row = await sql.row<CampaignRow>(
    `select status, total_recipients as total, sent_count as sent, skipped_count as skipped,
       failed_count as failed, bounced_count as bounced
     from campaigns where id = $1`,
    [id],
  );
  if (row === null) throw new Error('The campaign is gone');
  return row;
}

/** How many ledger rows of a campaign have each status and error. */
export async function ledgerOf(sql: Database, id: string): Promise<Record<string, number>> {
  const rows = await sql.rows<{ verdict: string; count: number }>(
    `select status || coalesce(': ' || mail_reason_text(reason), '') as verdict, count(*)::int as count from emails where campaign_id = $1 group by 1`,
    [id],
  );
  return Object.fromEntries(rows.map(({ verdict, count }) => [verdict, count]));
}
