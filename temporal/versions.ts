import type { WorkflowService } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import { grpcCode, grpcDetails, grpcStatus, isTemporalUnreachable } from '../src/lib/network.ts';
import type { TemporalConnection } from './connection.ts';

/** A task queue that the workers of a process poll. Each has activities. */
interface PolledQueue {
  taskQueue: string;
  /** Zero where no workflows run. */
  maxCachedWorkflows: number;
}

export interface VersionRoutingDeps {
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  /** Setting TEMPORAL_BUILD_ID; null for workers without a version. */
  buildId: string | null;
  queues: readonly PolledQueue[];
  log: Logger;
}

/** Name of the Worker Deployment of an installation; `prefix` is the setting TEMPORAL_TASK_QUEUE. Temporal allows no dots and colons in it. */
export function deploymentName(prefix: string): string {
  return prefix.replace(/[.:]/g, '-');
}

type Deployment = proto.temporal.api.deployment.v1.IWorkerDeploymentInfo;
type Poller = proto.temporal.api.taskqueue.v1.IPollerInfo;
const { TaskQueueType, WorkerDeploymentVersionStatus, WorkerVersioningMode } = proto.temporal.api.enums.v1;

const callMs = 10_000;
// A poll that finds no task ends after a minute, and the next one follows; half a minute is for clocks that differ.
const polledWithinMs = 90_000;
const deadVersion = 'Its version has no workers any more; the schedule starts it again';

/** Leads the tasks of the queues to workers of one release, by Temporal's Worker Versioning. One for each process. */
export class VersionRouting {
  /** What the workers of this process register as; null for workers without a version. */
  readonly version: WorkerDeploymentVersion | null;
  readonly #deps: VersionRoutingDeps & { deployment: string };
  #isSettled: boolean;
  #said: string | null = null;
  /** When this version became current, of the last time that all queues were seen to lead their tasks to it. */
  #followedSince: string | null = null;
  // Versions that nobody polled for when they were last looked at: one look alone may come just after the server has started.
  #missed = new Set<string | null>();

  constructor(deps: VersionRoutingDeps) {
    const { buildId, queuePrefix } = deps;
    const deployment = deploymentName(queuePrefix);
    this.#deps = { ...deps, deployment };
    this.version = buildId === null ? null : { deploymentName: deployment, buildId };
    this.#isSettled = buildId === null;
  }

  /** Whether tasks go to this version, or to another one whose workers are there. */
  isSettled(): boolean {
    return this.#isSettled;
  }

  /** Compares the routing of the deployment with who polls, and changes it by the rules of docs/decisions/0046. */
  async check(): Promise<void> {
    try {
      await this.#compare();
    } catch (error) {
      // A server that is away or busy is asked again; the worker says so elsewhere.
      if (!isTemporalUnreachable(error) && grpcCode(error) !== grpcStatus.RESOURCE_EXHAUSTED) throw error;
    }
  }

  async #compare(): Promise<void> {
    const { buildId } = this.#deps;
    const found = await this.#describe();
    if (found === null) return this.#say('waiting', 'Temporal does not know this version yet');
    const { info, conflictToken } = found;
    const current = info.routingConfig?.currentDeploymentVersion?.buildId ?? null;
    if (current === buildId) {
      // Until then some queues still lead tasks to the version before, whose workers a deploy stops once these are ready.
      const since = instantOf(info.routingConfig?.currentVersionChangedTime);
      if (this.#followedSince !== since) {
        if (!(await this.#queuesFollow()))
          return this.#say('waiting', 'some queues do not lead their tasks to this version yet');
        this.#followedSince = since;
      }
      this.#say('current', 'tasks go to this version');
      return this.#releaseDeadVersions(info);
    }
    const isNew = buildId !== null && (await this.#isReadyToBegin(info));
    if (isNew === null) return this.#say('waiting', 'Temporal does not know all queues of this version yet');
    const [isGone = false] = await this.#goneOf([current]);
    if (!isNew && !isGone) return this.#say('standby', `tasks go to ${named(current)}, whose workers are there`);
    await this.#makeCurrent(conflictToken, isGone);
  }

  async #describe(): Promise<{ info: Deployment; conflictToken: Uint8Array } | null> {
    const answer = await this.#ask((service, named) => service.describeWorkerDeployment(named)).catch(
      (error: unknown) => {
        // Old servers have no deployments, and workers without a version need none.
        if (grpcCode(error) === grpcStatus.UNIMPLEMENTED && this.#deps.buildId === null) return null;
        return nullIfUnknown(error);
      },
    );
    if (!answer?.workerDeploymentInfo) return null;
    return { info: answer.workerDeploymentInfo, conflictToken: answer.conflictToken };
  }

  /** Whether this version has never been current; null as long as the server has not seen all of its queues. */
  async #isReadyToBegin(info: Deployment): Promise<boolean | null> {
    const { deployment, buildId } = this.#deps;
    const own = info.versionSummaries?.find(({ deploymentVersion }) => deploymentVersion?.buildId === buildId);
    if (own === undefined) return null;
    if (own.firstActivationTime) return false;
    const deploymentVersion = { deploymentName: deployment, buildId };
    const version = await this.#ask((service, { namespace }) =>
      service.describeWorkerDeploymentVersion({ namespace, deploymentVersion }),
    ).catch(nullIfUnknown);
    if (version === null) return null;
    const { versionTaskQueues } = version;
    const seen = new Set(versionTaskQueues.map(({ name, type }) => `${name} ${type}`));
    return this.#polls().every(({ name, type }) => seen.has(`${name} ${type}`)) ? true : null;
  }

  #polls() {
    return this.#deps.queues.flatMap(({ taskQueue: name, maxCachedWorkflows }) => [
      { name, type: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY },
      ...(maxCachedWorkflows > 0 ? [{ name, type: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW }] : []),
    ]);
  }

  /** Says of each version whether nobody has polled for it, at this check and at the one before. */
  async #goneOf(builds: readonly (string | null)[]): Promise<boolean[]> {
    const polled = await this.#polledBuilds();
    // A server that has just started has seen nobody, this process neither.
    const isKnown = polled.has(this.#deps.buildId);
    const now = new Set(isKnown ? builds.filter((build) => !polled.has(build)) : []);
    const gone = builds.map((build) => now.has(build) && this.#missed.has(build));
    this.#missed = now;
    return gone;
  }

  /** The versions whose workers poll; null stands for workers without one. */
  async #polledBuilds(): Promise<Set<string | null>> {
    const answers = await this.#describeQueues();
    const since = Date.now() - polledWithinMs;
    const pollers = answers.flatMap((answer) => answer.pollers).filter((poller) => lastPoll(poller) > since);
    return new Set(pollers.map((poller) => this.#buildOf(poller)));
  }

  // The server answers a change before its queues follow, one after the other. Whether all have is not to be had from the deployment: its
  // `routingConfigUpdateState` may stay in progress for ever (temporalio/temporal#11842).
  async #queuesFollow(): Promise<boolean> {
    const { buildId } = this.#deps;
    const answers = await this.#describeQueues();
    return answers.every(
      ({ versioningInfo }) => (versioningInfo?.currentDeploymentVersion?.buildId ?? null) === buildId,
    );
  }

  #describeQueues() {
    return Promise.all(
      this.#polls().map(({ name, type }) =>
        this.#ask((service, { namespace }) =>
          service.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType: type }),
        ),
      ),
    );
  }

  async #makeCurrent(conflictToken: Uint8Array, ignoreMissingTaskQueues: boolean): Promise<void> {
    try {
      const buildId = this.#deps.buildId ?? '';
      await this.#ask((service, named) =>
        service.setWorkerDeploymentCurrentVersion({ ...named, buildId, conflictToken, ignoreMissingTaskQueues }),
      );
    } catch (error) {
      const code = grpcCode(error);
      // Another process was first, or the server still applies the change before: the next check sees it.
      if (code === grpcStatus.ABORTED) return;
      if (code !== grpcStatus.FAILED_PRECONDITION) throw error;
      const reason = grpcDetails(error);
      // Whoever has taken the routing into their own hands decides when this version gets work.
      if (/ManagerIdentity/.test(reason))
        return this.#say('standby', `somebody else manages the deployment: ${reason}`);
      if (!/conflict token/.test(reason))
        this.#say('waiting', `Temporal refuses to make this version current: ${reason}`);
      return;
    }
    this.#missed = new Set();
    this.#say('waiting', 'this version is current; its queues follow');
  }

  /** Ends short executions that are bound to a version without workers. Schedules start them again, on this version. */
  async #releaseDeadVersions({ versionSummaries }: Deployment): Promise<void> {
    const { temporal, deployment, log } = this.#deps;
    const draining = (versionSummaries ?? [])
      .filter(({ status }) => status === WorkerDeploymentVersionStatus.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINING)
      .flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? []);
    if (draining.length === 0) return;
    const gone = await this.#goneOf(draining);
    for (const build of draining.filter((_, place) => gone[place])) {
      const query = `TemporalWorkerDeploymentVersion = ${JSON.stringify(`${deployment}:${build}`)} and TemporalWorkflowVersioningBehavior = "Pinned" and ExecutionStatus = "Running"`;
      for await (const { workflowId, runId } of temporal.client.workflow.list({ query })) {
        await temporal.client.workflow.getHandle(workflowId, runId).terminate(deadVersion).catch(unlessEnded);
        log.warn({ workflowId, version: build }, 'an execution was bound to a version without workers: it was ended');
      }
    }
  }

  #say(state: 'waiting' | 'standby' | 'current', text: string): void {
    const { deployment, buildId, log } = this.#deps;
    if (buildId === null && state === 'waiting') return;
    this.#isSettled = state !== 'waiting';
    if (this.#said !== text) log.info({ version: buildId, deployment }, `worker versions: ${text}`);
    this.#said = text;
  }

  #buildOf({ deploymentOptions }: Poller): string | null {
    const isVersioned =
      deploymentOptions?.workerVersioningMode === WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED &&
      deploymentOptions.deploymentName === this.#deps.deployment;
    return isVersioned ? (deploymentOptions.buildId ?? null) : null;
  }

  #ask<T>(
    call: (service: WorkflowService, named: { namespace: string; deploymentName: string }) => Promise<T>,
  ): Promise<T> {
    const { temporal, deployment: deploymentName } = this.#deps;
    const { namespace } = temporal.settings;
    return temporal.within(callMs, () => call(temporal.connection.workflowService, { namespace, deploymentName }));
  }
}

function nullIfUnknown(error: unknown): null {
  if (grpcCode(error) === grpcStatus.NOT_FOUND) return null;
  throw error;
}

const named = (build: string | null) => (build === null ? 'workers without a version' : `version ${build}`);
const lastPoll = ({ lastAccessTime }: Poller) => Number(lastAccessTime?.seconds ?? 0) * 1000;
const instantOf = (time: Deployment['createTime']) => `${time?.seconds ?? 0}.${time?.nanos ?? 0}`;

function unlessEnded(error: unknown): void {
  if (error instanceof Error && error.name === 'WorkflowNotFoundError') return;
  throw error;
}
