import * as wf from '@temporalio/workflow';
import type { CampaignActivities, SendLaneReport, SendStart } from '../activities/campaign.ts';
import { queries, searchAttribute, signals } from '../temporal/commands.ts';

const local = wf.proxyLocalActivities<CampaignActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 ms', backoffCoefficient: 2, maximumInterval: '1 second', maximumAttempts: 5 },
});
const activities = wf.proxyActivities<CampaignActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  // A lane that is told to stop finishes what the provider has in hand, and that is waited for.
  cancellationType: wf.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});
// What a local activity could not do in its few seconds is done by the same function without that limit.
const patient = wf.proxyActivities<CampaignActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Says that the campaign's row has changed: look again. */
const wake = wf.defineSignal(signals.wake);

/** How far a campaign is, for people. `sent` and `failed` are as of the last time the lanes reported. */
interface CampaignProgress {
  phase:
    | 'starting'
    | 'scheduled'
    | 'sending'
    | 'held'
    | 'paused'
    | 'finishing'
    | 'cancelling'
    | 'sent'
    | 'cancelled'
    | 'draft'
    | 'gone';
  recipients: number;
  sent: number;
  /** Left out on purpose. */
  skipped: number;
  failed: number;
  lanes: number;
  detail: string;
}
/** Answers `CampaignProgress`. */
const progress = wf.defineQuery<CampaignProgress>(queries.progress);

/** What an execution is told: which send of which campaign. The rows hold everything else. */
export interface CampaignSend {
  campaignId: string;
  sendSeq: number;
}

/** How a send ended. */
export type CampaignSendResult = Pick<CampaignProgress, 'recipients' | 'sent' | 'skipped' | 'failed'> & {
  status: 'SENT' | 'CANCELLED' | 'DRAFT' | 'GONE';
};

// A hold may end early by another campaign's probe, so that it is looked at this often.
const longestHoldMs = 60_000;
// Rows decide and signals only hurry: whoever waits for one looks at the row once in a while all the same.
const longestPauseMs = 3_600_000;
const longestTimerMs = 86_400_000;
// A run ends well before the limits of histories; a round of lanes is about five events for each lane.
const roundsPerRun = 200;

/**
 * Sends a campaign: waits for its time where it is scheduled, freezes its audience, lets a few streaming lanes deliver, and ends it when the rows add up. All state is
 * in the rows, so that an execution may be killed, cancelled or started again at any moment. Cancelling it in the Web UI
 * cancels the campaign.
 */
export async function campaignSend({ campaignId, sendSeq }: CampaignSend): Promise<CampaignSendResult> {
  const state: CampaignProgress = {
    phase: 'starting',
    recipients: 0,
    sent: 0,
    skipped: 0,
    failed: 0,
    lanes: 0,
    detail: '',
  };
  let marked: string | null = null;
  let due = wf.workflowInfo().typedSearchAttributes.get(searchAttribute.DueAt)?.toISOString() ?? null;
  let woken = false;
  let expanding: Promise<void> = Promise.resolve();
  wf.setHandler(wake, () => {
    woken = true;
  });
  wf.setHandler(progress, () => state);
  let stopping: Promise<void> | null = null;
  // The row is told before the lanes are: they hear of a cancellation with a heartbeat, seconds later, and claim until then.
  wf.CancellationScope.current().cancelRequested.catch(() => {
    if (wf.patched('row-cancelled-first')) stop().catch(() => undefined);
  });

  try {
    return await run();
  } catch (error) {
    if (!wf.isCancellation(error)) throw error;
    await wf.CancellationScope.nonCancellable(async () => {
      await stop();
      await cleanUp();
    });
    throw error;
  }

  /** Cancels the campaign for an operator who cancels the execution. */
  function stop(): Promise<void> {
    stopping ??= wf.CancellationScope.nonCancellable(() =>
      steadily((steps) => steps.cancelByOperator(campaignId, sendSeq)),
    );
    return stopping;
  }

  async function run(): Promise<CampaignSendResult> {
    const start = await begun();
    if (start === null) return end('gone', 'GONE');
    look(start);
    if (start.status === 'CANCELLED') return cleanUp();
    if (start.status !== 'SENDING')
      return end(start.status === 'SENT' ? 'sent' : 'draft', start.status === 'SENT' ? 'SENT' : 'DRAFT');

    state.lanes = start.lanes;
    if (!start.expanded) expanding = expand();
    // It is waited for below, after the lanes; a failure must not be an unhandled one until then.
    expanding.catch(() => undefined);
    let paused = start.paused;
    for (let round = 1; ; round += 1) {
      if (paused) {
        await pauseOf(round);
        paused = false;
      }
      woken = false;
      show('sending', '');
      const reports = await Promise.all(Array.from({ length: start.lanes }, (_, lane) => deliver(lane + 1)));
      if (reports.every((report) => report.end === 'empty' || report.end === 'stopped')) await expanding;
      show('finishing', '');
      const { done, waitMs, view } = await steadily((steps) => steps.finishSend(campaignId, sendSeq));
      if (view === null) return end('gone', 'GONE');
      look(view);
      if (view.status === 'CANCELLED') return cleanUp();
      if (done) return end('sent', 'SENT');
      paused = view.paused;
      if (round >= roundsPerRun || wf.workflowInfo().continueAsNewSuggested) {
        await expanding;
        await wf.continueAsNew<typeof campaignSend>({ campaignId, sendSeq });
      }
      if (!paused) await pauseAfter(reports, waitMs);
    }
  }

  /** Where the send stands once its time has come; null when it is gone. The row is read again at each wake. */
  async function begun(): Promise<SendStart | null> {
    for (let round = 1; ; round += 1) {
      woken = false;
      const view = await steadily((steps) => steps.beginSend(campaignId, sendSeq));
      if (view === null || view.status !== 'SCHEDULED') return view;
      // The start has set it.
      marked ??= 'SCHEDULED';
      look(view);
      show('scheduled', `due at ${view.dueAt}`);
      if (due !== view.dueAt) markDue(view.dueAt);
      due = view.dueAt;
      if (round >= roundsPerRun || wf.workflowInfo().continueAsNewSuggested)
        await wf.continueAsNew<typeof campaignSend>({ campaignId, sendSeq });
      const waitMs = Math.max(1, Math.min(view.dueMs ?? 0, longestTimerMs));
      await wf.condition(() => woken, waitMs, { summary: `due at ${view.dueAt}` });
    }
  }

  /** Waits until the row says that the campaign goes on, or is over; the lanes and `finishSend` see which. */
  async function pauseOf(round: number): Promise<void> {
    for (let looks = round; ; looks += 1) {
      show('paused', 'paused by request: nothing is handed over until it is resumed');
      if (looks >= roundsPerRun)
        await expanding.then(() => wf.continueAsNew<typeof campaignSend>({ campaignId, sendSeq }));
      await wf.condition(() => woken, longestPauseMs, { summary: 'paused' });
      woken = false;
      const view = await steadily((steps) => steps.beginSend(campaignId, sendSeq));
      if (view === null || !view.paused) return;
      look(view);
    }
  }

  async function expand(): Promise<void> {
    const recipients = await activities.expandAudience.executeWithOptions({ summary: 'freeze the audience' }, [
      campaignId,
      sendSeq,
    ]);
    state.recipients = recipients;
    if (wf.patched('recipients-once-frozen'))
      wf.upsertSearchAttributes([{ key: searchAttribute.Recipients, value: recipients }]);
  }

  function deliver(lane: number): Promise<SendLaneReport> {
    return activities.sendLane.executeWithOptions({ summary: `lane ${lane}` }, [campaignId, sendSeq]);
  }

  async function pauseAfter(reports: readonly SendLaneReport[], waitMs: number): Promise<void> {
    const held = reports.find((report) => report.held !== null);
    if (held !== undefined) {
      show('held', held.held ?? '');
      await wf.condition(() => woken, Math.max(1, Math.min(held.waitMs ?? 0, longestHoldMs)), {
        summary: 'the provider is held',
      });
      return;
    }
    // A lane whose share was over has more to do at once.
    if (reports.some((report) => report.end === 'share') || waitMs <= 0) return;
    show('sending', 'waiting for messages of which the provider has not said yet what became of them');
    await wf.condition(() => woken, Math.ceil(Math.min(waitMs, longestHoldMs)), { summary: 'messages in doubt' });
  }

  async function cleanUp(): Promise<CampaignSendResult> {
    show('cancelling', '');
    // No row may be added behind the clean-up's back.
    await expanding.catch(() => undefined);
    for (;;) {
      const report = await activities.cleanUpCancelled.executeWithOptions({ summary: 'clean up' }, [
        campaignId,
        sendSeq,
      ]);
      if (report.done) {
        const view = await steadily((steps) => steps.beginSend(campaignId, sendSeq));
        if (view !== null) look(view);
        return report.status === 'DRAFT' ? end('draft', 'DRAFT') : end('cancelled', 'CANCELLED');
      }
      await wf.sleep(Math.max(1, Math.ceil(report.waitMs)), { summary: 'messages in doubt' });
    }
  }

  function end(phase: CampaignProgress['phase'], status: CampaignSendResult['status']): CampaignSendResult {
    show(phase, '');
    mark(status);
    const { recipients, sent, skipped, failed } = state;
    if (status !== 'GONE')
      wf.upsertSearchAttributes([
        { key: searchAttribute.Recipients, value: recipients },
        { key: searchAttribute.Failed, value: failed },
      ]);
    return { status, recipients, sent, skipped, failed };
  }

  function look(view: { recipients: number; sent: number; skipped: number; failed: number }): void {
    state.recipients = view.recipients;
    state.sent = view.sent;
    // Histories from before it was counted apart have none.
    state.skipped = view.skipped ?? 0;
    state.failed = view.failed;
  }

  function show(phase: CampaignProgress['phase'], detail: string): void {
    state.phase = phase;
    state.detail = detail;
    const skipped = state.skipped === 0 ? '' : `, ${grouped(state.skipped)} skipped`;
    const failed = state.failed === 0 ? '' : `, ${grouped(state.failed)} failed`;
    const counts = `${grouped(state.sent)} of ${grouped(state.recipients)} handed over${skipped}${failed}`;
    wf.setCurrentDetails(`**${phase}** · ${counts}${detail === '' ? '' : `\n\n${detail}`}`);
    if (phase === 'held' || phase === 'paused' || phase === 'cancelling') mark(phase.toUpperCase());
    else if (phase === 'sending' && marked !== null) mark('SENDING');
  }

  // Each change is an event and a write to the visibility store. The start has set SENDING.
  function mark(value: string): void {
    if (value === (marked ?? 'SENDING')) return;
    marked = value;
    wf.upsertSearchAttributes([{ key: searchAttribute.State, value }]);
  }

  function markDue(at: string | null): void {
    if (at !== null) wf.upsertSearchAttributes([{ key: searchAttribute.DueAt, value: new Date(at) }]);
  }

  async function steadily<T>(step: (steps: Steps) => Promise<T>): Promise<T> {
    try {
      return await step(local);
    } catch (error) {
      if (wf.isCancellation(error)) throw error;
      return step(patient);
    }
  }
}

type Steps = Pick<CampaignActivities, 'beginSend' | 'finishSend' | 'cancelByOperator'>;

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
