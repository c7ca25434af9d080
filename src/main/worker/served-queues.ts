import { type QueueKind, taskQueue } from '../../../temporal/commands.ts';

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
