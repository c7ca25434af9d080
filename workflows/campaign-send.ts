import * as wf from '@temporalio/workflow';
import type { CampaignActivities, SendLaneReport, SendStart } from '../activities/campaign.ts';
import { CampaignStatus } from '../src/lib/enums.ts';
import { queries, signals } from '../temporal/commands.ts';
import { type CampaignProgress, type CampaignSendResult, ProgressDisplay } from './campaign-progress.ts';
import { isHistoryLong, patiently } from './steps.ts';

const local = wf.proxyLocalActivities<CampaignActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 ms', backoffCoefficient: 2, maximumInterval: '1 second', maximumAttempts: 5 },
});
const activities = wf.proxyActivities<CampaignActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  // A lane that has to stop finishes the calls it has made to the provider, and the workflow waits for that.
  cancellationType: wf.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});
const patient = wf.proxyActivities<CampaignActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
const steadily = patiently(local, patient);

/** Says that the campaign's row has changed and must be read again. */
const wake = wf.defineSignal(signals.wake);

/** Answers `CampaignProgress`. */
const progress = wf.defineQuery<CampaignProgress>(queries.progress);

/** The input of an execution: which send of which campaign. The rows hold everything else. */
export interface CampaignSendInput {
  campaignId: string;
  sendSeq: number;
}

// Another campaign's probe may close the circuit breaker early, so that it is re-checked this often.
const longestHoldMs = 60_000;
// Rows decide. A signal may be lost, so the row is re-read once in a while without one.
const longestPauseMs = 3_600_000;
const longestTimerMs = 86_400_000;
// A run ends well before the limits of histories; a round of lanes is about five events for each lane.
const roundsPerRun = 200;

/**
 * Sends a campaign: waits until it is due, freezes its audience, lets a few lanes deliver, and ends when every recipient is
 * accounted for. All state is in the rows, so an execution may be killed, cancelled or started again at any moment. Cancelling
 * it in the Web UI cancels the campaign.
 */
export async function campaignSend(input: CampaignSendInput): Promise<CampaignSendResult> {
  const send = new Send(input);
  // The row is cancelled before the lanes are: they learn of it with a heartbeat, seconds later, and claim until then.
  wf.CancellationScope.current().cancelRequested.catch(() => {
    if (wf.patched('row-cancelled-first')) send.stop().catch(() => undefined);
  });
  try {
    return await send.run();
  } catch (error) {
    if (!wf.isCancellation(error)) throw error;
    await wf.CancellationScope.nonCancellable(async () => {
      await send.stop();
      await send.cleanUp();
    });
    throw error;
  }
}

/** One execution: what it remembers between its steps. */
class Send {
  readonly #input: CampaignSendInput;
  readonly #key: [campaignId: string, sendSeq: number];
  readonly #display = new ProgressDisplay();
  #woken = false;
  #expanding: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | null = null;

  constructor(input: CampaignSendInput) {
    this.#input = input;
    this.#key = [input.campaignId, input.sendSeq];
    wf.setHandler(wake, () => {
      this.#woken = true;
    });
    wf.setHandler(progress, () => this.#display.progress);
  }

  /** Cancels the campaign for an operator who cancels the execution. */
  stop(): Promise<void> {
    this.#stopping ??= wf.CancellationScope.nonCancellable(() =>
      steadily((steps) => steps.cancelByOperator(...this.#key)),
    );
    return this.#stopping;
  }

  async run(): Promise<CampaignSendResult> {
    const start = await this.#untilDue();
    if (start === null) return this.#display.end('gone', 'GONE');
    this.#display.count(start);
    if (start.status === CampaignStatus.CANCELLED) return this.cleanUp();
    if (start.status === CampaignStatus.SENT) return this.#display.end('sent', CampaignStatus.SENT);
    if (start.status !== CampaignStatus.SENDING) return this.#display.end('draft', CampaignStatus.DRAFT);

    if (!start.expanded) this.#expanding = this.#expand();
    // It is awaited after the first round; until then a failure must not count as unhandled.
    this.#expanding.catch(() => undefined);
    return this.#sendInRounds(start);
  }

  async #sendInRounds(start: SendStart): Promise<CampaignSendResult> {
    this.#display.progress.lanes = start.lanes;
    let { paused } = start;
    // Only sends from after there were canaries have one, so that what is replayed from before never comes here.
    if (start.canary === true) paused = await this.#untilCanaryIsOver(start);
    for (let round = 1; ; round += 1) {
      if (paused) await this.#untilResumed(round);
      this.#woken = false;
      this.#display.show('sending');
      const reports = await this.#deliver(start.lanes);
      if (reports.every((report) => report.end === 'empty' || report.end === 'stopped')) await this.#expanding;
      this.#display.show('finishing');
      const { done, waitMs, quiet, view } = await steadily((steps) => steps.finishSend(...this.#key));
      if (view === null) return this.#display.end('gone', 'GONE');
      this.#display.count(view);
      if (view.status === CampaignStatus.CANCELLED) return this.cleanUp();
      if (done) return this.#display.end('sent', CampaignStatus.SENT);
      paused = view.paused;
      if (isLongEnough(round)) await this.#continueInNewRun();
      if (!paused) await this.#waitAfter(reports, waitMs, quiet ?? null);
    }
  }

  /** Sends the canary and holds everybody else back until it is over. Answers whether the campaign is paused then. */
  async #untilCanaryIsOver(start: SendStart): Promise<boolean> {
    let { paused } = start;
    // Its members are chosen once all recipients are frozen.
    await this.#expanding;
    for (let round = 1; ; round += 1) {
      if (paused) await this.#untilResumed(round);
      this.#woken = false;
      const step = await steadily((steps) => steps.advanceCanary(...this.#key));
      if (step.view !== null) this.#display.count(step.view);
      if (step.next === 'over') return step.view?.paused === true;
      if (isLongEnough(round)) await this.#continueInNewRun();
      paused = step.next === 'paused';
      if (step.next === 'hold') {
        this.#display.show('held', step.detail);
        await this.#untilWoken(step.waitMs, 'canary');
      } else if (step.next === 'send') await this.#deliverCanary(start.lanes, step.detail);
    }
  }

  async #deliverCanary(lanes: number, detail: string): Promise<void> {
    this.#display.show('sending', detail);
    const reports = await this.#deliver(lanes);
    const isIdle = reports.every(({ sent, skipped, failed }) => sent + skipped + failed === 0);
    const waits = reports.flatMap(({ waitMs }) => waitMs ?? []);
    await this.#waitAfter(reports, Math.max(isIdle ? 1000 : 0, Math.min(...waits, longestHoldMs * waits.length)));
  }

  /** Where the send stands once it is due; null when the campaign is gone. The row is read again at each wake. */
  async #untilDue(): Promise<SendStart | null> {
    for (let round = 1; ; round += 1) {
      this.#woken = false;
      const view = await steadily((steps) => steps.beginSend(...this.#key));
      if (view === null || view.status !== CampaignStatus.SCHEDULED) return view;
      this.#display.count(view);
      this.#display.showScheduled(view.dueAt);
      if (isLongEnough(round)) await this.#continueInNewRun();
      await this.#untilWoken(Math.min(view.dueMs ?? 0, longestTimerMs), `due at ${view.dueAt}`);
    }
  }

  /** Waits until the row says that the campaign goes on or is over; the lanes and `finishSend` see which. */
  async #untilResumed(round: number): Promise<void> {
    for (let checks = round; ; checks += 1) {
      this.#display.show('paused', 'paused by request: nothing is handed over until it is resumed');
      if (checks >= roundsPerRun) await this.#continueInNewRun();
      await this.#untilWoken(await this.#settlePaused(), 'paused');
      this.#woken = false;
      const view = await steadily((steps) => steps.beginSend(...this.#key));
      if (view === null || !view.paused) return;
      this.#display.count(view);
    }
  }

  /** Looks up what may have left before the pause. Answers when to re-check, in milliseconds. */
  async #settlePaused(): Promise<number> {
    if (!wf.patched('settled-while-paused')) return longestPauseMs;
    const summary = 'look up what left before the pause';
    const { waitMs } = await activities.settlePaused.executeWithOptions({ summary }, this.#key);
    return waitMs === null ? longestPauseMs : Math.min(Math.max(1000, Math.ceil(waitMs)), longestHoldMs);
  }

  async #expand(): Promise<void> {
    const summary = 'freeze the audience';
    this.#display.showFrozen(await activities.expandAudience.executeWithOptions({ summary }, this.#key));
  }

  #deliver(lanes: number): Promise<SendLaneReport[]> {
    const each = Array.from({ length: lanes }, (_, lane) => `lane ${lane + 1}`);
    return Promise.all(each.map((summary) => activities.sendLane.executeWithOptions({ summary }, this.#key)));
  }

  async #waitAfter(reports: readonly SendLaneReport[], waitMs: number, quiet: string | null = null): Promise<void> {
    const held = reports.find((report) => report.held !== null);
    if (held !== undefined) {
      this.#display.show('held', held.held ?? '');
      return this.#untilWoken(Math.min(held.waitMs ?? 0, longestHoldMs), 'the circuit breaker is open');
    }
    // A lane whose share was over has more to do at once.
    if (reports.some((report) => report.end === 'share') || waitMs <= 0) return;
    // Whatever is due before the first of them has made `waitMs` shorter.
    if (quiet !== null && wf.patched('quiet-hours')) {
      this.#display.show('held', quiet);
      return this.#untilWoken(Math.ceil(Math.min(waitMs, longestTimerMs)), 'quiet hours');
    }
    this.#display.show('sending', 'waiting for messages that the provider has not confirmed yet');
    await this.#untilWoken(Math.ceil(Math.min(waitMs, longestHoldMs)), 'unconfirmed messages');
  }

  async #untilWoken(longestMs: number, summary: string): Promise<void> {
    await wf.condition(() => this.#woken, Math.max(1, longestMs), { summary });
  }

  /** Goes on in a run with an empty history, with all recipients frozen. */
  async #continueInNewRun(): Promise<void> {
    await this.#expanding;
    await wf.continueAsNew<typeof campaignSend>(this.#input);
  }

  async cleanUp(): Promise<CampaignSendResult> {
    this.#display.show('cancelling');
    // No row may be added behind the clean-up's back.
    await this.#expanding.catch(() => undefined);
    for (;;) {
      const report = await activities.cleanUpCancelled.executeWithOptions({ summary: 'clean up' }, this.#key);
      if (report.done) {
        const view = await steadily((steps) => steps.beginSend(...this.#key));
        if (view !== null) this.#display.count(view);
        return report.status === CampaignStatus.DRAFT
          ? this.#display.end('draft', CampaignStatus.DRAFT)
          : this.#display.end('cancelled', CampaignStatus.CANCELLED);
      }
      await wf.sleep(Math.max(1, Math.ceil(report.waitMs)), { summary: 'unconfirmed messages' });
    }
  }
}

function isLongEnough(round: number): boolean {
  return round >= roundsPerRun || isHistoryLong();
}
