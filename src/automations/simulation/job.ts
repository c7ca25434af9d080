import { triggerOf } from '@fernpost/workflow-graph';
import pLimit from 'p-limit';
import { historyBegan } from '../../contacts/history-queries.ts';
import { type Step, shareReportOf, superseded } from '../../imports/bulk.ts';
import { matchingContacts } from '../../imports/bulk-queries.ts';
import { advanceJob, findJob, type JobRow, lockJobAt } from '../../imports/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { activeStatuses } from '../../lib/enums.ts';
import { leastId } from '../../lib/ids.ts';
import { isoInstant } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import type { LinkSettings } from '../../templates/content/links.ts';
import { Automation, AutomationRun } from '../entity.ts';
import type { Graph } from '../graph/graph.ts';
import { AutomationMigration } from '../migrating/queries.ts';
import { resumingEvent, type StepRun } from '../runtime/run-queries.ts';
import { pinnedVersion } from '../versions.ts';
import {
  type ContactFacts,
  contactsOfEvent,
  factsOf,
  mostChanges,
  mostEvents,
  recordedSteps,
  SimulatedContact,
} from './facts.ts';
import type { SimulationResult, simulationLimits } from './schema.ts';
import { membersOf, type SimulationSpec, settingsOf } from './service.ts';
import {
  addDifferences,
  addTo,
  type Execution,
  executionOf,
  firstDifference,
  type MailSums,
  noSums,
  type Outcome,
  refuse,
  type Sums,
  shownExecutions,
} from './tally.ts';
import { type Entry, Questions, type Surroundings, simulate, templatesOf, triggerDataOf } from './world.ts';

type Unknown = (typeof simulationLimits)[number];

/** How far a simulation is, and what it came to so far. */
export interface SimulationPlace {
  total: number;
  more: boolean;
  gone: number;
  timeZone: string;
  here: Sums;
  there: Sums | null;
  mails: MailSums;
  agreement: NonNullable<NonNullable<SimulationResult['comparison']>['agreement']>;
  unknown: Partial<Record<Unknown, number>>;
  /** The graphs of the versions that executions had, the newest last; only their steps. */
  versions: Graph[];
}

/** What simulations need besides the database. */
export interface SimulationDeps {
  links: LinkSettings;
  /** Setting CONTACT_HISTORY_DAYS. */
  keptDays: number;
}

const forever = '9999';
const contactsPerStep = 50;
// Each waits for Postgres most of the time.
const atOnce = 4;
const mostEntries = 50;
const mostDifferences = 20;
const mostVersions = 20;

/**
 * Simulates the next contacts of a job. What is read is read without a lock; rows, sums and the place of the job are one commit, so that a share
 * that is repeated counts nobody twice.
 */
export async function simulateSome(db: Database, deps: SimulationDeps, jobId: string, from: string): Promise<Step> {
  const store = db.session();
  const job = await findJob(store, jobId);
  if (job === null || job.position !== from)
    return { report: await superseded(db, jobId), position: from, isLast: false };
  const automation = await store.em.findOne(
    Automation,
    { id: (job.spec as unknown as SimulationSpec).workflowId },
    { disableIdentityMap: true },
  );
  if (automation === null)
    return {
      report: shareReportOf(job, 'unfinished'),
      position: from,
      isLast: true,
      failure: 'The workflow was deleted',
    };
  if (from === '0') return select(db, job);
  const share = new Share(store, deps, job, automation);
  const done = await share.simulate();
  return db.transaction(async (tx) => {
    const locked = await lockJobAt(tx, jobId, from);
    if (locked === null) return { report: await superseded(tx, jobId), position: from, isLast: false };
    if (done.length > 0) await tx.em.upsertMany(SimulatedContact, done);
    return advance(tx, locked, share.place, done.length, done.length < contactsPerStep);
  });
}

async function advance(
  tx: Database,
  job: JobRow,
  place: SimulationPlace,
  rows: number,
  isLast: boolean,
): Promise<Step> {
  const position = Number(job.position) + rows;
  const progress = place.total === 0 ? 0 : Math.min(99, Math.floor((100 * (position - 1)) / place.total));
  const counts = { created: 0, updated: rows, unchanged: 0, errors: [] };
  const next = { position: String(position), place: place as unknown as JsonObjectValue, progress };
  return { report: await advanceJob(tx, job, { ...next, ...counts }), position: String(position), isLast };
}

// Whom it is for is decided once, so that whoever goes on meets the same contacts in the same order.
function select(db: Database, job: JobRow): Promise<Step> {
  return db.transaction(async (tx) => {
    const locked = await lockJobAt(tx, job.id, '0');
    if (locked === null) return { report: await superseded(tx, job.id), position: '0', isLast: false };
    const spec = job.spec as unknown as SimulationSpec;
    const wanted = await populationOf(tx, job, spec);
    const rows = wanted.slice(0, spec.most).map((row, n) => ({ jobId: job.id, n: n + 1, ...row }));
    for (let n = 0; n < rows.length; n += 2_000) await tx.em.insertMany(SimulatedContact, rows.slice(n, n + 2_000));
    const { project } = await settingsOf(tx, job.projectId);
    const place: SimulationPlace = {
      ...{ total: rows.length, more: wanted.length > rows.length, gone: 0, timeZone: project.timeZone ?? 'UTC' },
      ...{ here: noSums(), there: spec.there === null ? null : noSums(), mails: {}, unknown: {}, versions: [] },
      agreement: { agree: 0, compared: 0, notComparable: {}, differences: [] },
    };
    return { ...(await advance(tx, locked, place, 1, rows.length === 0)) };
  });
}

type Selected = Pick<SimulatedContact, 'contactId'> & { runId: string | null };

// One more than wanted, where there are more.
async function populationOf(tx: Database, job: JobRow, spec: SimulationSpec): Promise<Selected[]> {
  const { projectId } = job;
  const { over, most, there, here, workflowId: automationId } = spec;
  const limit = most + 1;
  if (over.event && there !== 'actual') {
    const config = here && triggerOf(here.graph)?.config;
    const asked = { eventName: String(config?.eventName), where: config?.where };
    const rows = await contactsOfEvent(tx, projectId, asked, over.event, limit);
    return rows.map(({ contactId }) => ({ contactId, runId: null }));
  }
  const ids = over.event ? null : await contactsOf(tx, job, spec, there === 'actual' ? Number.MAX_SAFE_INTEGER : limit);
  if (there !== 'actual') return (ids ?? []).map((contactId) => ({ contactId, runId: null }));
  const started = over.event && { startedAt: { $gte: new Date(over.event.from), $lte: new Date(over.event.until) } };
  const ended = {
    projectId,
    automationId,
    status: { $nin: [...activeStatuses.all] },
    ...started,
    ...(ids && { contactId: { $in: ids } }),
  };
  const runs = await tx.em.find(AutomationRun, ended, {
    ...{ fields: ['contactId'], orderBy: { startedAt: 'asc', id: 'asc' }, limit, disableIdentityMap: true },
  });
  return runs.map(({ id: runId, contactId }) => ({ contactId, runId }));
}

async function contactsOf(tx: Database, job: JobRow, { over }: SimulationSpec, limit: number): Promise<string[]> {
  if (over.contactIds) return [...new Set(over.contactIds)].sort().slice(0, limit);
  const filter = await membersOf(tx, job.projectId, over.segmentId ?? leastId, new Date(job.createdAt));
  return matchingContacts(tx, job, filter, [], leastId, Math.min(limit, 100_000));
}

/** The contacts of a job that are simulated together, and its sums with theirs. */
class Share {
  readonly place: SimulationPlace;
  readonly #db: Database;
  readonly #deps: SimulationDeps;
  readonly #job: JobRow;
  readonly #spec: SimulationSpec;
  readonly #automation: Automation;

  constructor(db: Database, deps: SimulationDeps, job: JobRow, automation: Automation) {
    this.#db = db;
    this.#deps = deps;
    this.#job = job;
    this.#spec = job.spec as unknown as SimulationSpec;
    this.#automation = automation;
    this.place = job.place as unknown as SimulationPlace;
  }

  /** Simulates them, and returns their rows. */
  async simulate(): Promise<
    { jobId: string; n: number; contactId: string; runId: string | null; tags: string[]; outcome: Outcome }[]
  > {
    const db = this.#db;
    const { id: jobId, position } = this.#job;
    const next = { jobId, n: { $gte: Number(position) } };
    const rows = await db.em.find(SimulatedContact, next, {
      orderBy: { n: 'asc' },
      limit: contactsPerStep,
      disableIdentityMap: true,
    });
    if (rows.length === 0) return [];
    const here = await this.#around();
    const runs = await this.#runsOf(rows);
    const questions = await this.#questions(runs);
    const facts = await this.#facts(rows, runs, questions);
    const began = isoInstant(await historyBegan(db, this.#deps.keptDays));
    const followed = await pLimit(atOnce).map(rows, async ({ contactId, runId }) => {
      const contact = facts.get(contactId);
      const run = runId ? runs.get(runId) : null;
      if (contact === undefined || (runId && !run)) return null;
      return run ? this.#repeat(here, questions, contact, run, began) : this.#enter(here, questions, contact, began);
    });
    return rows.map(({ n, contactId, runId }, place) => {
      const one = followed[place] ?? null;
      return { jobId, n, contactId, runId: runId ?? null, ...this.#add(contactId, runId ?? null, one) };
    });
  }

  async #around(): Promise<Surroundings> {
    const { id: automationId, projectId, name: automationName, limitedBy } = this.#automation;
    const { futures, horizonMs } = this.#spec;
    const [db, { links }] = [this.#db, this.#deps];
    return {
      ...{
        db,
        links,
        projectId,
        automationId,
        automationName,
        futures,
        horizonMs,
        ...(await settingsOf(db, projectId)),
      },
      ...{ limitedBy: limitedBy ? [limitedBy] : null, template: templatesOf(db, projectId) },
    };
  }

  async #questions(runs: ReadonlyMap<string, RecordedRun>): Promise<Questions> {
    const { here, there } = this.#spec;
    const questions = new Questions();
    const graphs = [
      here?.graph,
      there === 'actual' ? null : there?.graph,
      ...[...runs.values()].map(({ graph }) => graph),
    ];
    for (const graph of new Set(graphs)) if (graph) await questions.add(this.#db, this.#job.projectId, graph);
    return questions;
  }

  async #facts(
    rows: readonly SimulatedContact[],
    runs: ReadonlyMap<string, RecordedRun>,
    { asked }: Questions,
  ): Promise<ReadonlyMap<string, ContactFacts>> {
    const { over, at, horizonMs } = this.#spec;
    const starts = [...runs.values()].map(({ entry }) => entry.since).sort();
    const from = starts[0] ?? over.event?.from ?? at ?? '';
    const last = starts.at(-1) ?? over.event?.until ?? at ?? '';
    // Of those that were recorded it may be a moment more.
    const until = new Date(Date.parse(last) + horizonMs + 3_600_000).toISOString();
    const ids = [...new Set(rows.map(({ contactId }) => contactId))];
    const place = { projectId: this.#job.projectId, automationId: this.#automation.id };
    const facts = await factsOf(this.#db, place, ids, { from, until, asked });
    return new Map(facts.map((contact) => [contact.id, contact]));
  }

  // The executions that are compared with, with all that they recorded.
  async #runsOf(rows: readonly SimulatedContact[]): Promise<ReadonlyMap<string, RecordedRun>> {
    const db = this.#db;
    const ids = rows.flatMap(({ runId }) => runId ?? []);
    if (ids.length === 0) return new Map();
    const options = { populate: ['sentBefore'], disableIdentityMap: true } as const;
    const runs = await db.em.find(AutomationRun, { id: ids }, options);
    const steps = await recordedSteps(db, ids);
    const moves = await db.em.find(
      AutomationMigration,
      { automationId: this.#automation.id },
      { disableIdentityMap: true },
    );
    const read = await pLimit(atOnce).map(runs, (run) => readRun(db, run, steps.get(run.id) ?? [], moves));
    for (const { graph } of read) this.#note(graph);
    return new Map(read.map((run) => [run.id, run]));
  }

  #note({ steps }: Graph): void {
    const { versions } = this.place;
    const ids = steps.map(({ id }) => id).join();
    if (versions.length < mostVersions && !versions.some((known) => known.steps.map(({ id }) => id).join() === ids))
      versions.push({
        steps: steps.map((step) => ({ ...step, config: step.type === 'TRIGGER' ? step.config : {} })),
        transitions: [],
      });
  }

  /** Lets a contact enter as often as the rules of the workflow allow. */
  async #enter(around: Surroundings, questions: Questions, contact: ContactFacts, began: string): Promise<Followed> {
    const { here, there } = this.#spec;
    if (here === null) throw new Error('Contacts enter a graph');
    const ours = await this.#through(around, questions, contact, here.graph);
    const theirs =
      there === null || there === 'actual' ? null : await this.#through(around, questions, contact, there.graph);
    return {
      ...{
        here: ours.executions,
        there: theirs?.executions ?? null,
        refusedHere: ours.refused,
        refusedThere: theirs?.refused ?? [],
      },
      unknown: this.#unknown(around, contact, [...ours.executions, ...(theirs?.executions ?? [])], began, ours.isCut),
      difference: null,
    };
  }

  async #through(around: Surroundings, questions: Questions, contact: ContactFacts, graph: Graph) {
    const { entries, isCut } = await this.#entriesOf(around, questions, contact, graph);
    const { allowReentry } = this.#automation;
    const { over } = this.#spec;
    const earlier = over.event ? contact.runs.filter(({ startedAt }) => startedAt < (over.event?.from ?? '')) : [];
    const executions: Execution[] = [];
    const refused: string[] = [];
    // Executions of before are not simulated, but they are there.
    let busyUntil =
      earlier
        .map(({ completedAt }) => completedAt ?? forever)
        .sort()
        .at(-1) ?? '';
    let hasEntered = over.event !== undefined && contact.entries > contact.runs.length - earlier.length;
    for (const entry of entries) {
      if (hasEntered && !allowReentry) refused.push('reentry');
      else if (entry.at < busyUntil) refused.push('active');
      else {
        hasEntered = true;
        const trigger = await triggerDataOf(this.#db, entry.sourceEventId);
        const ended = await simulate(around, graph, questions, contact, { ...entry, context: trigger, trigger });
        busyUntil = ended.at;
        executions.push(executionOf(graph, ended));
      }
    }
    return { executions, refused, isCut };
  }

  async #entriesOf(
    { limitedBy }: Surroundings,
    questions: Questions,
    contact: ContactFacts,
    graph: Graph,
  ): Promise<{ entries: Entry[]; isCut: boolean }> {
    const { over, at } = this.#spec;
    const entryAt = (instant: string, sourceEventId: string | null, key: string | null): Entry => ({
      ...{
        at: instant,
        startedAt: instant,
        since: instant,
        context: null,
        trigger: null,
        sourceEventId,
        recorded: null,
      },
      limitedBy: key === null ? limitedBy : [...(limitedBy ?? []), key],
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

  /** Takes a contact through a graph as an execution of it went, and compares both. */
  async #repeat(
    around: Surroundings,
    questions: Questions,
    contact: ContactFacts,
    run: RecordedRun,
    began: string,
  ): Promise<Followed> {
    const { here } = this.#spec;
    const recorded = executionOf(run.graph, {
      ...{
        enteredAt: run.entry.startedAt,
        reason: run.exitReason,
        at: run.completedAt,
        steps: run.steps,
        end: run.status,
        goal: null,
      },
    });
    const isOwn = here === null;
    const graph = here?.graph ?? run.graph;
    const unfit = isOwn ? (run.unfit ?? unfitFor(contact, run, began)) : null;
    const entry = isOwn && unfit === null ? run.entry : { ...run.entry, recorded: null };
    const ended = await simulate(around, graph, questions, contact, entry);
    const execution = executionOf(graph, ended);
    const part = isOwn && unfit === null ? firstDifference(ended, run) : null;
    const difference = isOwn ? { unfit, part } : null;
    const unknown = this.#unknown(around, contact, [execution], began, false);
    return { here: [execution], there: [recorded], refusedHere: [], refusedThere: [], unknown, difference };
  }

  #unknown(
    around: Surroundings,
    contact: ContactFacts,
    executions: readonly Execution[],
    began: string,
    isCut: boolean,
  ): Set<Unknown> {
    const first = executions.map(({ enteredAt }) => enteredAt).sort()[0] ?? '';
    const isLater = executions.some(({ endsAt }) => endsAt > new Date(this.#job.createdAt).toISOString());
    const found: [Unknown, boolean][] = [
      ['history', (first !== '' && first < began) || contact.changes.length >= mostChanges],
      ['events', contact.events.length >= mostEvents],
      ['entries', isCut],
      ['future', around.futures === 'recorded' && isLater],
      ['settings', first !== '' && around.settingsAt > first],
    ];
    return new Set(found.flatMap(([code, isTrue]) => (isTrue ? [code] : [])));
  }

  #add(contactId: string, runId: string | null, followed: Followed | null): { tags: string[]; outcome: Outcome } {
    const { place } = this;
    if (followed === null) {
      place.gone += 1;
      return { tags: ['gone'], outcome: { here: [], there: null } };
    }
    const tags = addTo(place.here, followed.here, place.timeZone);
    for (const reason of followed.refusedHere) refuse(place.here, reason);
    if (followed.there !== null && place.there !== null) {
      addTo(place.there, followed.there, place.timeZone);
      for (const reason of followed.refusedThere) refuse(place.there, reason);
      for (const tag of addDifferences(place.mails, followed.here, followed.there)) tags.add(tag);
    }
    for (const code of followed.unknown) place.unknown[code] = (place.unknown[code] ?? 0) + 1;
    if (followed.difference) tags.add(this.#agree(contactId, runId ?? '', followed.difference));
    return {
      tags: [...tags],
      outcome: { here: shownExecutions(followed.here), there: followed.there && shownExecutions(followed.there) },
    };
  }

  #agree(contactId: string, executionId: string, { unfit, part }: NonNullable<Followed['difference']>): string {
    const { agreement } = this.place;
    if (unfit !== null) {
      agreement.notComparable[unfit] = (agreement.notComparable[unfit] ?? 0) + 1;
      return 'notComparable';
    }
    agreement.compared += 1;
    if (part === null) {
      agreement.agree += 1;
      return 'agrees';
    }
    if (agreement.differences.length < mostDifferences) agreement.differences.push({ contactId, executionId, ...part });
    return 'differs';
  }
}

/** What a contact came to. */
interface Followed {
  here: Execution[];
  there: Execution[] | null;
  refusedHere: string[];
  refusedThere: string[];
  unknown: Set<Unknown>;
  difference: { unfit: string | null; part: ReturnType<typeof firstDifference> } | null;
}

/** An execution that has ended, with the graph that it went through and how it began. */
interface RecordedRun {
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

const whyUnfit = {
  cancelled: 'canceled',
  retried: 'retried',
  migrated: 'migrated to another version',
  context: 'data of its start not kept',
  history: 'older than the history of contacts',
} as const;

async function readRun(
  db: Database,
  run: AutomationRun,
  steps: readonly StepRun[],
  moves: readonly AutomationMigration[],
): Promise<RecordedRun> {
  const version = await pinnedVersion(db, run.versionId);
  if (version === null) throw new Error(`The version ${run.versionId} of a graph is gone`);
  const { id, status, sourceEventId, context } = run;
  const source = sourceEventId ? await resumingEvent(db, sourceEventId) : null;
  const startedAt = run.startedAt.toISOString();
  const completedAt = (run.completedAt ?? run.startedAt).toISOString();
  const hasMerged = steps.some(({ output }) => output?.eventData !== undefined);
  const isEvent = typeof triggerOf(version.graph)?.config.eventName === 'string';
  const known = new Set(version.graph.steps.map((step) => step.id));
  const wasMoved =
    steps.some(({ stepId }) => !known.has(stepId)) ||
    moves.some(
      (move) =>
        move.createdAt <= (run.completedAt ?? run.startedAt) && (move.completedAt ?? new Date()) >= run.startedAt,
    );
  const wasRetried =
    run.sentBefore != null || steps.some((step, n) => step.status === 'FAILED' && n < steps.length - 1);
  const unfit = [
    status === 'CANCELLED' && whyUnfit.cancelled,
    wasRetried && whyUnfit.retried,
    wasMoved && whyUnfit.migrated,
    source === null && hasMerged && whyUnfit.context,
  ].find((reason) => reason !== false);
  const own = context ?? null;
  return {
    ...{
      id,
      graph: version.graph,
      steps,
      status,
      exitReason: run.exitReason ?? null,
      completedAt,
      unfit: unfit ?? null,
    },
    entry: {
      ...{
        at: steps[0]?.startedAt ?? startedAt,
        startedAt,
        since: source?.receivedAt ?? startedAt,
        sourceEventId: sourceEventId ?? null,
      },
      ...{ context: source ? source.data : own, trigger: source ? source.data : isEvent ? own : null },
      ...{ limitedBy: run.limitedBy ?? null, recorded: { steps, exitReason: run.exitReason ?? null } },
    },
  };
}

function unfitFor(contact: ContactFacts, { entry }: RecordedRun, began: string): string | null {
  const isCut = contact.changes.length >= mostChanges || contact.events.length >= mostEvents;
  return entry.startedAt < began || isCut ? whyUnfit.history : null;
}
