import type { StartCommand } from '../../temporal/commands.ts';
import { type Database, type Sql, statement } from '../db/sql.ts';
import { isoText } from '../emails/sql.ts';
import { enqueue, type OutboxTicket } from '../outbox/enqueue.ts';
import { launchCampaign, wakeCampaign } from './launch.ts';

interface Unfinished {
  id: string;
  projectId: string;
  name: string;
  sendSeq: number;
  projectName: string;
  recipients: number;
  /** Set while it is SCHEDULED: an ISO instant. */
  dueAt: string | null;
  /** SCHEDULED for a time that is past by a minute. */
  overdue: boolean;
}

const overdue = (c: string) =>
  `${c}.status = 'SCHEDULED' and ${c}.scheduled_for < clock_timestamp() - interval '1 minute'`;

// A send is open until its campaign is SENT, a draft again, or CANCELLED and cleaned up.
const columns = `c.id, c.project_id as "projectId", c.name, c.send_seq as "sendSeq", p.name as "projectName",
  c.total_recipients as recipients, case when c.status = 'SCHEDULED' then ${isoText('c.scheduled_for')} end as "dueAt",
  ${overdue('c')} as overdue`;
const open = `from campaign_sends s join campaigns c on c.id = s.campaign_id and c.send_seq = s.send_seq
  join projects p on p.id = c.project_id
  where not s.closed and c.status in ('SCHEDULED', 'SENDING', 'CANCELLED')`;

// What was looked at goes to the end of the line, so that those that rest rightly never hide one that is stuck.
const stalled = statement(
  'campaigns.stalled',
  `with due as (
     select s.campaign_id, s.send_seq, ${columns} ${open}
       and s.checked_at < clock_timestamp() - least($1::float8, case when ${overdue('c')} then 60000 else $1::float8 end) * interval '1 millisecond'
       and (${overdue('c')} or greatest(s.updated_at, c.updated_at) < clock_timestamp() - $1::float8 * interval '1 millisecond')
     order by ${overdue('c')} desc, s.checked_at limit 100 for update of s skip locked)
   update campaign_sends s set checked_at = clock_timestamp() from due d
   where s.campaign_id = d.campaign_id and s.send_seq = d.send_seq
   returning d.id, d."projectId", d.name, d."sendSeq", d."projectName", d.recipients, d."dueAt", d.overdue`,
);

const oneUnfinished = statement('campaigns.unfinished', `select ${columns} ${open} and c.id = $1 and c.send_seq = $2`);

/** What the check for stalled campaigns needs. */
export interface RecoveryDeps {
  db: Database;
  /** Whether an execution of this id is open. Rejects when Temporal cannot be asked. */
  isOpen(workflowId: string): Promise<boolean>;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

/** A campaign counts as stalled when nothing of it has moved for this long; a scheduled one a minute after its time. */
export const stalledAfterMs = 5 * 60_000;

/**
 * Starts campaigns again whose rows are unfinished although no execution works on them: after a lost Temporal store, or
 * one that was terminated by hand (contract page 2, 4.10). One that sleeps beyond its time is woken. Answers how many.
 */
export async function restartStalledCampaigns(deps: RecoveryDeps, afterMs = stalledAfterMs): Promise<number> {
  const campaigns = await deps.db.rows<Unfinished>(stalled, [afterMs]);
  let restarted = 0;
  for (const campaign of campaigns) {
    const start = launchAgain(campaign, `stalled-${Date.now()}`);
    const isAsleep = await deps.isOpen(start.id);
    if (isAsleep && !campaign.overdue) continue;
    const command = isAsleep ? wakeCampaign(campaign.id, campaign.sendSeq) : start;
    deps.dispatchSoon(await deps.db.transaction((sql) => enqueue(sql, command)));
    restarted += 1;
  }
  return restarted;
}

/**
 * Decides about an execution that a signal did not find: the start that goes on with `campaign/<id>/<seq>`, or null when
 * that send is finished or gone. Takes its part in `src/main/revivers.ts`.
 */
export async function reviveCampaign(sql: Sql, workflowId: string): Promise<StartCommand | null> {
  const [, id = '', sendSeq = ''] = workflowId.split('/');
  const campaign = await sql.row<Unfinished>(oneUnfinished, [id, Number(sendSeq)]);
  return campaign === null ? null : launchAgain(campaign);
}

function launchAgain(campaign: Unfinished, restart?: string): StartCommand {
  return launchCampaign(campaign, campaign.projectName, campaign.recipients, restart);
}
