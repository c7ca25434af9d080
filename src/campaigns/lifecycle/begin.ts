import { type SignalCommand, type StartCommand, signals, workflowId } from '../../../temporal/commands.ts';
import { CampaignStatus } from '../../lib/enums.ts';
import { cutText } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import { reasonText } from '../../mail/ledger/reasons.ts';
import { type Database, sql } from '../../store/sql.ts';
import type { Audience } from '../audience/audience.ts';
import { sendFacts } from '../delivery/claims.ts';
import type { LaunchGate } from '../launch.ts';
import { openSend, unscheduleSend } from '../state.ts';

/** A scheduled campaign whose time has come. */
export interface DueCampaign extends Audience {
  id: string;
  /** The review that it goes by, and how far its audience may have changed since, as `campaign_sends` holds it; null for none. */
  reviewId: string | null;
  drift: string | null;
  /** How many contacts it may go to without an approval; null for any number. */
  mostUnapproved: number | null;
  projectDisabled: boolean;
  domainVerified: boolean;
}

/**
 * Moves a scheduled campaign whose time has come to SENDING, with its audience counted anew; back to DRAFT where it cannot
 * be sent, with the reason as note and event (docs/contract/campaigns-and-workflows.md#2-2). Leaves every other campaign alone;
 * safe to repeat.
 */
export async function beginDueSend(
  { db, clock, launchGate }: { db: Database; clock: Clock; launchGate: LaunchGate },
  campaignId: string,
  sendSeq: number,
): Promise<void> {
  await db.transaction(async (tx) => {
    const campaign = await tx.row<DueCampaign>(sql`
      select c.id, c.project_id as "projectId", c.type, c.audience_type as "audienceType",
        c.audience_condition as "audienceCondition", c.segment_id as "segmentId", c.resend_of as "resendOf",
        c.resend_seq as "resendSeq", c.correction, s.review_id as "reviewId", s.drift, s.most_unapproved as "mostUnapproved",
        ${sendFacts('c.project_id', 'c."from"')}
      from campaigns c
        left join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
      where c.id = ${campaignId} and c.send_seq = ${sendSeq} and c.status = 'SCHEDULED' and c.scheduled_for <= clock_timestamp()
      for no key update of c`);
    if (campaign === null) return;
    const refusal = campaign.projectDisabled
      ? reasonText({ code: 'project_disabled' })
      : campaign.domainVerified
        ? null
        : reasonText({ code: 'domain_unverified' });
    const found = refusal ?? (await launchGate.before(tx, campaign, clock()));
    if (typeof found === 'number') await openSend(tx, campaignId, found, null);
    else await unscheduleSend(tx, campaignId, sendSeq, found);
  });
}

/** The facts of a send that its execution shows. */
interface StartedSend {
  id: string;
  projectId: string;
  name: string;
  sendSeq: number;
  /** Set while it waits for its time: an ISO instant. */
  dueAt?: string | null;
}

const longestName = 200;

/** The start of a campaign's workflow. `restart` is set where an earlier execution ended before its rows did. */
export function startOfSend(
  campaign: StartedSend,
  projectName: string,
  recipients: number,
  restart?: string,
): StartCommand {
  const { id, projectId, sendSeq, dueAt = null } = campaign;
  // A name may be as long as a request; what Temporal keeps may not.
  const name = cutText(campaign.name, longestName);
  return {
    type: 'start',
    workflow: 'campaignSend',
    id: workflowId.campaign(id, sendSeq),
    input: { campaignId: id, sendSeq },
    searchAttributes: {
      ProjectId: projectId,
      CampaignId: id,
      Kind: 'campaign',
      State: dueAt === null ? CampaignStatus.SENDING : CampaignStatus.SCHEDULED,
      Recipients: recipients,
      ...(dueAt === null ? {} : { DueAt: dueAt }),
    },
    memo: { campaign: name, project: cutText(projectName, longestName), send: sendSeq },
    staticSummary: `Campaign "${name}"`,
    staticDetails: `Send ${sendSeq} of a campaign of project ${cutText(projectName, longestName)}. The rows in Postgres hold what was sent; this execution holds what comes next.`,
    ...(restart === undefined ? {} : { restart }),
  };
}

/** Tells a campaign's execution that its row has changed. */
export function wakeCampaign(id: string, sendSeq: number): SignalCommand {
  return { type: 'signal', id: workflowId.campaign(id, sendSeq), signal: signals.wake };
}
