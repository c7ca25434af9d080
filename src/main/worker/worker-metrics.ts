import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { EnrolDeps } from '../../automations/runtime/enrol.ts';
import type { OutboxDeps } from '../../core/outbox/dispatcher.ts';

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
