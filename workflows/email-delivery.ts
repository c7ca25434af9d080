import * as wf from '@temporalio/workflow';
import type { EmailActivities, SystemMailActivities } from '../activities/mail.ts';
import { queries, searchAttribute, signals } from '../temporal/commands.ts';
import { isHistoryLong } from './steps.ts';

const { deliverPending } = wf.proxyActivities<EmailActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Says that the project has mail: the queue must be read again. */
const wake = wf.defineSignal(signals.wake);

/** The progress of a delivery, for the Temporal Web UI. */
interface DeliveryProgress {
  phase: 'delivering' | 'waiting' | 'held' | 'idle';
  delivered: number;
  failed: number;
  detail: string;
}
/** Answers `DeliveryProgress`. */
const progress = wf.defineQuery<DeliveryProgress>(queries.progress);

// An ended execution costs more to start than an open one costs to wake.
const idleMs = 5_000;
// The circuit breaker may close early by another project's probe, so that it is re-checked this often.
const longestHoldMs = 60_000;

/** The state that a run passes to the next run of the same delivery. */
interface DeliverySoFar {
  delivered: number;
  failed: number;
  /** Whether the State attribute says HELD. */
  held: boolean;
}

/**
 * Delivers the mail of one project that is no campaign's: woken by new mail, it runs the streaming activity until nothing
 * is left, sleeps while mail is put off or the provider is held, and ends when it has been idle for some seconds. A wake
 * that arrives while it ends is not lost: Temporal refuses to close a run with an unhandled signal, and one that comes
 * later starts a new run.
 */
export async function emailDelivery({
  projectId,
  soFar = { delivered: 0, failed: 0, held: false },
}: {
  projectId: string;
  soFar?: DeliverySoFar;
}): Promise<{ delivered: number; failed: number }> {
  const state: DeliveryProgress = { phase: 'delivering', delivered: soFar.delivered, failed: soFar.failed, detail: '' };
  let marked = soFar.held;
  let woken = false;
  wf.setHandler(wake, () => {
    woken = true;
  });
  wf.setHandler(progress, () => state);

  for (;;) {
    woken = false;
    const report = await deliverPending(projectId);
    state.delivered += report.delivered;
    state.failed += report.failed;
    mark(report.held !== null);
    // The counts go along; what else there is to know stands in the rows.
    if (isHistoryLong())
      await wf.continueAsNew<typeof emailDelivery>({
        projectId,
        soFar: { delivered: state.delivered, failed: state.failed, held: marked },
      });
    if (report.waitMs === 0) continue;
    if (report.held !== null) {
      show('held', report.held);
      await wf.sleep(Math.min(report.waitMs ?? 0, longestHoldMs), { summary: 'the mail provider is held' });
    } else if (report.waitMs !== null) {
      show('waiting', 'mail is put off until its next attempt');
      await wf.condition(() => woken, Math.ceil(report.waitMs));
    } else {
      show('idle', '');
      if (!(await wf.condition(() => woken, idleMs))) return { delivered: state.delivered, failed: state.failed };
    }
    show('delivering', '');
  }

  function show(phase: DeliveryProgress['phase'], detail: string): void {
    state.phase = phase;
    state.detail = detail;
    const failed = state.failed === 0 ? '' : `, ${state.failed} failed`;
    wf.setCurrentDetails(`**${phase}** · ${state.delivered} delivered${failed}${detail === '' ? '' : `\n\n${detail}`}`);
  }

  // Each change is an event and a write to the visibility store, and only a hold is worth one.
  function mark(held: boolean): void {
    if (held === marked) return;
    marked = held;
    wf.upsertSearchAttributes([{ key: searchAttribute.State, value: held ? 'HELD' : null }]);
  }
}

const { sendSystemMail } = wf.proxyActivities<SystemMailActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

/** Sends one mail of the service itself; the row says when it is given up. */
export async function systemMail({ mailId }: { mailId: string }): Promise<string> {
  while (!isHistoryLong()) {
    const report = await sendSystemMail(mailId);
    if (report.state !== 'later') return report.state;
    wf.setCurrentDetails(`Tried again in ${Math.ceil(report.waitMs / 1000)} s`);
    await wf.sleep(report.waitMs);
  }
  return wf.continueAsNew<typeof systemMail>({ mailId });
}
