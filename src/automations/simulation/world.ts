import { stepOf } from '@fernpost/workflow-graph';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import type { Database } from '../../store/sql.ts';
import { type LinkSettings, recipientLinks } from '../../templates/content/links.ts';
import type { TemplateRow } from '../../templates/queries.ts';
import { type Exits, endsOf, exitsOf, goalOf } from '../graph/exits.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import { readStepConfig } from '../graph/step-configs.ts';
import { decideCondition, type TreeScope, treesHold } from '../runtime/condition.ts';
import { StepFailure } from '../runtime/directive.ts';
import { eventOf } from '../runtime/goals.ts';
import { fateOfMail, mailKind, templateOf } from '../runtime/mail-step.ts';
import {
  type Pausing,
  type Rehearsed,
  type RehearsedEvent,
  type RehearsedWorld,
  rehearse,
} from '../runtime/rehearsal.ts';
import { elapsedMs, type LockedRun, resumingEvent, type StepRun } from '../runtime/run-queries.ts';
import { configOf, decideUntil, recipientOf } from '../runtime/steps.ts';
import { webhookRequest } from '../runtime/webhook-request.ts';
import { type Asked, type ContactFacts, type RecordedEvent, Timeline } from './facts.ts';

/** The surroundings of all executions of a simulation. None of them is changed by it. */
export interface Surroundings {
  db: Database;
  links: LinkSettings;
  projectId: string;
  automationId: string;
  automationName: string;
  /** Keys whose limits hold for the mail of the workflow; null for none. */
  limitedBy: string[] | null;
  project: LockedRun['project'];
  /** ISO instant of the last change of the settings of the project. */
  settingsAt: string;
  futures: 'recorded' | 'none';
  horizonMs: number;
  template(id: string | null): Promise<TemplateRow>;
}

/** How a contact enters. Instants are ISO 8601. */
export interface Entry {
  /** When the first step begins. */
  at: string;
  /** When the execution starts, which of those that were recorded is a moment before. */
  startedAt: string;
  /** Since when events count: the instant of the one that starts it. */
  since: string;
  context: JsonObjectValue | null;
  /** The data of the event that starts it; null for none. */
  trigger: JsonObjectValue | null;
  sourceEventId: string | null;
  limitedBy: string[] | null;
  /**
   * When it was the contact's turn in the execution that is compared with, in milliseconds after the instants that it waited for: who else waits is not
   * known, so that others continue at the instants themselves.
   */
  turns: ReadonlyMap<string, number>;
  /** The execution that is followed: its steps say when each was left, and what came from outside. */
  recorded: { steps: readonly StepRun[]; exitReason: string | null } | null;
}

/** A simulated execution. */
export interface Simulated extends Rehearsed {
  enteredAt: string;
  /** Null where the graph has no goal. */
  goal: { metAt: string | null; hadMet: boolean } | null;
}

/** What a graph asks of events: its waits, exits and goal, and the event that starts it. */
export class Questions {
  readonly asked: Asked[] = [];
  readonly #places = new Map<string, number>();
  readonly #causes = new Map<string, Asked | null>();

  /** Adds those of a graph. */
  async add(db: Database, projectId: string, { steps }: Graph): Promise<void> {
    for (const { type, config } of steps) {
      if (type === 'TRIGGER' && typeof config.eventName === 'string') this.#place(config.eventName, config.where);
      const wait = type === 'WAIT_FOR_EVENT' ? readStepConfig('WAIT_FOR_EVENT', config).config : null;
      if (wait) this.#place(wait.eventName, wait.where);
    }
    const goal = goalOf(steps);
    for (const { on } of [...exitsOf(steps), ...(goal ? [goal] : [])]) {
      const key = JSON.stringify(on);
      if (this.#causes.has(key)) continue;
      const asked = await eventOf(db, projectId, on);
      this.#causes.set(key, asked);
      if (asked) this.#place(asked.eventName, asked.where);
    }
  }

  /** The event by which an exit or a goal is met; null for a condition. */
  ofCause(on: object): Asked | null {
    return this.#causes.get(JSON.stringify(on)) ?? null;
  }

  /** Whether an event answers a question. */
  answers({ passes }: RecordedEvent, { eventName, where }: Asked): boolean {
    const place = this.#places.get(keyOf(eventName, where));
    return place !== undefined && passes[place] === true;
  }

  #place(eventName: string, where: unknown): void {
    const key = keyOf(eventName, where);
    if (this.#places.has(key)) return;
    this.#places.set(key, this.asked.push({ eventName, where }) - 1);
  }
}

function keyOf(eventName: string, where: unknown): string {
  return JSON.stringify([eventName, where ?? null]);
}

/**
 * Whether a step saw an event that came within so long of its beginning or its end is what only its record says: transactions of
 * events end after the instant that they bear.
 */
const raceMs = 1_000;

/** Takes a contact through a graph by the interpreter of executions, as of then. Nothing is sent, called or written. */
export async function simulate(
  around: Surroundings,
  graph: Graph,
  questions: Questions,
  facts: ContactFacts,
  entry: Entry,
): Promise<Simulated> {
  const timeline = new Timeline(facts, entry.at, entry.recorded !== null);
  const world = new SimulatedWorld(around, graph, questions, timeline, entry);
  const { projectId, automationId, automationName, project } = around;
  const goal = goalOf(graph.steps);
  const ended = await rehearse(
    {
      ...{ projectId, automationId, automationName, project, graph, context: entry.context },
      ...{ contact: timeline.entering, now: new Date(entry.at), horizon: world.horizon },
      ...{ startedAt: entry.startedAt, sourceEventId: entry.sourceEventId, limitedBy: entry.limitedBy },
      goal: goal && { versionId: '', isOpen: true },
    },
    world,
  );
  const reached = goal && (await world.goal(goal, ended));
  // Who waits is inside until the time is over.
  const at = ended.end === 'WAITING' ? world.horizon : ended.at;
  return { ...ended, at, enteredAt: entry.startedAt, goal: reached };
}

class SimulatedWorld implements RehearsedWorld {
  readonly horizon: string;
  readonly #around: Surroundings;
  readonly #graph: Graph;
  readonly #questions: Questions;
  readonly #timeline: Timeline;
  readonly #entry: Entry;
  /** By step: a graph has no cycles. */
  readonly #recorded: ReadonlyMap<string, StepRun>;
  readonly #events: readonly RecordedEvent[];
  /** The last event that something came of. */
  #taken: { at: string; id: string };
  #reached: { how: 'now' | 'on entry'; at: string } | null = null;

  constructor(around: Surroundings, graph: Graph, questions: Questions, timeline: Timeline, entry: Entry) {
    this.#around = around;
    this.#graph = graph;
    this.#questions = questions;
    this.#timeline = timeline;
    this.#entry = entry;
    this.#recorded = new Map(entry.recorded?.steps.map((step) => [step.stepId, step]));
    this.horizon = new Date(Date.parse(entry.startedAt) + around.horizonMs).toISOString();
    const mayCount = ({ id, at, limitedBy }: RecordedEvent) =>
      id !== entry.sourceEventId &&
      at >= entry.since &&
      (limitedBy === null || entry.limitedBy?.includes(limitedBy) === true);
    this.#events = around.futures === 'recorded' ? timeline.facts.events.filter(mayCount) : [];
    this.#taken = { at: entry.since, id: entry.sourceEventId ?? '' };
  }

  contactAt: RehearsedWorld['contactAt'] = (contact, now) => this.#timeline.at(contact, now);

  hold: RehearsedWorld['hold'] = ({ run, contact }, trees) =>
    treesHold(this.#around.db, trees, contact, this.#scope(run));

  decide: RehearsedWorld['decide'] = ({ run, contact }, config) =>
    decideCondition(this.#around.db, config, { contact, context: run.context }, this.#scope(run));

  send: RehearsedWorld['send'] = async (facts, step) => {
    const { db } = this.#around;
    const recorded = this.#recorded.get(step.id);
    const config = configOf('SEND_EMAIL', step);
    const template = await this.#around.template(step.templateId ?? config.templateId ?? null);
    const recipient = recipientOf(config);
    const { messageClass } = mailKind(template);
    const fate = await fateOfMail(db, facts.run, facts.contact, { from: template.from, messageClass, recipient });
    // Limits and settings as of then have no history.
    if (recorded?.status === 'FAILED' && recorded.error !== null) throw new StepFailure(recorded.error);
    const recipientEmail = recipient.type === 'CUSTOM' ? recipient.customEmail : facts.contact.email;
    const output = { sentAt: facts.run.now, recipientType: recipient.type, recipientEmail };
    if ('skipped' in fate && fate.skipped === 'unsubscribed') return { ...output, skipped: fate.skipped };
    if (recorded && this.#around.settingsAt > this.#entry.startedAt) return { ...output, ...settled(recorded.output) };
    if ('skipped' in fate) return { ...output, skipped: fate.skipped };
    return fate.heldUntil === null ? output : { ...output, heldUntil: fate.heldUntil, heldBy: 'quietHours' };
  };

  request: RehearsedWorld['request'] = ({ run, contact }, step) => {
    const recorded = this.#recorded.get(step.id);
    if (recorded) return { output: recorded.output, error: recorded.error };
    const { links, automationId: id, automationName: name } = this.#around;
    const urls = recipientLinks(links, contact.id, null);
    const facts = { contact, context: run.context, urls, stepRunId: run.id, automation: { id, name }, run };
    const { url, method } = webhookRequest(configOf('WEBHOOK', step), facts);
    return { output: { url: url.href, method, success: true }, error: null };
  };

  // In the order of IDs, as executions find it.
  eventSinceEntry: RehearsedWorld['eventSinceEntry'] = async ({ now }, asked) => {
    const isBegun = ({ startedAt, eventName }: StepRun) => startedAt === now && eventName === asked.eventName;
    const recorded = this.#entry.recorded?.steps.find(isBegun);
    const seen = recorded?.startedAt === recorded?.completedAt ? recorded?.resumeEventId : null;
    const last = new Date(Date.parse(now) - (recorded ? raceMs : 0)).toISOString();
    const isThere = ({ id, at }: RecordedEvent) => at <= last || id === seen;
    const found = this.#events.filter((event) => isThere(event) && this.#questions.answers(event, asked));
    return found.sort(byId)[0]?.id ?? null;
  };

  turn = (until: string): number => this.#entry.turns.get(until) ?? 0;

  event = async (id: string): Promise<RehearsedEvent | null> => {
    const found = await resumingEvent(this.#around.db, id);
    return found && { id, ...found };
  };

  reaches: NonNullable<RehearsedWorld['reaches']> = (how, at) => {
    this.#reached = { how, at };
  };

  wakes: RehearsedWorld['wakes'] = async (pausing) => {
    const { open, until, run } = pausing;
    const recorded = this.#recorded.get(open.stepId);
    const left = recorded?.completedAt ?? null;
    const end = left ?? (until === null || until > this.horizon ? this.horizon : until);
    const change = open.stepType === 'WAIT_UNTIL' ? this.#timeline.nextChange(run.now, end) : null;
    const found = this.#eventWithin(pausing, end, recorded ?? null);
    if (change !== null && (found === null || change < found.at))
      return { at: left !== null && this.#endsBy(change, pausing) ? left : change };
    // A step that waits for longer than its record did is one that differs.
    const late = left !== null && until !== null && until > left ? until : left;
    if (found === null) return late === null ? null : { at: late };
    const { event, at, exit } = found;
    this.#taken = event;
    if (exit) return { at: left ?? at, exit };
    const received = (await this.event(event.id)) ?? { id: event.id, data: null, receivedAt: event.at };
    return { at: left ?? at, event: received };
  };

  /** How a goal was reached within its days, as far as the simulation goes. */
  async goal(goal: NonNullable<ReturnType<typeof goalOf>>, { facts, at }: Rehearsed): Promise<Simulated['goal']> {
    if (this.#reached?.how === 'on entry') return { metAt: null, hadMet: true };
    const { startedAt } = this.#entry;
    const until = new Date(Date.parse(startedAt) + goal.withinDays * dayMs).toISOString();
    const end = earliest(until, this.horizon);
    const asked = this.#questions.ofCause(goal.on);
    if (asked !== null) {
      const met = this.#events.find((event) => event.at <= end && this.#questions.answers(event, asked));
      return { metAt: met?.at ?? null, hadMet: false };
    }
    if (this.#reached !== null) return { metAt: this.#reached.at, hadMet: false };
    if (!goal.on.condition || until > this.horizon) return { metAt: null, hadMet: false };
    // The condition is asked once more when the time is over.
    const contact = this.#timeline.at(facts.contact, latest(at, until));
    const scope = this.#scope({ now: until, context: null });
    const [holds] = await treesHold(this.#around.db, [goal.on.condition], contact, scope).catch(heldByNobody);
    return { metAt: holds ? until : null, hadMet: false };
  }

  // Who was not started by an event has what it was started with.
  #scope({ now, context }: Pick<LockedRun, 'now' | 'context'>): TreeScope {
    const { sourceEventId, trigger } = this.#entry;
    const at = new Date(now);
    return {
      ...{ projectId: this.#around.projectId, now: at, asOf: at },
      trigger: async () => (sourceEventId === null ? context : trigger),
    };
  }

  // Executions end a moment after the change that ends their wait.
  #endsBy(change: string, { open, contact, run }: Pausing): boolean {
    const { config } = readStepConfig('WAIT_UNTIL', open.input);
    const facts = { contact: this.#timeline.by(contact, change), context: run.context };
    return config === null || decideUntil(config, facts, change, open.scheduledFor).state === 'over';
  }

  /** The first event until an instant that ends the run or its wait; of one that does both, the exit wins. */
  #eventWithin(
    { open, run }: Pausing,
    end: string,
    recorded: StepRun | null,
  ): { event: RecordedEvent; at: string; exit?: Exits[number] } | null {
    const wait = { eventName: open.eventName ?? '', where: open.input?.where };
    const isWait = open.stepType === 'WAIT_FOR_EVENT';
    for (const event of this.#events) {
      const time = this.#timeOf(event, open.startedAt, end, recorded !== null);
      if (time === 'before' || time === 'after') continue;
      const at = latest(event.at, run.now);
      const exit = endsOf(this.#graph.steps, elapsedMs({ now: at, startedAt: run.startedAt })).find(({ on }) => {
        const cause = this.#questions.ofCause(on);
        return cause !== null && this.#questions.answers(event, cause);
      });
      const isMet = time === 'within' || recorded === null;
      if (exit && (isMet || this.#leftBy(recorded, exit))) return { event, at, exit };
      if (isWait && (isMet || event.id === recorded.resumeEventId) && this.#questions.answers(event, wait))
        return { event, at };
    }
    return null;
  }

  #timeOf(
    { at, id }: RecordedEvent,
    startedAt: string,
    end: string,
    isRecorded: boolean,
  ): 'before' | 'after' | 'within' | 'close' {
    const { at: takenAt, id: takenId } = this.#taken;
    if (id === takenId) return 'before';
    if (!isRecorded) {
      const isNew = (at > takenAt || (at === takenAt && id > takenId)) && at >= startedAt;
      return isNew ? (at <= end ? 'within' : 'after') : 'before';
    }
    const [began, came, left] = [Date.parse(startedAt), Date.parse(at), Date.parse(end)];
    if (came >= began + raceMs && came <= left - raceMs) return 'within';
    // The transaction of an event may take an hour.
    if (came < began - hourMs) return 'before';
    return came > left ? 'after' : 'close';
  }

  // Around the ends of a step the record alone says which event it saw.
  #leftBy(recorded: StepRun, { id, reason }: Exits[number]): boolean {
    if (recorded.output?.exit !== undefined) return recorded.output.exit === id;
    const { steps = [], exitReason = null } = this.#entry.recorded ?? {};
    return recorded.stepType === 'WEBHOOK' && steps.at(-1) === recorded && exitReason === reason;
  }
}

const earliest = (...instants: string[]): string => instants.sort()[0] ?? '';
const latest = (...instants: string[]): string => instants.sort().at(-1) ?? '';
const byId = (one: RecordedEvent, other: RecordedEvent) => (one.id < other.id ? -1 : 1);

function heldByNobody(error: unknown): boolean[] {
  if (error instanceof StepFailure) return [false];
  throw error;
}

// What the settings of then made of a mail.
function settled(output: JsonObjectValue | null): JsonObjectValue {
  const { skipped, heldUntil, heldBy } = output ?? {};
  return Object.fromEntries(
    Object.entries({ skipped, heldUntil, heldBy }).filter(([, value]) => value !== undefined),
  ) as JsonObjectValue;
}

/** The data of the event that starts an execution; null for none. */
export async function triggerDataOf(db: Database, eventId: string | null): Promise<JsonObjectValue | null> {
  return eventId === null ? null : ((await resumingEvent(db, eventId))?.data ?? null);
}

/** Reads templates once for a share of a simulation. */
export function templatesOf(db: Database, projectId: string): Surroundings['template'] {
  const known = new Map<string | null, Promise<TemplateRow>>();
  return (id) => {
    const reading = known.get(id) ?? templateOf(db, projectId, id);
    known.set(id, reading);
    return reading;
  };
}

/** The template of a step that sends mail; null where it names none. */
export function templateOfStep(graph: Graph, stepId: string): string | null {
  const step: GraphStep | undefined = stepOf(graph, stepId);
  return step?.templateId ?? (typeof step?.config.templateId === 'string' ? step.config.templateId : null);
}
