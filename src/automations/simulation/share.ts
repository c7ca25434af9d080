import pLimit from 'p-limit';
import { historyBegan } from '../../contacts/history-queries.ts';
import type { JobRow } from '../../imports/queries.ts';
import { isoInstant } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import type { LinkSettings } from '../../templates/content/links.ts';
import { type Automation, AutomationRun } from '../entity.ts';
import type { Graph } from '../graph/graph.ts';
import { AutomationMigration } from '../migrating/queries.ts';
import { settingsOf } from '../test-run/service.ts';
import { type ContactFacts, factsOf, mostChanges, mostEvents, recordedSteps, SimulatedContact } from './facts.ts';
import { enter, type Followed, type RecordedRun, readRun, repeat, type Scene } from './follow.ts';
import type { SimulationResult, simulationLimits } from './schema.ts';
import type { SimulationSpec } from './service.ts';
import { addDifferences, addTo, type MailSums, type Outcome, refuse, type Sums, shownExecutions } from './tally.ts';
import { Questions, type Surroundings, templatesOf } from './world.ts';

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

/** Contacts that are simulated together. */
export const contactsPerStep = 50;
// Each waits for Postgres most of the time.
const atOnce = 4;
const mostDifferences = 20;
const mostVersions = 20;

/** The contacts of a job that are simulated together, and its sums with theirs. */
export class Share {
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
    const runs = await this.#runsOf(rows);
    const questions = await this.#questions(runs);
    const facts = await this.#facts(rows, runs, questions);
    const began = isoInstant(await historyBegan(db, this.#deps.keptDays));
    const around = await this.#around();
    const scene = { around, questions, spec: this.#spec, allowReentry: this.#automation.allowReentry, began };
    const followed = await pLimit(atOnce).map(rows, async ({ contactId, runId }) => {
      const contact = facts.get(contactId);
      const run = runId ? runs.get(runId) : null;
      if (contact === undefined || (runId && !run)) return null;
      const one = await (run ? repeat(scene, contact, run) : enter(scene, contact));
      return { ...one, unknown: this.#unknown(scene, contact, one) };
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
      ...{ db, links, projectId, automationId, automationName, futures, horizonMs },
      ...(await settingsOf(db, projectId)),
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

  #unknown(
    { around: { futures, settingsAt }, began }: Scene,
    { changes, events }: ContactFacts,
    { here, there, isCut }: Followed,
  ): Unknown[] {
    // What was recorded is known.
    const executions = this.#spec.there === 'actual' ? here : [...here, ...(there ?? [])];
    const first = executions.map(({ enteredAt }) => enteredAt).sort()[0] ?? '';
    const isLater = executions.some(({ endsAt }) => endsAt > new Date(this.#job.createdAt).toISOString());
    const found: [Unknown, boolean][] = [
      ['history', (first !== '' && first < began) || changes.length >= mostChanges],
      ['events', events.length >= mostEvents],
      ['entries', isCut],
      ['future', futures === 'recorded' && isLater],
      ['settings', first !== '' && settingsAt > first],
    ];
    return found.flatMap(([code, isTrue]) => (isTrue ? [code] : []));
  }

  #add(
    contactId: string,
    runId: string | null,
    followed: (Followed & { unknown: Unknown[] }) | null,
  ): { tags: string[]; outcome: Outcome } {
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
