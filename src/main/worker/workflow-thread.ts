import { createRequire } from 'node:module';
import { Worker as Thread } from 'node:worker_threads';
import { type Logger, Worker, type WorkerOptions } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type {
  WorkerThreadInput,
  WorkflowBundleWithSourceMapAndFilename,
} from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import type { Logger as AppLogger } from 'pino';

/** Workers of several task queues that run their workflows in one thread. */
export interface WorkflowThread {
  createWorker(options: WorkerOptions): Promise<Worker>;
  /** Ends the thread, once the workers have stopped. */
  close(): Promise<void>;
}

/** The workers of the SDK as they are: each runs its workflows in a thread of its own. */
export const ownThreads: WorkflowThread = {
  createWorker: (options) => Worker.create(options),
  close: async () => undefined,
};

// The stock worker keeps memory for the young objects of a main thread; with thousands of executions that is 100 MB of garbage.
const youngMegabytes = 16;

// Node starts and ends an operating system's thread for each call into a context that has a time limit, 0.1 ms of processor time.
// So calls have none, and the thread as a whole is watched; once one hung, later threads of the process limit each call as the SDK does.
const noTimeLimit = undefined as unknown as number;
const tickMs = 1_000;
const mostSilentTicks = 10;
let hasHung = false;

/** The private modules of the SDK that sharing a thread takes. */
export interface PrivateModules {
  threads: typeof import('@temporalio/worker/lib/workflow/threaded-vm.js');
  /** The program that runs in the thread, as code for `require`. */
  program: string;
}

/**
 * Loads the private modules of the SDK. The public interface has no way to share a thread, and a version of the SDK may move them.
 * @throws Error that names what is missing
 */
export async function loadPrivateModules(): Promise<PrivateModules> {
  const threads = await import('@temporalio/worker/lib/workflow/threaded-vm.js');
  const { resolve } = createRequire(import.meta.url);
  const [hooks, thread] = ['vm-shared', 'workflow-worker-thread'].map((name) =>
    JSON.stringify(resolve(`@temporalio/worker/lib/workflow/${name}.js`)),
  );
  // The SDK writes down where every promise of a workflow was made, for the query behind Call Stack of the Web UI: two fifths of what workflows
  // cost. What an execution waits for is in its details and its own queries.
  const program = `require(${hooks}).globalHandlers.setPromiseHook = () => undefined; require(${thread});`;
  const missing = [
    ...(['ThreadedVMWorkflowCreator', 'WorkerThreadClient'] as const).filter(
      (name) => typeof threads[name] !== 'function',
    ),
    ...(['getOrCreateBundle', 'createWorkflowCreator'] as const).filter(
      (name) => typeof privateMethods[name] !== 'function',
    ),
  ];
  if (missing.length > 0) throw new Error(`@temporalio/worker has no ${missing.join(', ')}`);
  return { threads, program };
}

const privateMethods: Record<'getOrCreateBundle' | 'createWorkflowCreator', unknown> = {
  getOrCreateBundle: Reflect.get(Worker, 'getOrCreateBundle'),
  createWorkflowCreator: Reflect.get(Worker, 'createWorkflowCreator'),
};

/** A client that ends its thread when that answers none of its requests for ten seconds; the workers fail with it and are made anew. */
function watchedClient(Client: PrivateModules['threads']['WorkerThreadClient'], log: AppLogger) {
  return class extends Client {
    #waiting = 0;
    #silentTicks = 0;

    override async send(input: WorkerThreadInput) {
      this.#waiting += 1;
      try {
        return await super.send(input);
      } finally {
        this.#waiting -= 1;
        this.#silentTicks = 0;
      }
    }

    watch(): void {
      // Ticks are counted, not time: where the whole process stood still, that says nothing about the thread.
      const watching = setInterval(() => {
        this.#silentTicks = this.#waiting === 0 ? 0 : this.#silentTicks + 1;
        if (this.#silentTicks < mostSilentTicks) return;
        hasHung = true;
        clearInterval(watching);
        log.error(
          'a workflow did not return for ten seconds: executions go on in a new thread, with a limit for each call',
        );
        void this.workerThread.terminate();
      }, tickMs);
      watching.unref();
      this.workerThread.once('exit', () => clearInterval(watching));
    }
  };
}

/**
 * Returns workers that share one thread for their workflows. The SDK gives each worker a thread, which holds the SDK and the bundle in
 * a V8 heap of its own: 45 MB each. Runs are found by their IDs there, whichever worker they belong to, so one thread does for all.
 * `activityNames`: those of all queues. All workers must name the same bundle: it is read once, where the SDK would keep a copy with
 * its source map for each (5 MB).
 */
export function shareWorkflowThread(
  { threads: { ThreadedVMWorkflowCreator, WorkerThreadClient }, program }: PrivateModules,
  activityNames: readonly string[],
  log: AppLogger,
): WorkflowThread {
  let shared: ReturnType<typeof start> | null = null;
  const WatchedClient = watchedClient(WorkerThreadClient, log);
  let bundle: Promise<WorkflowBundleWithSourceMapAndFilename | undefined> | null = null;

  async function start(
    workflowBundle: WorkflowBundleWithSourceMapAndFilename,
    isolateExecutionTimeoutMs: number,
    logger: Logger,
  ) {
    const thread = new Thread(program, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes } });
    const client = new WatchedClient(thread, logger);
    await client.send({
      type: 'init',
      workflowBundle,
      isolateExecutionTimeoutMs: hasHung ? isolateExecutionTimeoutMs : noTimeLimit,
      reuseV8Context: true,
      registeredActivityNames: new Set(activityNames),
      hasPatchActivationCallback: false,
    });
    client.watch();
    return new ThreadedVMWorkflowCreator([client]);
  }

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
      shared ??= start(workflowBundle, isolateExecutionTimeoutMs, logger);
      const creator = await shared;
      return { createWorkflow: (workflow) => creator.createWorkflow(workflow), destroy: async () => undefined };
    }
  }
  return {
    createWorker: (options) => ThreadSharingWorker.create(options),
    close: async () => (await shared)?.destroy(),
  };
}
