import { queuePrefix as earlierQueuePrefix } from '@fernpost/earlier-name';
import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import { hasWorkedOn } from '../../core/outbox/store-state.ts';

/**
 * The settings with the task queues that this installation uses: those of TEMPORAL_TASK_QUEUE. Where it is not set, an installation whose
 * reconciler has run on the queues of the earlier name keeps them, because its open executions are there.
 */
export async function withOwnQueues(config: Config, db: Database): Promise<Config> {
  if (config.namesQueues || !(await hasWorkedOn(db, earlierQueuePrefix))) return config;
  return { ...config, TEMPORAL_TASK_QUEUE: earlierQueuePrefix };
}
