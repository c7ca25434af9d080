import type { StartCommand } from '../../temporal/commands.ts';
import { type Database, type Sql, statement } from '../db/sql.ts';
import { enqueue, type OutboxTicket } from '../outbox/enqueue.ts';
import { launchCampaign } from './sending.ts';

interface Unfinished {
  id: string;
  projectId: string;
  name: string;
  sendSeq: number;
  projectName: string;
  recipients: number;
}

// A send is open until its campaign is SENT, or CANCELLED and cleaned up.
const open = `select c.id, c.project_id as "projectId", c.name, c.send_seq as "sendSeq", p.name as "projectName",
    c.total_recipients as recipients
  from campaign_sends s join campaigns c on c.id = s.campaign_id and c.send_seq = s.send_seq join projects p on p.id = c.project_id
  where not s.closed and c.status in ('SENDING', 'CANCELLED')`;

const stalled = statement(
  'campaigns.stalled',
  `${open} and s.updated_at < clock_timestamp() - $1::float8 * interval '1 millisecond'
     and c.updated_at < clock_timestamp() - $1::float8 * interval '1 millisecond'
   order by s.updated_at limit 100`,
);

const oneUnfinished = statement('campaigns.unfinished', `${open} and c.id = $1 and c.send_seq = $2`);

/** What the check for stalled campaigns needs. */
export interface RecoveryDeps {
  db: Database;
  /** Whether an execution of this id is open. Rejects when Temporal cannot be asked. */
  isOpen(workflowId: string): Promise<boolean>;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
}

/** A campaign counts as stalled when nothing of it has moved for this long. */
export const stalledAfterMs = 5 * 60_000;

/**
 * Starts campaigns again whose rows are unfinished although no execution works on them: after a lost Temporal store, or
 * one that was terminated by hand (contract page 2, 4.10). Answers how many.
 */
export async function restartStalledCampaigns(deps: RecoveryDeps, afterMs = stalledAfterMs): Promise<number> {
  const campaigns = await deps.db.rows<Unfinished>(stalled, [afterMs]);
  let restarted = 0;
  for (const campaign of campaigns) {
    const start = launchAgain(campaign, `stalled-${Date.now()}`);
    if (await deps.isOpen(start.id)) continue;
    deps.dispatchSoon(await deps.db.transaction((sql) => enqueue(sql, start)));
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
