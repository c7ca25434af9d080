import { contactName } from '@fernpost/email-document/contact-name';
import { triggerOf } from '@fernpost/workflow-graph';
import { workflowId } from '../../../temporal/commands.ts';
import { conditionQuery } from '../../contacts/conditions.ts';
import { Contact } from '../../contacts/entity.ts';
import type { ContactFilter } from '../../contacts/list-queries.ts';
import { finishJob, Job } from '../../imports/queries.ts';
import type { QueuedJob } from '../../imports/schema.ts';
import { ownJob, queueJob } from '../../imports/service.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { conflict, invalidField, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { clampLimit, decodeCursor, foreignCursor, pageOf } from '../../lib/pages.ts';
import { Segment, storedDefinition } from '../../segments/definition.ts';
import { lockName } from '../../store/columns.ts';
import { enqueue, type OutboxTicket } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { selectedBy } from '../enrollment/past.ts';
import { AutomationVersion } from '../entity.ts';
import type { Graph } from '../graph/graph.ts';
import { findAutomation, found } from '../queries.ts';
import { graphToTry } from '../test-run/service.ts';
import { draftGraph } from '../versions.ts';
import { SimulatedContact } from './facts.ts';
import {
  collisionKinds,
  horizonMs,
  type ListSimulated,
  mailDifferences,
  type SimulatedPage,
  type SimulateWorkflow,
  type SimulationBody,
  type SimulationResult,
  simulatedEnds,
  simulationLimits,
} from './schema.ts';
import type { SimulationPlace } from './share.ts';
import { countsOf, differingMails } from './tally.ts';

/** One side of a simulation: the graph, and the number of its version; null for one that is no version. */
export interface Side {
  graph: Graph;
  version: number | null;
}

/** The request of a simulation, as its job keeps it. */
export interface SimulationSpec extends Pick<SimulateWorkflow, 'over' | 'most' | 'futures'> {
  workflowId: string;
  /** When contacts enter whom no event lets in; null where one does. */
  at: string | null;
  horizonMs: number;
  /** Null for the version that each execution had. */
  here: Side | null;
  there: Side | 'actual' | null;
  /** What the request calls its new steps, by their IDs. */
  names: Record<string, string>;
}

const mostUnfinished = 3;

/**
 * Queues a simulation, which sends, calls and changes nothing.
 * @throws 404 for the workflow, a version, the segment and a contact that is not there; 409 while three simulations of the project run; 422 for a
 * graph that could not be saved, and for a time over which nobody enters
 */
export async function queueSimulation(
  db: Database,
  projectId: string,
  automationId: string,
  asked: SimulateWorkflow,
): Promise<{ body: QueuedJob; tickets: OutboxTicket[] }> {
  return db.transaction(async (tx) => {
    const automation = found(await findAutomation(tx, projectId, automationId), automationId);
    const { compareWith, over, most, futures } = asked;
    const { graph, names } = await sideOf(tx, automation, asked);
    const there =
      typeof compareWith === 'number'
        ? { graph: await versionOf(tx, automationId, compareWith), version: compareWith }
        : (compareWith ?? null);
    await checkOver(tx, projectId, asked, graph ?? null);
    await lockName(tx, `simulations ${projectId}`);
    if ((await tx.em.count(Job, { projectId, kind: 'simulation', finishedAt: null })) >= mostUnfinished)
      throw conflict(`${mostUnfinished} simulations of this project are running: wait until one has finished`);
    const horizon = horizonMs(asked.horizon) ?? 0;
    const entry = new Date(Date.now() - (futures === 'recorded' ? horizon : 0)).toISOString();
    const spec: SimulationSpec = {
      ...{ workflowId: automationId, over, most, futures, horizonMs: horizon, there },
      at: over.event || compareWith === 'actual' ? null : (over.at ?? entry),
      here: graph && { graph, version: asked.version ?? null },
      names: Object.fromEntries(names),
    };
    const job = { id: `simulation-${newId()}`, projectId, kind: 'simulation' } as const;
    // Whom it is for is in its job.
    const { contactIds, ...chosen } = over;
    const after = {
      workflowId: automationId,
      ...chosen,
      ...(contactIds && { contacts: contactIds.length }),
      most,
      compareWith,
    };
    const ticket = await queueJob(
      tx,
      { ...job, spec: spec as unknown as JsonObjectValue },
      'Simulation of a workflow',
      after,
    );
    return { body: { message: 'Simulation queued', jobId: job.id }, tickets: [ticket] };
  });
}

async function sideOf(
  tx: Database,
  automation: NonNullable<Awaited<ReturnType<typeof findAutomation>>>,
  { graph, version, compareWith }: SimulateWorkflow,
): Promise<{ graph: Graph | null; names: ReadonlyMap<string, string> }> {
  const names = new Map<string, string>();
  if (graph) return graphToTry(tx, automation, graph);
  if (version) return { graph: await versionOf(tx, automation.id, version), names };
  return { graph: compareWith === 'actual' ? null : await draftGraph(tx, automation.id), names };
}

async function versionOf(tx: Database, automationId: string, version: number): Promise<Graph> {
  const pinned = await tx.em.findOne(AutomationVersion, { automationId, version }, { disableIdentityMap: true });
  if (pinned === null) throw notFound('version', String(version));
  return pinned.graph;
}

async function checkOver(
  tx: Database,
  projectId: string,
  { over: { event, segmentId, contactIds }, compareWith }: SimulateWorkflow,
  graph: Graph | null,
): Promise<void> {
  if (segmentId && (await tx.em.count(Segment, { projectId, id: segmentId })) === 0)
    throw notFound('segment', segmentId);
  if (contactIds) {
    const known = await tx.em.find(
      Contact,
      { projectId, id: contactIds },
      { fields: ['id'], disableIdentityMap: true },
    );
    const ids = new Set(known.map(({ id }) => id));
    const unknown = contactIds.find((id) => !ids.has(id));
    if (unknown !== undefined) throw notFound('contact', unknown);
  }
  if (event && compareWith !== 'actual' && graph && typeof triggerOf(graph)?.config.eventName !== 'string')
    throw invalidField(
      'over.event',
      'needs a workflow that an event starts: give "segmentId" or "contactIds", or compare with "actual"',
      'custom',
    );
}

/** The contacts of a segment as a filter. */
export async function membersOf(tx: Database, projectId: string, segmentId: string, now: Date): Promise<ContactFilter> {
  const tree = selectedBy({ segmentId });
  const { condition, segments } = await storedDefinition(tx, projectId, tree);
  const compiled = (reach: 'page' | 'all') => conditionQuery(condition, { projectId, now, segments, reach });
  return {
    search: null,
    subscribed: null,
    condition: { key: segmentId, page: compiled('page'), all: compiled('all') },
  };
}

async function ownSimulation(db: Database, projectId: string, automationId: string, jobId: string) {
  const { job } = await ownJob(db, projectId, 'simulation', jobId);
  const spec = job.spec as unknown as SimulationSpec;
  if (spec.workflowId !== automationId) throw notFound('simulation', jobId);
  return { job, spec };
}

/** A simulation as the API shows it. @throws 404 */
export async function getSimulation(
  db: Database,
  projectId: string,
  automationId: string,
  jobId: string,
): Promise<SimulationBody> {
  const { job, spec } = await ownSimulation(db, projectId, automationId, jobId);
  const { id, state, progress, failedReason } = job;
  const place = job.place as unknown as SimulationPlace | CanceledPlace;
  const createdAt = new Date(job.createdAt).toISOString();
  const body = { ...{ id, workflowId: automationId, state, progress, failedReason, at: spec.at }, createdAt };
  if ('isCanceled' in place) return { ...body, state: 'canceled', failedReason: null, result: null };
  return { ...body, result: state === 'completed' ? resultOf(spec, place) : null };
}

/** The place of a job that a request has canceled, whose sums are gone. Every other job that failed says why. */
interface CanceledPlace {
  isCanceled: true;
}

/**
 * Ends a simulation that is not over, and removes the contacts that it has simulated; one that is over stays as it is. Work under way on its
 * next contacts finds the job ended before it writes. @throws 404
 */
export async function cancelSimulation(
  db: Database,
  projectId: string,
  automationId: string,
  jobId: string,
): Promise<{ body: SimulationBody; tickets: OutboxTicket[] }> {
  return db.transaction(async (tx) => {
    await ownSimulation(tx, projectId, automationId, jobId);
    const tickets: OutboxTicket[] = [];
    if (await finishJob(tx, jobId, 'Canceled')) {
      const place: CanceledPlace = { isCanceled: true };
      await tx.em.nativeUpdate(Job, { id: jobId }, { place: { ...place } });
      await tx.em.nativeDelete(SimulatedContact, { jobId });
      tickets.push(await enqueue(tx, { type: 'cancel', id: workflowId.bulk(jobId) }));
    }
    return { body: await getSimulation(tx, projectId, automationId, jobId), tickets };
  });
}

function resultOf({ here, there, names }: SimulationSpec, place: SimulationPlace): SimulationResult {
  const timeZone = place.timeZone;
  const graph = here?.graph ?? graphOfVersions(place.versions);
  const counts = countsOf(place.here, graph, timeZone);
  const other = there === 'actual' ? graphOfVersions(place.versions) : (there?.graph ?? null);
  const compared = place.there && other && countsOf(place.there, other, timeZone);
  const result: SimulationResult = {
    ...{ contacts: place.total, more: place.more, gone: place.gone, ...counts },
    comparison: compared && {
      with: there === 'actual' ? 'actual' : (there?.version ?? 0),
      ...{ counts: compared, mails: differingMails(place.mails), agreement: here === null ? place.agreement : null },
    },
    unknown: simulationLimits.flatMap((code) => {
      const contacts = place.unknown[code] ?? 0;
      return contacts === 0 ? [] : [{ code, contacts }];
    }),
  };
  return named(result, names);
}

// The steps of all versions that executions had, those of the newest first.
function graphOfVersions(versions: readonly Graph[]): Graph {
  const steps = new Map(versions.toReversed().flatMap((graph) => graph.steps.map((step) => [step.id, step])));
  return { steps: [...steps.values()], transitions: [] };
}

/** Returns a value with the names of the request in place of the IDs of new steps. */
function named<Value>(value: Value, names: Record<string, string>): Value {
  const rename = (each: unknown): unknown => {
    if (typeof each === 'string') return Object.hasOwn(names, each) ? names[each] : each;
    if (Array.isArray(each)) return each.map(rename);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, rename(inner)]));
  };
  return Object.keys(names).length === 0 ? value : (rename(value) as Value);
}

const filters = { end: simulatedEnds, mail: mailDifferences, collision: collisionKinds } as const;

/** A page of the contacts of a simulation, in the order in which they were simulated. @throws 404, 400 for a cursor of another list */
export async function listSimulated(
  db: Database,
  projectId: string,
  automationId: string,
  jobId: string,
  query: ListSimulated,
): Promise<SimulatedPage> {
  const { spec } = await ownSimulation(db, projectId, automationId, jobId);
  const limit = clampLimit(query.limit, 50, 200);
  const after = query.cursor === undefined ? 0 : Number(decodeCursor(query.cursor, 1)[0]);
  if (!Number.isInteger(after) || after < 0) throw foreignCursor();
  const where = { jobId, n: { $gt: after }, outcome: { $ne: null }, tags: { $contains: tagsOf(query, spec.names) } };
  const options = { orderBy: { n: 'asc' }, limit: limit + 1, disableIdentityMap: true } as const;
  const { page, cursor } = pageOf(await db.em.find(SimulatedContact, where, options), limit, ({ n }) => [n]);
  const ids = page.map(({ contactId }) => contactId);
  const fields = ['email', 'data'] as const;
  const contacts = await db.em.find(Contact, { projectId, id: ids }, { fields, disableIdentityMap: true });
  const known = new Map(
    contacts.map(({ id, email, data }) => [id, { email, name: contactName(data as JsonObjectValue) }]),
  );
  const data = page.map(({ contactId, runId, outcome }) => ({
    ...{ contactId, email: null, name: null, ...known.get(contactId), executionId: runId ?? null },
    ...{ executions: outcome?.here ?? [], compared: outcome?.there ?? null },
  }));
  return named({ data, cursor }, spec.names);
}

function tagsOf({ stepId, path, agreement, ...query }: ListSimulated, names: Record<string, string>): string[] {
  const id = Object.entries(names).find(([, name]) => name === stepId)?.[0] ?? stepId;
  const tags = Object.entries(filters).flatMap(([key, known]) => {
    const value = query[key as keyof typeof filters];
    return value !== undefined && (known as readonly string[]).includes(value) ? [`${key}:${value}`] : [];
  });
  if (id) tags.push(path ? `path:${id}:${path}` : `step:${id}`);
  if (agreement) tags.push(agreement);
  return tags;
}
