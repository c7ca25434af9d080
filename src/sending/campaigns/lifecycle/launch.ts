import { type SignalCommand, type StartCommand, signals, workflowId } from '../../../../temporal/commands.ts';
import { cutText } from '../../../core/lib/text.ts';

/** What an execution is told and shows of a campaign. */
export interface LaunchedCampaign {
  id: string;
  projectId: string;
  name: string;
  sendSeq: number;
  /** Set while it waits for its time: an ISO instant. */
  dueAt?: string | null;
}

const longestName = 200;

/** The start of a campaign's workflow. `restart` is set where an earlier execution ended before its rows did. */
export function launchCampaign(
  campaign: LaunchedCampaign,
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
      State: dueAt === null ? 'SENDING' : 'SCHEDULED',
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
