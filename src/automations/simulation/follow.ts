import { triggerOf } from '@fernpost/workflow-graph';
import type { Database } from '../../store/sql.ts';
import type { AutomationRun } from '../entity.ts';
import type { Graph } from '../graph/graph.ts';
import type { AutomationMigration } from '../migrating/queries.ts';
import { resumingEvent, type StepRun } from '../runtime/run-queries.ts';
import { pinnedVersion } from '../versions.ts';
import { type ContactFacts, mostChanges, mostEvents } from './facts.ts';
import type { SimulationSpec } from './service.ts';
import { type Execution, executionOf, firstDifference } from './tally.ts';
import { type Entry, type Questions, type Surroundings, simulate, triggerDataOf } from './world.ts';

/** What the contacts of a simulation have in common. */
export interface Scene {
  around: Surroundings;
  questions: Questions;
  spec: SimulationSpec;
  allowReentry: boolean;
  /** When the history of contacts began, ISO 8601. */
  began: string;
}

/** What a contact came to. */
export interface Followed {
  here: Execution[];
  there: Execution[] | null;
  refusedHere: string[];
  refusedThere: string[];
  /** Whether it would have entered more often than is followed. */
  isCut: boolean;
  difference: { unfit: string | null; part: ReturnType<typeof firstDifference> } | null;
}

/** Lets a contact enter as often as the rules of the workflow allow. */
export async function enter(scene: Scene, contact: ContactFacts): Promise<Followed> {
  const { here, there } = scene.spec;
  if (here === null) throw new Error('Contacts enter a graph');
  const ours = await through(scene, contact, here.graph);
  const theirs = there === null || there === 'actual' ? null : await through(scene, contact, there.graph);
  return {
    ...{ here: ours.executions, there: theirs?.executions ?? null, isCut: ours.isCut, difference: null },
    ...{ refusedHere: ours.refused, refusedThere: theirs?.refused ?? [] },
  };
}

const forever = '9999';
const mostEntries = 50;

async function through(scene: Scene, contact: ContactFacts, graph: Graph) {
  const { around, questions, allowReentry } = scene;
  const { over } = scene.spec;
  const { entries, isCut } = entriesOf(scene, contact, graph);
  const earlier = over.event ? contact.runs.filter(({ startedAt }) => startedAt < (over.event?.from ?? '')) : [];
  const executions: Execution[] = [];
  const refused: string[] = [];
  // Executions of before are not simulated, but they are there.
  const ends = earlier.map(({ completedAt }) => completedAt ?? forever).sort();
  let busyUntil = ends.at(-1) ?? '';
  let hasEntered = over.event !== undefined && contact.entries > contact.runs.length - earlier.length;
  for (const entry of entries) {
    if (hasEntered && !allowReentry) refused.push('reentry');
    else if (entry.at < busyUntil) refused.push('active');
    else {
      hasEntered = true;
      const trigger = await triggerDataOf(around.db, entry.sourceEventId);
      const ended = await simulate(around, graph, questions, contact, { ...entry, context: trigger, trigger });
      busyUntil = ended.at;
      executions.push(executionOf(graph, ended));
    }
  }
  return { executions, refused, isCut };
}

function entriesOf(
  { around: { limitedBy }, questions, spec: { over, at } }: Scene,
  contact: ContactFacts,
  graph: Graph,
): { entries: Entry[]; isCut: boolean } {
  const entryAt = (instant: string, sourceEventId: string | null, key: string | null): Entry => ({
    ...{ at: instant, startedAt: instant, since: instant, context: null, trigger: null, sourceEventId, recorded: null },
    limitedBy: key === null ? limitedBy : [...(limitedBy ?? []), key],
    turns: new Map(),
  });
  if (!over.event) return { entries: [entryAt(at ?? '', null, null)], isCut: false };
  const { from, until } = over.event;
  const { eventName, where } = triggerOf(graph)?.config ?? {};
  const asked = { eventName: String(eventName), where };
  const starts = contact.events.filter(
    (event) => event.at >= from && event.at <= until && questions.answers(event, asked),
  );
  return {
    entries: starts.slice(0, mostEntries).map((event) => entryAt(event.at, event.id, event.limitedBy)),
    isCut: starts.length > mostEntries,
  };
}

/** An execution that has ended, with the graph that it went through and how it began. */
export interface RecordedRun {
  id: string;
  graph: Graph;
  steps: readonly StepRun[];
  status: string;
  exitReason: string | null;
  completedAt: string;
  entry: Entry;
  /** Why it cannot be repeated; null where it can. */
  unfit: string | null;
}

/** Takes a contact through a graph as an execution of it went, and compares both. */
export async function repeat(
  { around, questions, spec: { here }, began }: Scene,
  contact: ContactFacts,
  run: RecordedRun,
): Promise<Followed> {
  const { entry, steps, status, exitReason, completedAt } = run;
  const facts = { enteredAt: entry.startedAt, reason: exitReason, at: completedAt, steps, end: status, goal: null };
  const recorded = executionOf(run.graph, facts);
  const graph = here?.graph ?? run.graph;
  const unfit = here === null ? (run.unfit ?? unfitFor(contact, run, began)) : null;
  const isRepeated = here === null && unfit === null;
  const ended = await simulate(around, graph, questions, contact, isRepeated ? entry : { ...entry, recorded: null });
  const difference = here === null ? { unfit, part: isRepeated ? firstDifference(ended, run) : null } : null;
  const sides = { here: [executionOf(graph, ended)], there: [recorded], isCut: false };
  return { ...sides, refusedHere: [], refusedThere: [], difference };
}

const whyUnfit = {
  cancelled: 'canceled',
  retried: 'retried',
  migrated: 'migrated to another version',
  context: 'data of its start not kept',
  history: 'older than the history of contacts',
} as const;

/** Reads how an execution began, and whether it can be repeated. */
export async function readRun(
  db: Database,
  run: AutomationRun,
  steps: readonly StepRun[],
  moves: readonly AutomationMigration[],
): Promise<RecordedRun> {
  const version = await pinnedVersion(db, run.versionId);
  if (version === null) throw new Error(`The version ${run.versionId} of a graph is gone`);
  const { graph } = version;
  const { id, status, sourceEventId = null, context = null, limitedBy = null, exitReason = null } = run;
  const source = sourceEventId ? await resumingEvent(db, sourceEventId) : null;
  const startedAt = run.startedAt.toISOString();
  const turns = steps.flatMap(({ scheduledFor, turnMs }) =>
    scheduledFor === null ? [] : [[scheduledFor, turnMs] as const],
  );
  const ended = run.completedAt ?? run.startedAt;
  const hasMerged = steps.some(({ output }) => output?.eventData !== undefined);
  const isEvent = typeof triggerOf(graph)?.config.eventName === 'string';
  const known = new Set(graph.steps.map((step) => step.id));
  const isMoving = (move: AutomationMigration) =>
    move.createdAt <= ended && (move.completedAt ?? new Date()) >= run.startedAt;
  const wasMoved = steps.some(({ stepId }) => !known.has(stepId)) || moves.some(isMoving);
  const wasRetried =
    run.sentBefore != null || steps.some((step, n) => step.status === 'FAILED' && n < steps.length - 1);
  const unfit = [
    status === 'CANCELLED' && whyUnfit.cancelled,
    wasRetried && whyUnfit.retried,
    wasMoved && whyUnfit.migrated,
    source === null && hasMerged && whyUnfit.context,
  ].find((reason) => reason !== false);
  return {
    ...{ id, graph, steps, status, exitReason, completedAt: ended.toISOString(), unfit: unfit ?? null },
    entry: {
      ...{ at: steps[0]?.startedAt ?? startedAt, startedAt, since: source?.receivedAt ?? startedAt, sourceEventId },
      ...{ context: source ? source.data : context, trigger: source ? source.data : isEvent ? context : null },
      ...{ limitedBy, turns: new Map(turns), recorded: { steps, exitReason } },
    },
  };
}

function unfitFor(contact: ContactFacts, { entry }: RecordedRun, began: string): string | null {
  const isCut = contact.changes.length >= mostChanges || contact.events.length >= mostEvents;
  return entry.startedAt < began || isCut ? whyUnfit.history : null;
}
