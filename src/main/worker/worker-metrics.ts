import { CancelledFailure, type Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { type QueueKind, taskQueue } from '../../../temporal/commands.ts';
import { traceOfHeaders } from '../../../temporal/connection.ts';
import type { EnrolDeps } from '../../automations/runtime/enrol.ts';
import { measureProcess, traced } from '../../lib/telemetry.ts';
import type { OutboxDeps } from '../../store/outbox/dispatcher.ts';

/** Sees each attempt of an activity. */
export type ActivityInterceptor = (context: Context) => ActivityInterceptors;

/** Writes one line for each attempt of an activity, and counts it when there is a registry. Payloads are never shown. */
export function logActivities(log: Logger, registry: Registry | null): ActivityInterceptor {
  const seconds =
    registry &&
    new Histogram({
      name: 'fernpost_activity_seconds',
      help: 'Time of one attempt of an activity',
      labelNames: ['activity'],
      buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 600],
      registers: [registry],
    });
  const attempts =
    registry &&
    new Counter({
      name: 'fernpost_activity_attempts_total',
      help: 'Attempts of activities, by how they ended',
      labelNames: ['activity', 'outcome'],
      registers: [registry],
    });
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const began = performance.now();
        const end = (outcome: 'done' | 'failed' | 'cancelled', error?: unknown) => {
          const durationMs = Math.round(performance.now() - began);
          seconds?.observe({ activity: info.activityType }, durationMs / 1000);
          attempts?.inc({ activity: info.activityType, outcome });
          const facts = {
            activity: info.activityType,
            workflowId: info.workflowExecution?.workflowId,
            projectId: projectOf(input.args),
            attempt: info.attempt,
            local: info.isLocal || undefined,
            durationMs,
            outcome,
          };
          if (outcome === 'failed') log.warn({ ...facts, err: error }, 'activity');
          else log.info(facts, 'activity');
        };
        try {
          const result = await next(input);
          end('done');
          return result;
        } catch (error) {
          end(error instanceof CancelledFailure ? 'cancelled' : 'failed', error);
          throw error;
        }
      },
    },
  });
}

/** Runs each attempt of an activity in a span, where its execution was started or signalled by what is traced. */
export const traceActivities: ActivityInterceptor = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const parent = traceOfHeaders(input.headers);
      if (parent === null) return next(input);
      const { workflowExecution, workflowType, activityType, attempt } = info;
      const facts = {
        'temporal.workflow.type': workflowType ?? '',
        'temporal.workflow.id': workflowExecution?.workflowId ?? '',
        'temporal.run.id': workflowExecution?.runId ?? '',
        'temporal.activity.attempt': attempt,
      };
      return traced(`activity ${activityType}`, { kind: 'consumer', parent, facts }, () => next(input));
    },
  },
});

function projectOf([first]: readonly unknown[]): string | undefined {
  if (typeof first !== 'object' || first === null || !('projectId' in first)) return undefined;
  return typeof first.projectId === 'string' ? first.projectId : undefined;
}

// How the memory for cached executions is shared out, and how many activities run at once. A campaign's activity holds
// several batches of messages; an automation's execution waits for days; no workflow runs on `http`.
const queueShares: Record<QueueKind, { cache: number; activities: number }> = {
  mail: { cache: 0.25, activities: 32 },
  campaign: { cache: 0.1, activities: 8 },
  automation: { cache: 0.55, activities: 64 },
  bulk: { cache: 0.1, activities: 8 },
  http: { cache: 0, activities: 64 },
};
const cachedExecutionBytes = 400_000;

/** How many executions a process caches: a twentieth of the memory it may use, between 100 and 400. */
export function cachedExecutions(memoryBytes: number): number {
  return Math.round(Math.min(400, Math.max(100, memoryBytes / 20 / cachedExecutionBytes)));
}

/** One task queue as a worker process serves it. */
export interface ServedQueue {
  taskQueue: string;
  activities: object;
  /** Executions kept in memory between their tasks, at about 0.4 MB each; none where only activities run. */
  maxCachedWorkflows: number;
  maxActivities: number;
}

/** The queues that have activities, each with its share of this process's memory. */
export function servedQueues(queuePrefix: string, activities: Partial<Record<QueueKind, object>>): ServedQueue[] {
  // Zero means that this platform does not tell of a limit; a container's limit counts, not the machine's memory.
  const total = cachedExecutions(process.constrainedMemory() || process.availableMemory());
  return Object.entries(activities).map(([name, implementations]) => {
    const kind = name as QueueKind;
    return {
      taskQueue: taskQueue(queuePrefix, kind),
      activities: implementations,
      maxCachedWorkflows: queueShares[kind].cache && Math.max(2, Math.round(total * queueShares[kind].cache)),
      maxActivities: queueShares[kind].activities,
    };
  });
}

/** The metrics of a worker, and what its parts call to count. Those of activities are added by `logActivities`. */
export interface WorkerMetrics {
  readonly registry: Registry;
  readonly onCall: NonNullable<OutboxDeps['onCall']>;
  readonly onOutcome: NonNullable<EnrolDeps['onOutcome']>;
}

/** Makes the registry. */
export function createWorkerMetrics(): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  measureProcess(registry);
  const calls = new Counter({
    name: 'fernpost_outbox_calls_total',
    help: 'Calls to Temporal that the outbox asked for, by how they ended',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
  const starts = new Counter({
    name: 'fernpost_automation_starts_total',
    help: 'Starts of automations that events and schedules asked for, by what became of them',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return {
    registry,
    onCall: (kind, outcome) => calls.inc({ kind, outcome }),
    onOutcome: (outcome, count) => starts.inc({ outcome }, count),
  };
}
