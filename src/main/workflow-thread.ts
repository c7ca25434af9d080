import { type Logger, Worker, type WorkerOptions } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** Workers of several task queues that run their workflows in one thread. */
export interface WorkflowThread {
  createWorker(options: WorkerOptions): Promise<Worker>;
  /** Ends the thread, once the workers have stopped. */
  close(): Promise<void>;
}

/**
 * The SDK gives each worker a thread, which holds the SDK and the bundle in a V8 heap of its own: 45 MB each. Runs are found by
 * their ids there, whichever worker they belong to, so one thread does for all. `activityNames`: those of all queues.
 */
export function shareWorkflowThread(activityNames: readonly string[]): WorkflowThread {
  let shared: Promise<WorkflowCreator> | null = null;
  class ThreadSharingWorker extends Worker {
    static override async createWorkflowCreator(
      bundle: WorkflowBundleWithSourceMapAndFilename,
      options: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<WorkflowCreator> {
      const activities = new Map(activityNames.map((name) => [name, async () => undefined]));
      shared ??= Worker.createWorkflowCreator(bundle, { ...options, activities }, logger);
      const creator = await shared;
      return { createWorkflow: (workflow) => creator.createWorkflow(workflow), destroy: async () => undefined };
    }
  }
  return {
    createWorker: (options) => ThreadSharingWorker.create(options),
    close: async () => (await shared)?.destroy(),
  };
}
