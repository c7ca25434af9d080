import { removeDone } from '../src/outbox/queries.ts';
import type { QueueKind } from '../temporal/commands.ts';
import type { ActivityDeps } from './deps.ts';
import { type ReconcileCheck, type RetentionRule, sweepActivities } from './sweeps.ts';

/** The activities of each task queue. A worker serves the queues that are named here. */
export function createActivities(deps: ActivityDeps): Partial<Record<QueueKind, object>> {
  return {
    mail: {},
    campaign: {},
    bulk: sweepActivities({ checks: reconcileChecks(), rules: retentionRules(deps), log: deps.log }),
  };
}

// Each subject that can be left stuck by a crash, or by a lost Temporal store, adds its check here.
function reconcileChecks(): ReconcileCheck[] {
  return [];
}

// Each subject whose rows need not be kept for ever adds its rule here.
function retentionRules({ db, config }: ActivityDeps): RetentionRule[] {
  return [{ name: 'outbox', removeSome: (limit) => removeDone(db, config.OUTBOX_RETENTION_HOURS, limit) }];
}
