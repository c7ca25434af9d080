import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import { audienceSize } from '../../campaigns/audience/audience.ts';
import { lockCampaign } from '../../campaigns/state.ts';
import { editableStatuses } from '../../lib/enums.ts';
import { badRequest } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Clock } from '../../lib/time.ts';
import type { Outbox } from '../../store/outbox/dispatcher.ts';
import { enqueue } from '../../store/outbox/queries.ts';
import { restartable } from '../../store/outbox/recovery.ts';
import { checkSender, type SenderDomains } from '../../templates/service.ts';
import { factsOf } from './findings.ts';
import { insertDryRun, stalledDryRuns } from './queries.ts';
import { type DryRunReportDeps, getDryRun } from './report.ts';
import type { DryRunReport, StartDryRun } from './schema.ts';

/** The parts that reviewing a campaign needs. */
export interface ReviewDeps extends DryRunReportDeps {
  outbox: Outbox;
  senderDomains: SenderDomains;
  clock: Clock;
}

/**
 * Starts a dry run of a campaign that could be sent; one that is under way ends. With a `sample` every contact is decided about,
 * and that many messages are rendered.
 * @throws 404; 400 for its status or an audience that cannot be read; 403 for the domain
 */
export async function startDryRun(
  deps: ReviewDeps,
  projectId: string,
  id: string,
  { sample }: StartDryRun = { sample: 'all' },
): Promise<DryRunReport> {
  const { n, ticket } = await deps.db.transaction(async (tx) => {
    const campaign = await lockCampaign(tx, projectId, id);
    const { status } = campaign;
    if (!editableStatuses.has(status))
      throw badRequest(`A campaign that is ${status} cannot be reviewed: only a draft or a scheduled one can`, {
        status,
      });
    await checkSender(deps.senderDomains, projectId, campaign.from);
    const facts = (await factsOf(tx, projectId, id)) ?? {};
    const run = {
      id: newId(),
      projectId,
      campaignId: id,
      facts,
      sample: sample === 'all' ? null : sample,
      expected: await audienceSize(tx, campaign, deps.clock()),
    };
    const n = await insertDryRun(tx, run);
    return { n, ticket: await enqueue(tx, startOfDryRun({ ...run, n })) };
  });
  deps.outbox.dispatchSoon(ticket);
  return getDryRun(deps, projectId, id, String(n));
}

/** The command that starts the execution of a dry run. */
export function startOfDryRun(run: { id: string; projectId: string; campaignId: string; n: number }): StartCommand {
  const { id, projectId, campaignId, n } = run;
  return {
    type: 'start',
    workflow: 'dryRun',
    id: workflowId.dryRun(campaignId, n),
    input: { dryRunId: id },
    searchAttributes: { ProjectId: projectId, CampaignId: campaignId, Kind: 'dry-run' },
    memo: { review: n },
  };
}

/** Dry runs whose execution may be lost. */
export const recoverableDryRuns = restartable('dry runs', stalledDryRuns, startOfDryRun);
