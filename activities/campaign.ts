import { randomBytes } from 'node:crypto';
import { ApplicationFailure, activityInfo, CancelledFailure, cancellationSignal } from '@temporalio/activity';
import { needsSubscription } from '../src/campaigns/audience/audience.ts';
import { loadExpansion, noteRecipients } from '../src/campaigns/audience/expansion.ts';
import { type ExpansionDeps, expandFrom } from '../src/campaigns/audience/freeze.ts';
import {
  type CleanUpReport,
  cleanUpCancelled,
  finishSend,
  rewindClaims,
  type SendView,
  type SettledWhilePaused,
  settleWhilePaused,
  viewSend,
} from '../src/campaigns/delivery/completion.ts';
import { claimSize, loadContent, type PrepareCampaign } from '../src/campaigns/delivery/content.ts';
import { quietSentence } from '../src/campaigns/delivery/held.ts';
import {
  type LaneDeps,
  type LanePace,
  type LaneReport,
  type LaneSend,
  runLane,
} from '../src/campaigns/delivery/lane.ts';
import { claimsOpen } from '../src/campaigns/delivery/retaking.ts';
import { beginDueSend } from '../src/campaigns/lifecycle/begin.ts';
import { cancelCampaignByOperator } from '../src/campaigns/lifecycle/stopping.ts';
import { limitsOfKeys } from '../src/contacts/suppressions/matching.ts';
import { advanceCanary, type CanaryDeps, type CanaryStep } from '../src/launches/canary/advance.ts';
import { chooseCanary } from '../src/launches/canary/choose.ts';
import { type DryRunShare, reviewShare } from '../src/launches/review/dry-run.ts';
import { failDryRun, loadDryRun } from '../src/launches/review/queries.ts';
import { CampaignStatus } from '../src/lib/enums.ts';
import { KeyedTurns } from '../src/lib/keyed-turns.ts';
import { holdSentence } from '../src/mail/engine/breaker.ts';
import type { HeavyReads } from '../src/store/heavy-reads.ts';
import { alive } from './mail.ts';

export interface CampaignActivityDeps extends LaneDeps, ExpansionDeps, CanaryDeps {
  heavyReads: HeavyReads;
  prepare: PrepareCampaign;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  /** Setting CAMPAIGN_PARALLEL_BATCHES: lanes of one campaign. */
  lanes: number;
  /** Setting SEND_CHUNK: messages of one claim. */
  chunk: number;
  pace: LanePace;
}

/** The activities of campaigns, as workflows call them. */
export type CampaignActivities = ReturnType<typeof campaignActivities>;

/** A send as its workflow begins, or goes on. */
export interface SendStart extends SendView {
  /** Delivery lanes that are worth starting. */
  lanes: number;
}

/** How one lane's activity ended; `held` is a sentence for operators. */
export type SendLaneReport = Omit<LaneReport, 'hold'> & { held: string | null };

/** Whether a send is finished, and where it stands. */
export interface SendEnd {
  done: boolean;
  /** When the lanes should re-check, in milliseconds. */
  waitMs: number;
  /** For whom it waits until their quiet hours end, as a sentence; null for nobody. Answers from before there were any have none. */
  quiet?: string | null;
  view: SendView | null;
}

const heartbeatMs = 2000;
const othersMs = 1000;
const reviewMs = 30_000;
// A worker delivers while it reviews: three quarters of its time are for mail.
const reviewRest = 3;

/** Builds the activities of campaigns. */
export function campaignActivities(deps: CampaignActivityDeps) {
  return { ...sendActivities(deps), ...endActivities(deps), ...dryRunActivities(deps) };
}

/** Activities that take a send from its start to the last recipient. */
function sendActivities(deps: CampaignActivityDeps) {
  const { db } = deps;
  return {
    /** Begins a scheduled send whose time has come, and reads where it stands: local. Null when it is gone. */
    async beginSend(campaignId: string, sendSeq: number): Promise<SendStart | null> {
      const before = await viewSend(db, campaignId, sendSeq);
      const isDue = before?.status === CampaignStatus.SCHEDULED && before.dueMs === 0;
      if (isDue) await beginDueSend(deps, campaignId, sendSeq);
      const view = isDue ? await viewSend(db, campaignId, sendSeq) : before;
      if (view === null) return null;
      return { ...view, lanes: Math.max(1, Math.min(deps.lanes, Math.ceil(view.recipients / deps.chunk))) };
    },

    /** Freezes the audience into ledger rows, from where the rows end. Answers how many there are. */
    async expandAudience(campaignId: string, sendSeq: number): Promise<number> {
      return alive(heartbeatMs, async (beat) => {
        for (;;) {
          const send = await loadExpansion(db, campaignId, sendSeq);
          if (send === null || !send.sending || send.expanded) {
            await noteRecipients(db, campaignId, sendSeq);
            await chooseCanary(db, campaignId, sendSeq);
            return send?.count ?? 0;
          }
          await expandFrom(deps, send, (count) => {
            stopIfAsked(deps);
            beat({ expanded: count });
          });
        }
      });
    },

    /**
     * Delivers a part of the send: streams claims until none is left or its share of time is over (see
     * `src/campaigns/delivery/lane.ts`). A retry first settles what its earlier attempts held.
     */
    async sendLane(campaignId: string, sendSeq: number): Promise<SendLaneReport> {
      return alive(heartbeatMs, async () => {
        const send = await laneSend(deps, campaignId, sendSeq);
        if (send === null) return { end: 'stopped', sent: 0, skipped: 0, failed: 0, waitMs: null, held: null };
        const stop = AbortSignal.any([deps.stopping, cancellationSignal()]);
        const { hold, ...report } = await runLane(deps, send, deps.pace, stop);
        if (deps.stopping.aborted && report.waitMs === 0) throw workerStopping();
        if (hold === null) return { ...report, held: null };
        const view = await viewSend(db, campaignId, sendSeq);
        const waiting = view === null ? 0 : view.recipients - view.sent - view.skipped - view.failed;
        return { ...report, held: holdSentence(hold, Math.max(0, waiting)) };
      });
    },

    /** Moves the canary by what its reports say: local (see `src/launches/canary/advance.ts`). */
    async advanceCanary(campaignId: string, sendSeq: number): Promise<CanaryStep & { view: SendView | null }> {
      const step = await advanceCanary(deps, campaignId, sendSeq);
      return { ...step, view: await viewSend(db, campaignId, sendSeq) };
    },
  };
}

/** Activities that end a send: completed, paused or cancelled. */
function endActivities(deps: CampaignActivityDeps) {
  const { db } = deps;
  return {
    /** Ends the send when every row has its verdict: local. Answers where it stands otherwise. */
    async finishSend(campaignId: string, sendSeq: number): Promise<SendEnd> {
      const done = await finishSend(db, campaignId, sendSeq);
      const view = await viewSend(db, campaignId, sendSeq);
      if (done || view === null || view.status !== CampaignStatus.SENDING) return { done: true, waitMs: 0, view };
      const { held } = view;
      const { open, dueMs } = await claimsOpen(db, campaignId, sendSeq, '');
      const waits = [...(open > 0 ? [dueMs ?? othersMs] : []), ...(held ? [held.waitMs] : [])];
      if (waits.length > 0)
        return { done: false, waitMs: Math.min(...waits), quiet: held ? quietSentence(held) : null, view };
      await rewindClaims(db, campaignId, sendSeq);
      return { done: false, waitMs: 0, view };
    },

    /**
     * Finds out what became of the mail of a paused send that may be with the provider, and hands nothing over: its content can be
     * revised once nothing of it is unconfirmed.
     */
    async settlePaused(campaignId: string, sendSeq: number): Promise<SettledWhilePaused> {
      return alive(heartbeatMs, async () => {
        const send = await laneSend(deps, campaignId, sendSeq);
        return send === null ? { waitMs: null } : settleWhilePaused(deps, send, () => stopIfAsked(deps));
      });
    },

    /** Cancels the campaign for an operator who cancelled the execution: the row first. */
    async cancelByOperator(campaignId: string, sendSeq: number): Promise<void> {
      await cancelCampaignByOperator(db, campaignId, sendSeq);
    },

    /** Ends a cancelled send: what is unconfirmed is settled, unsent rows are deleted or FAILED. */
    async cleanUpCancelled(campaignId: string, sendSeq: number): Promise<CleanUpReport> {
      return alive(heartbeatMs, async (beat) => {
        const send = await laneSend(deps, campaignId, sendSeq);
        if (send === null) return { done: true, status: CampaignStatus.DRAFT };
        return cleanUpCancelled(deps, send, () => {
          stopIfAsked(deps);
          beat({});
        });
      });
    },
  };
}

function dryRunActivities(deps: CampaignActivityDeps) {
  // Another dry run of the project does not wait here, in the place of a campaign of somebody else.
  const dryRuns = new KeyedTurns({ atOnce: 1 });
  const review = (dryRunId: string) =>
    alive(heartbeatMs, async (beat) => {
      const stop = AbortSignal.any([deps.stopping, cancellationSignal()]);
      const onPage = (contacts: number) => beat({ contacts });
      const share = await reviewShare({ ...deps, rest: reviewRest }, dryRunId, { stop, longestMs: reviewMs, onPage });
      if (share.state === 'unfinished') stopIfAsked(deps);
      return share;
    });
  return {
    /** Goes on with a dry run until everybody was passed or its share of time is over; not while another of the project is reviewed here. */
    async reviewContacts(dryRunId: string): Promise<DryRunShare> {
      const run = await loadDryRun(deps.db, dryRunId);
      const share = () => review(dryRunId);
      if (run?.state !== 'RUNNING') return share();
      return (await dryRuns.tryRun(run.projectId, share)) ?? { state: 'busy', contacts: run.audience };
    },

    /** Ends a dry run as failed, for a reason that users understand. */
    async failDryRun(dryRunId: string, reason: string): Promise<void> {
      await failDryRun(deps.db, dryRunId, reason);
    },
  };
}

async function laneSend(deps: CampaignActivityDeps, campaignId: string, sendSeq: number): Promise<LaneSend | null> {
  const content = await loadContent(deps.db, campaignId, sendSeq);
  if (content === null) return null;
  const [key] = content.limitedBy === null ? [] : await limitsOfKeys(deps.db, content.projectId, [content.limitedBy]);
  const { workflowExecution, activityId, attempt } = activityInfo();
  const prefix = `${workflowExecution?.runId ?? ''}/${activityId}/`;
  return {
    projectId: content.projectId,
    campaignId,
    sendSeq,
    compose: deps.prepare(content),
    ...(key && { limits: { key, from: content.from } }),
    needsSubscription: needsSubscription(content.type),
    messageClass: content.type,
    canary: content.canary,
    version: content.version,
    size: claimSize(content, deps.chunk),
    // A store that was restored gives out the same ids again, and whoever had them then may still be at work.
    holder: `${prefix}${attempt}.${randomBytes(4).toString('hex')}`,
    prefix,
  };
}

function stopIfAsked({ stopping }: CampaignActivityDeps): void {
  if (stopping.aborted) throw workerStopping();
  if (cancellationSignal().aborted) throw new CancelledFailure('The execution is cancelled');
}

// Retried at once, by a worker that stays.
function workerStopping(): ApplicationFailure {
  return ApplicationFailure.create({ message: 'The worker stops', type: 'WorkerStopping', nextRetryDelay: '200 ms' });
}
