import { createRequire } from 'node:module';
import { Worker as Thread } from 'node:worker_threads';
import { type Logger, Worker, type WorkerOptions } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** Workers of several task queues that run their workflows in one thread. */
export interface WorkflowThread {
  createWorker(options: WorkerOptions): Promise<Worker>;
  /** Ends the thread, once the workers have stopped. */
  close(): Promise<void>;
}

const program = createRequire(import.meta.url).resolve('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
// What the main thread needs for its young objects would be kept here for garbage: 100 MB with thousands of executions.
const youngMegabytes = 16;

/**
 * The SDK gives each worker a thread, which holds the SDK and the bundle in a V8 heap of its own: 45 MB each. Runs are found by
 * their ids there, whichever worker they belong to, so one thread does for all. `activityNames`: those of all queues.
 * All workers must name the same bundle: it is read once, where the SDK would keep a copy with its source map for each (5 MB).
 */
export function shareWorkflowThread(activityNames: readonly string[]): WorkflowThread {
  let shared: Promise<ThreadedVMWorkflowCreator> | null = null;
  let bundle: Promise<WorkflowBundleWithSourceMapAndFilename | undefined> | null = null;
  class ThreadSharingWorker extends Worker {
    protected static override async getOrCreateBundle(options: CompiledWorkerOptions, logger: Logger) {
      if (options.workflowBundle === undefined) return undefined;
      bundle ??= Worker.getOrCreateBundle(options, logger);
      return bundle;
    }

    static override async createWorkflowCreator(
      workflowBundle: WorkflowBundleWithSourceMapAndFilename,
      { isolateExecutionTimeoutMs }: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<WorkflowCreator> {
      const start = async () => {
        const thread = new Thread(program, { resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes } });
        const client = new WorkerThreadClient(thread, logger);
        await client.send({
          type: 'init',
          workflowBundle,
          isolateExecutionTimeoutMs,
          reuseV8Context: true,
          registeredActivityNames: new Set(activityNames),
          hasPatchActivationCallback: false,
        });
        return new ThreadedVMWorkflowCreator([client]);
      };
      shared ??= start();
      const creator = await shared;
      return { createWorkflow: (workflow) => creator.createWorkflow(workflow), destroy: async () => undefined };
    }
  }
  return {
    createWorker: (options) => ThreadSharingWorker.create(options),
    close: async () => (await shared)?.destroy(),
  };
}
