import type { Logger } from 'pino';
import { signals, workflowId } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { describeFailure } from '../lib/grpc.ts';
import { pause } from '../lib/time.ts';
import { signalOrStart } from './calls.ts';

/** Wakes the delivery of a project's mail. One for each process. */
export interface DeliveryWaker {
  /**
   * Says that the project has mail in `email_queue`; call it after the commit. Never throws: wakes within a few
   * milliseconds are one signal, and the worker's sweep finds what a lost one left.
   */
  wake(projectId: string): void;
  /** Resolves when no wake is under way. */
  drain(): Promise<void>;
}

interface WakerDeps {
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
  /** How long wakes of one project are collected, in milliseconds. */
  windowMs?: number;
  /**
   * Shortest time between two signals to one project, in milliseconds. Each signal costs Temporal a task; mail that is
   * queued meanwhile is found by the delivery that the first one woke, for it watches an empty queue for longer than this.
   */
  gapMs?: number;
}

const firstGapMs = 100;
// While mail keeps coming the delivery is at work anyway, and signals only make sure of it: the gap doubles up to this, which is less
// than the delivery watches an empty queue.
const longestGapMs = 400;

/** Builds the process's waker. */
export function createDeliveryWaker(deps: WakerDeps): DeliveryWaker {
  // A project is listed from its first wake until a signal that began after its last one has ended, and the gap is over.
  const again = new Map<string, boolean>();
  const underWay = new Set<Promise<void>>();
  let failing = false;

  return {
    wake(projectId) {
      if (again.has(projectId)) {
        again.set(projectId, true);
        return;
      }
      again.set(projectId, false);
      const work = wakeProject(projectId).finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async drain() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };

  async function wakeProject(projectId: string): Promise<void> {
    let gapMs = deps.gapMs ?? firstGapMs;
    do {
      await pause(deps.windowMs ?? 3);
      again.set(projectId, false);
      await signal(projectId);
      await pause(gapMs);
      gapMs = Math.min(gapMs * 2, deps.gapMs ?? longestGapMs);
    } while (again.get(projectId) === true);
    again.delete(projectId);
  }

  async function signal(projectId: string): Promise<void> {
    try {
      await signalOrStart(
        deps.temporal,
        deps.queuePrefix,
        {
          workflow: 'emailDelivery',
          id: workflowId.delivery(projectId),
          input: { projectId },
          searchAttributes: { ProjectId: projectId, Kind: 'delivery' },
          staticSummary: 'Delivers the mail of one project that is no campaign',
        },
        signals.wake,
      );
      if (failing) deps.log.info('wakes of the delivery reach Temporal again');
      failing = false;
    } catch (error) {
      if (!failing) {
        const reason = describeFailure(error, deps.temporal.settings);
        deps.log.warn({ projectId }, `a wake of the delivery was lost, the sweep repeats it: ${reason}`);
      }
      failing = true;
    }
  }
}
