import { CancelledFailure, type Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Logger } from 'pino';
import { Counter, Histogram, type Registry } from 'prom-client';

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

function projectOf([first]: readonly unknown[]): string | undefined {
  if (typeof first !== 'object' || first === null || !('projectId' in first)) return undefined;
  return typeof first.projectId === 'string' ? first.projectId : undefined;
}
