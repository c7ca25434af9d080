import { queuePrefix as earlierQueuePrefix } from '@fernpost/earlier-name';
import { ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { describeFailure, grpcCode, grpcDetails, grpcStatus, isTemporalUnreachable } from '../src/lib/network.ts';
import { pause } from '../src/lib/time.ts';
import { searchAttribute, searchAttributePairs, taskQueue, type WorkflowType, workflowQueues } from './commands.ts';
import { isTemporalCloud, type TemporalConnection } from './connection.ts';

/** Temporal does not let us prepare it; the message says what was refused and what to do. */
export class TemporalSetupError extends Error {
  override name = 'TemporalSetupError';
}

/** Work that Temporal itself starts again and again. */
interface Housekeeping {
  name: string;
  workflow: WorkflowType;
  everyMs: number;
  summary: string;
}

const housekeeping: readonly Housekeeping[] = [
  { name: 'reconcile', workflow: 'reconcile', everyMs: 60_000, summary: 'Puts right what crashes left behind' },
  { name: 'retention', workflow: 'retention', everyMs: 3_600_000, summary: 'Removes rows that were kept long enough' },
  { name: 'domains', workflow: 'domainSweep', everyMs: 300_000, summary: 'Checks the DNS records of sender domains' },
  {
    name: 'usage',
    workflow: 'usageSweep',
    everyMs: 60_000,
    summary: 'Notifies members of limits and reports paid mail',
  },
  { name: 'segments', workflow: 'segmentSweep', everyMs: 300_000, summary: 'Computes and counts segments' },
];

// Installations that set no prefix, of either name.
const defaultPrefixes = ['fernpost', earlierQueuePrefix];

/** The id of a housekeeping schedule: `housekeeping/reconcile`, or below the prefix where that is not a default. */
export function scheduleId(queuePrefix: string, name: string): string {
  return defaultPrefixes.includes(queuePrefix) ? `housekeeping/${name}` : `${queuePrefix}/housekeeping/${name}`;
}

const closedExecutionsKept = '7 days';
const callMs = 10_000;
const visibleWithinMs = 60_000;

/**
 * Makes the namespace, the search attributes and the schedules that the service needs, and waits until they can be used.
 * Safe to run again and side by side. `queuePrefix` is the setting TEMPORAL_TASK_QUEUE. Answers one line for each thing.
 * @throws TemporalSetupError when the server refuses one of them
 */
export async function setUpTemporal(temporal: TemporalConnection, queuePrefix: string): Promise<string[]> {
  return (await setUpSteps(temporal, queuePrefix)).map(({ line }) => line);
}

/**
 * `setUpTemporal` for a server that should be set up already: answers a line for each thing that was missing and was made.
 * @throws TemporalSetupError when the server refuses one of them
 */
export async function restoreTemporal(temporal: TemporalConnection, queuePrefix: string): Promise<string[]> {
  return (await setUpSteps(temporal, queuePrefix)).flatMap(({ line, isNew }) => (isNew ? [line] : []));
}

/** A step of the setup. */
interface SetUpStep {
  line: string;
  isNew: boolean;
}

async function setUpSteps(temporal: TemporalConnection, queuePrefix: string): Promise<SetUpStep[]> {
  const shared = [await ensureNamespace(temporal), await ensureSearchAttributes(temporal)];
  const schedules = housekeeping.map((work) => ensureSchedule(temporal, queuePrefix, work));
  return [...shared, ...(await Promise.all(schedules))];
}

/**
 * Whether the namespace, the search attributes and the schedules can be used. False says that `setUpTemporal` has to make
 * something. Rejects when Temporal cannot be asked.
 */
export async function isTemporalSetUp(temporal: TemporalConnection, queuePrefix: string): Promise<boolean> {
  if (!(await namespaceExists(temporal)) || !(await searchAttributesUsable(temporal))) return false;
  const found = await Promise.all(
    housekeeping.map(({ name }) => scheduleExists(temporal, scheduleId(queuePrefix, name))),
  );
  return !found.includes(false);
}

async function scheduleExists(temporal: TemporalConnection, id: string): Promise<boolean> {
  try {
    await temporal.within(callMs, () => temporal.client.schedule.getHandle(id).describe());
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    // A schedule that was made a moment ago, or that many ask, is there but has no time to answer.
    if (grpcCode(error) === grpcStatus.RESOURCE_EXHAUSTED) return true;
    throw error;
  }
}

/** The part of `setUpTemporal` that every installation in the namespace shares: the namespace and its search attributes. */
export async function prepareNamespace(temporal: TemporalConnection): Promise<string[]> {
  return [(await ensureNamespace(temporal)).line, (await ensureSearchAttributes(temporal)).line];
}

async function ensureNamespace(temporal: TemporalConnection): Promise<SetUpStep> {
  const { namespace } = temporal.settings;
  if (await namespaceExists(temporal)) return { line: `Namespace "${namespace}" is there`, isNew: false };
  if (isTemporalCloud(temporal.settings))
    throw new TemporalSetupError(
      `Temporal Cloud has no namespace "${namespace}" for these credentials: create it there, or correct TEMPORAL_NAMESPACE`,
    );
  try {
    await temporal.within(callMs, () =>
      temporal.connection.workflowService.registerNamespace({
        namespace,
        description: 'Fernpost',
        workflowExecutionRetentionPeriod: msToTs(closedExecutionsKept),
      }),
    );
  } catch (error) {
    if (grpcCode(error) !== grpcStatus.ALREADY_EXISTS)
      throw new TemporalSetupError(
        `Temporal refuses to register the namespace "${namespace}" (${grpcDetails(error)}): create it with "temporal operator namespace create", or correct TEMPORAL_NAMESPACE`,
      );
  }
  await until('the new namespace', () => namespaceExists(temporal));
  return {
    line: `Namespace "${namespace}" registered; closed executions are kept for ${closedExecutionsKept}`,
    isNew: true,
  };
}

async function namespaceExists(temporal: TemporalConnection): Promise<boolean> {
  const { namespace } = temporal.settings;
  try {
    await temporal.within(callMs, () => temporal.connection.workflowService.describeNamespace({ namespace }));
    return true;
  } catch (error) {
    if (grpcCode(error) === grpcStatus.NOT_FOUND) return false;
    throw error;
  }
}

async function ensureSearchAttributes(temporal: TemporalConnection): Promise<SetUpStep> {
  if (await searchAttributesUsable(temporal)) return { line: 'Search attributes are there', isNew: false };
  // A namespace that was made a moment ago is not known everywhere in the server yet.
  const missing = await until('the list of search attributes', () => missingSearchAttributes(temporal), null);
  if (missing.length > 0) await addSearchAttributes(temporal, missing);
  await until('the new search attributes', () => searchAttributesUsable(temporal));
  return missing.length === 0
    ? { line: 'Search attributes are there', isNew: false }
    : { line: `Search attributes registered: ${missing.map((key) => key.name).join(', ')}`, isNew: true };
}

type SearchAttributeKey = (typeof searchAttribute)[keyof typeof searchAttribute];

function wireType(key: SearchAttributeKey): proto.temporal.api.enums.v1.IndexedValueType {
  return proto.temporal.api.enums.v1.IndexedValueType[`INDEXED_VALUE_TYPE_${key.type}`];
}

// A query that names them all is the proof that counts: lists show attributes before the server can use them.
async function searchAttributesUsable(temporal: TemporalConnection): Promise<boolean> {
  const query = Object.values(searchAttribute)
    .map((key) => `${key.name} is null`)
    .join(' and ');
  const { namespace } = temporal.settings;
  try {
    await temporal.within(callMs, () =>
      temporal.connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 }),
    );
    return true;
  } catch (error) {
    if (grpcCode(error) === grpcStatus.INVALID_ARGUMENT || grpcCode(error) === grpcStatus.NOT_FOUND) return false;
    throw error;
  }
}

async function missingSearchAttributes(temporal: TemporalConnection): Promise<SearchAttributeKey[] | null> {
  const { namespace } = temporal.settings;
  let present: Record<string, unknown>;
  try {
    const answer = await temporal.within(callMs, () =>
      temporal.connection.operatorService.listSearchAttributes({ namespace }),
    );
    present = answer.customAttributes;
  } catch (error) {
    if (grpcCode(error) === grpcStatus.NOT_FOUND) return null;
    throw refused(temporal, Object.values(searchAttribute), error);
  }
  const wrong = Object.values(searchAttribute).filter(
    (key) => key.name in present && present[key.name] !== wireType(key),
  );
  if (wrong.length > 0)
    throw new TemporalSetupError(
      `Search attributes exist with another type than they need (${wrong.map((key) => `${key.name}: ${key.type}`).join(', ')}): use a namespace of its own (TEMPORAL_NAMESPACE)`,
    );
  return Object.values(searchAttribute).filter((key) => !(key.name in present));
}

async function addSearchAttributes(temporal: TemporalConnection, missing: SearchAttributeKey[]): Promise<void> {
  const { namespace } = temporal.settings;
  const searchAttributes = Object.fromEntries(missing.map((key) => [key.name, wireType(key)]));
  try {
    await temporal.within(callMs, () =>
      temporal.connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
  } catch (error) {
    // Another process that sets up at the same time was first.
    if (grpcCode(error) === grpcStatus.ALREADY_EXISTS) return;
    if ((await missingSearchAttributes(temporal))?.length === 0) return;
    throw refused(temporal, missing, error);
  }
}

function refused(temporal: TemporalConnection, keys: SearchAttributeKey[], error: unknown): TemporalSetupError {
  if (isTemporalUnreachable(error)) throw error;
  const wanted = keys.map((key) => `${key.name} (${key.type.toLowerCase()})`).join(', ');
  const how = isTemporalCloud(temporal.settings)
    ? 'add them to the namespace in Temporal Cloud'
    : 'add them with "temporal operator search-attribute create"; a store that has no room left for their types needs a namespace of its own (TEMPORAL_NAMESPACE)';
  return new TemporalSetupError(
    `Temporal refuses to register the search attributes ${wanted}: ${grpcDetails(error)}. Please ${how}, then run this again`,
  );
}

async function ensureSchedule(
  temporal: TemporalConnection,
  queuePrefix: string,
  work: Housekeeping,
): Promise<SetUpStep> {
  const id = scheduleId(queuePrefix, work.name);
  const options = {
    scheduleId: id,
    spec: { intervals: [{ every: work.everyMs }] },
    action: {
      type: 'startWorkflow',
      workflowType: work.workflow,
      workflowId: id,
      taskQueue: taskQueue(queuePrefix, workflowQueues[work.workflow]),
      args: [],
      typedSearchAttributes: searchAttributePairs({ Kind: 'housekeeping' }),
      staticSummary: work.summary,
    },
    policies: { overlap: 'SKIP', catchupWindow: work.everyMs },
  } satisfies ScheduleOptions;
  const schedules = temporal.client.schedule;
  const attempt = async (): Promise<'created' | 'updated' | null> => {
    try {
      await temporal.within(callMs, () => schedules.create({ ...options, state: { triggerImmediately: true } }));
      return 'created';
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) return retryLater(error);
    }
    try {
      // An operator's pause is kept.
      await temporal.within(callMs, () =>
        schedules.getHandle(id).update((previous) => ({ ...options, state: previous.state })),
      );
      return 'updated';
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return null;
      return retryLater(error);
    }
  };
  const done = await until(`the schedule ${id}`, attempt, null);
  return { line: `Schedule ${id} ${done}: every ${work.everyMs / 60_000} min`, isNew: done === 'created' };
}

// Two processes that write one schedule at once, or a namespace made a moment ago, settle by themselves.
function retryLater(error: unknown): null {
  const code = grpcCode(error);
  const passing: (number | null)[] = [grpcStatus.NOT_FOUND, grpcStatus.FAILED_PRECONDITION, grpcStatus.ABORTED];
  if (passing.includes(code) || (error instanceof Error && error.name === 'NamespaceNotFoundError')) return null;
  throw error;
}

async function until(what: string, ask: () => Promise<boolean>): Promise<true>;
async function until<T>(what: string, ask: () => Promise<T | null>, notYet: null): Promise<T>;
async function until<T>(what: string, ask: () => Promise<T | null | boolean>): Promise<T | true> {
  const giveUpAt = Date.now() + visibleWithinMs;
  for (let waitMs = 100; ; waitMs = Math.min(2000, waitMs * 1.5)) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (Date.now() > giveUpAt)
      throw new TemporalSetupError(`Temporal did not make ${what} usable within ${visibleWithinMs / 1000} s`);
    await pause(waitMs);
  }
}

/** Starts the reconciler now instead of at the next full minute; does nothing where the schedule is missing. */
export async function reconcileNow(temporal: TemporalConnection, queuePrefix: string): Promise<void> {
  const handle = temporal.client.schedule.getHandle(scheduleId(queuePrefix, 'reconcile'));
  try {
    await temporal.within(callMs, () => handle.trigger());
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError))
      throw new Error(describeFailure(error, temporal.settings), { cause: error });
  }
}
