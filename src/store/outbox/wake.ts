import type { Logger } from 'pino';
import { signals, taskQueue, workflowId } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { describeFailure } from '../../lib/network.ts';
import { activeTrace, traced, untraced } from '../../lib/telemetry.ts';
import { type Clock, pause } from '../../lib/time.ts';
import type { Database } from '../sql.ts';
import { signalOrStart } from './calls.ts';
import { longestWait, projectsWithWaitingMail } from './queries.ts';

const listDeadlineMs = 20_000;

/** A page of open executions, newest first. */
interface OpenExecutions {
  workflowIds: string[];
  /** ISO instant at which the oldest of them started; null when there are no older ones. */
  oldest: string | null;
}

/**
 * The open executions of automations of this installation that started before an instant, newest first, up to `limit`.
 * Visibility is a little behind: what began or ended in the last seconds may be missing or listed still.
 */
export async function openAutomations(
  temporal: TemporalConnection,
  queuePrefix: string,
  before: string,
  limit: number,
): Promise<OpenExecutions> {
  const query = [
    `WorkflowType = "automation"`,
    `ExecutionStatus = "Running"`,
    // Another installation may share the namespace.
    `TaskQueue = "${taskQueue(queuePrefix, 'automation')}"`,
    `StartTime < "${before}"`,
  ].join(' AND ');
  return temporal.within(listDeadlineMs, async () => {
    const workflowIds: string[] = [];
    let oldest: string | null = null;
    for await (const { workflowId, startTime } of temporal.client.workflow.list({ query, pageSize: limit })) {
      workflowIds.push(workflowId);
      oldest = startTime.toISOString();
      if (workflowIds.length === limit) return { workflowIds, oldest };
    }
    return { workflowIds, oldest: null };
  });
}

interface UnderWayDeps<T> {
  /** Most of them at once. */
  most: number;
  /** Which of them have not come to anything yet. */
  still(items: readonly T[]): Promise<readonly T[]>;
  /** How long nothing may come to anything, and by how much one may be overtaken, in milliseconds. */
  patienceMs?: number;
  /** Milliseconds of a clock. */
  now?(): number;
}

/**
 * Limits how much work has begun and not ended yet. One for each process and kind of work. What a later one overtakes by far is held up by something of its
 * own, and counts no more. Where nothing comes to anything, either all of it is held up or workers are behind: a few more are begun to find out, and not
 * all over again, which those who are behind would have to do as well.
 */
export class UnderWay<T> {
  readonly #deps: Required<UnderWayDeps<T>>;
  /** The least quota that is worth a batch. */
  readonly #enough: number;
  /** When each began; the oldest stand first. */
  readonly #begun = new Map<T, number>();
  /** When the latest began that has come to something. */
  #reached = Number.NEGATIVE_INFINITY;
  /** When something came to anything, or a few more were let in. */
  #movedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: UnderWayDeps<T>) {
    this.#deps = { patienceMs: 10_000, now: () => performance.now(), ...deps };
    this.#enough = Math.max(1, Math.ceil(deps.most / 4));
  }

  /** Says that one was begun. */
  add(item: T): void {
    this.#begun.set(item, this.#deps.now());
  }

  /** How many more may be begun now; none while there are only a few, which would make small batches of the rest. */
  async remaining(): Promise<number> {
    const { most } = this.#deps;
    if (most - this.#begun.size < this.#enough) await this.#check();
    const remaining = most - this.#begun.size;
    return remaining < this.#enough ? 0 : remaining;
  }

  async #check(): Promise<void> {
    const { still, patienceMs, now } = this.#deps;
    const asked = [...this.#begun];
    const left = new Set(await still(asked.map(([item]) => item)));
    const at = now();
    for (const [item, since] of asked) {
      if (left.has(item)) continue;
      this.#begun.delete(item);
      this.#reached = Math.max(this.#reached, since);
      this.#movedAt = at;
    }
    for (const [item, since] of asked) if (since < this.#reached - patienceMs) this.#begun.delete(item);
    const [oldest] = this.#begun.values();
    if (oldest === undefined || at - Math.max(oldest, this.#movedAt) < patienceMs) return;
    this.#movedAt = at;
    for (const item of [...this.#begun.keys()].slice(0, this.#enough)) this.#begun.delete(item);
  }
}

/** How long mail may be due before a sweep takes its wake for lost, in milliseconds. */
const overdueMs = 3000;
const firstPauseMs = 5000;
const longestPauseMs = 60_000;

/**
 * Builds the sweep that a worker runs every few seconds: it finds projects whose mail waits although nobody claims it, wakes
 * their delivery and answers how many it woke. A project that still has overdue mail the next time (its rate
 * limit holds it back, or the provider does) is woken less and less often, down to once a minute.
 */
export function createMailSweep(deps: { db: Database; waker: DeliveryWaker; clock: Clock }): () => Promise<number> {
  const woken = new Map<string, { dueAt: number; pauseMs: number }>();
  return async () => {
    const now = deps.clock().getTime();
    const projects = new Set(await projectsWithWaitingMail(deps.db, overdueMs));
    for (const id of woken.keys()) if (!projects.has(id)) woken.delete(id);
    let count = 0;
    for (const id of projects) {
      const last = woken.get(id);
      if (last !== undefined && now < last.dueAt) continue;
      const pauseMs = last === undefined ? firstPauseMs : Math.min(longestPauseMs, last.pauseMs * 2);
      woken.set(id, { dueAt: now + pauseMs, pauseMs });
      deps.waker.wake(id);
      count++;
    }
    return count;
  };
}

/** Wakes the delivery of a project's mail. One for each process. */
export interface DeliveryWaker {
  /**
   * Says that the project has mail in `email_queue`; call it after the commit. Never throws: wakes within a few
   * milliseconds are one signal, and the worker's sweep finds what a lost one left. Mail that is not due yet `isLater`.
   */
  wake(projectId: string, isLater?: boolean): void;
  /** Resolves when no wake is under way. */
  drain(): Promise<void>;
}

interface WakerDeps {
  db: Database;
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
  /** How long wakes of one project are collected, in milliseconds. */
  windowMs?: number;
  /** Shortest time after a signal before it is checked whether mail that came since is taken, in milliseconds. */
  gapMs?: number;
}

const firstGapMs = 100;
// Less than a delivery watches an empty queue, so that mail that comes between two checks is taken by the one that is at work.
const longestGapMs = 400;
/** Where a delivery is at work, mail is claimed within this time. */
const takenWithinMs = 200;
// Mail that was there at the last signal waits for its turn. A signal more can only make up for one that was lost.
const firstRestMs = 400;
const longestRestMs = 3_200;

/** Builds the process's waker. */
export function createDeliveryWaker(deps: WakerDeps): DeliveryWaker {
  // A project is listed from its first wake until a gap passes without one, and says whether there was one since the last check.
  const again = new Map<string, boolean>();
  // Projects that were woken for later mail since their last signal.
  const later = new Set<string>();
  // The last traced request since the last signal: the delivery that it wakes is of its trace.
  const traces = new Map<string, string>();
  const underWay = new Set<Promise<void>>();
  const signal = signallerOf(deps, traces);
  let isDraining = false;

  return {
    wake(projectId, isLater = false) {
      const trace = activeTrace();
      if (trace !== null) traces.set(projectId, trace);
      if (isLater) later.add(projectId);
      if (again.has(projectId)) {
        again.set(projectId, true);
        return;
      }
      again.set(projectId, false);
      const work = untraced(() => wakeProject(projectId)).finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async drain() {
      isDraining = true;
      while (underWay.size > 0) await Promise.all(underWay);
      isDraining = false;
    },
  };

  // Each signal makes four events of a history that whoever takes the execution over has to replay. So while mail keeps coming, only mail that
  // nobody takes is worth another one.
  async function wakeProject(projectId: string): Promise<void> {
    let gapMs = deps.gapMs ?? firstGapMs;
    let restMs = firstRestMs;
    let isYoung = false;
    await pause(deps.windowMs ?? 3);
    again.set(projectId, false);
    later.delete(projectId);
    let signalledAt = performance.now();
    await signal(projectId);
    for (;;) {
      await pause(gapMs);
      gapMs = Math.min(gapMs * 2, deps.gapMs ?? longestGapMs);
      if (!isYoung && again.get(projectId) !== true && !later.has(projectId)) break;
      again.set(projectId, false);
      // Postgres that does not answer says nothing of the mail.
      const waitsMs = await longestWait(deps.db, projectId).catch(() => Number.POSITIVE_INFINITY);
      const sinceMs = performance.now() - signalledAt;
      // Some mail is always young where other processes keep queueing it: one that stops signals once more instead of watching.
      isYoung = !isDraining && waitsMs !== null && waitsMs < takenWithinMs;
      // Nothing shows whether a delivery that is at work has seen mail that is not due.
      const isUnseen = later.has(projectId) && (isDraining || sinceMs >= restMs);
      if (!isUnseen && (waitsMs === null || isYoung || (waitsMs >= sinceMs && sinceMs < restMs))) continue;
      restMs = Math.min(restMs * 2, longestRestMs);
      later.delete(projectId);
      signalledAt = performance.now();
      await signal(projectId);
    }
    again.delete(projectId);
    traces.delete(projectId);
  }
}

/** Returns what signals the delivery of a project, as a part of the trace that is kept for it, which it takes. Never rejects. */
function signallerOf(deps: WakerDeps, traces: Map<string, string>): (projectId: string) => Promise<void> {
  let failing = false;
  return async (projectId) => {
    const parent = traces.get(projectId);
    traces.delete(projectId);
    if (parent === undefined) await signal(projectId);
    else await traced('wake delivery', { kind: 'producer', parent }, () => signal(projectId));
  };

  async function signal(projectId: string): Promise<void> {
    try {
      await signalDelivery(deps, projectId);
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

function signalDelivery({ temporal, queuePrefix }: WakerDeps, projectId: string): Promise<void> {
  return signalOrStart(
    temporal,
    queuePrefix,
    {
      workflow: 'emailDelivery',
      id: workflowId.delivery(projectId),
      input: { projectId },
      searchAttributes: { ProjectId: projectId, Kind: 'delivery' },
      staticSummary: 'Delivers the mail of one project that is no campaign',
    },
    signals.wake,
  );
}
