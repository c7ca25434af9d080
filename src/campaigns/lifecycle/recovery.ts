import { type StartCommand, signals } from '../../../temporal/commands.ts';
import { executedStatuses } from '../../lib/enums.ts';
import { isoText } from '../../store/columns.ts';
import { isStalled, type RecoverableKind, stalledPage } from '../../store/outbox/recovery.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { startOfSend } from './begin.ts';

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

interface Stalled extends Unfinished {
  at: string;
  paused: boolean;
  /** Whether the next recipients wait for the end of their quiet hours. */
  quiet: boolean;
  isOlder: boolean;
}

// A send is open until its campaign is SENT, a draft again, or CANCELLED and cleaned up.
const unfinished = sql`
  unfinished as (
    select c.id, c.project_id as "projectId", c.name, c.send_seq as "sendSeq", p.name as "projectName",
      c.total_recipients as recipients, case when c.status = 'SCHEDULED' then ${raw(isoText('c.scheduled_for'))} end as "dueAt",
      c.status = 'SCHEDULED' and c.scheduled_for < now() - interval '1 minute' as overdue, c.paused_at is not null as paused,
      coalesce((select min(h.due_at) from campaign_held_contacts h where h.campaign_id = c.id and h.send_seq = c.send_seq)
        > now() - interval '1 minute', false) as quiet,
      greatest(s.updated_at, c.updated_at) as moved_at
    from campaign_sends s join campaigns c on c.id = s.campaign_id and c.send_seq = s.send_seq
      join projects p on p.id = c.project_id
    where not s.closed and c.status in ${raw(executedStatuses.sql)})`;

/**
 * Sends whose execution may be lost, as with the Temporal store or by hand (docs/contract/campaigns-and-workflows.md#4-10). One
 * that sleeps although its row says that there is something to do is woken, once an hour while nothing moves.
 */
export const recoverableCampaigns: RecoverableKind = {
  name: 'campaigns',
  afterMs: 5 * 60_000,
  async stalled(db, query) {
    // A scheduled campaign is stalled a minute after its time, any other when nothing of it has moved; a paused one rests
    // rightly unless it has no execution, which is why an open one is not woken. So does one in quiet hours, until a minute after their end.
    const movedAt = raw('moved_at');
    const campaigns = await db.rows<Stalled>(sql`
      with ${unfinished}
      select *, moved_at::text as at, coalesce(moved_at < ${query.changedAt}::timestamptz, false) as "isOlder" from unfinished
      where (overdue or ${isStalled(movedAt, query)}) and ${stalledPage(movedAt, raw('id'), query)}`);
    return campaigns.map((campaign) => ({
      at: campaign.at,
      id: campaign.id,
      start: launchAgain(campaign),
      wake: isResting(campaign) ? null : { signal: signals.wake },
      isOlder: campaign.isOlder,
    }));
  },
};

// It waits for its time, for the end of quiet hours, or for somebody to resume it.
function isResting({ dueAt, overdue, paused, quiet }: Stalled): boolean {
  return dueAt === null ? paused || quiet : !overdue;
}

/**
 * Decides about an execution that a signal did not find: the start that goes on with `campaign/<id>/<seq>`, or null when
 * that send is finished or gone. Takes its part in `src/main/setup/outside.ts`.
 */
export async function reviveCampaign(db: Database, workflowId: string): Promise<StartCommand | null> {
  const [, id = '', sendSeq = ''] = workflowId.split('/');
  const campaign = await db.row<Unfinished>(
    sql`with ${unfinished} select * from unfinished where id = ${id} and "sendSeq" = ${Number(sendSeq)}`,
  );
  return campaign === null ? null : launchAgain(campaign);
}

function launchAgain(campaign: Unfinished): StartCommand {
  return startOfSend(campaign, campaign.projectName, campaign.recipients);
}
