import { stepOf, triggerOf } from '@fernpost/workflow-graph';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { openStepStatuses } from '../../lib/enums.ts';
import { newId } from '../../lib/ids.ts';
import type { Exits } from '../graph/exits.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import type { StepContact, StepFacts } from './condition.ts';
import { StepFailure } from './directive.ts';
import type { LockedRun, StepRun } from './run-queries.ts';
import type { Effects, RunFacts } from './steps.ts';
import { walk } from './walk.ts';

/** An event as a rehearsal has it. */
export interface RehearsedEvent {
  id: string;
  data: JsonObjectValue | null;
  receivedAt: string;
}

/** What ends a pause of a rehearsal: an event, an exit, or a reason to check the step that waits again. */
export interface Waking {
  /** ISO instant; one in the past is now. */
  at: string;
  exit?: Exits[number];
  event?: RehearsedEvent;
}

/** A run that is in a step, until an instant or without end. */
export interface Pausing extends RunFacts {
  open: StepRun;
  until: string | null;
}

/** The answers to the steps of a rehearsal. None of these calls may have an effect. */
export interface RehearsedWorld extends Pick<Effects, 'hold' | 'decide' | 'send' | 'eventSinceEntry'> {
  /** What comes of a WEBHOOK, which is not called. @throws StepFailure for one that makes no request */
  request(facts: RunFacts, step: GraphStep): Pick<StepRun, 'output' | 'error'>;
  /** What ends a pause; null where only its time does. */
  wakes(pausing: Pausing): Promise<Waking | null>;
  /** How long after an instant the contact has its turn, in milliseconds; nobody waits for others when absent. */
  turn?(until: string): number;
  /** An event by which a wait was passed that did not wait. */
  event(id: string): Promise<RehearsedEvent | null>;
  /** The contact by now, from the way that the steps have left it. */
  contactAt(contact: StepContact, now: string): StepContact;
  /** Notes that the contact meets the condition of the goal. */
  reaches?(how: 'now' | 'on entry', now: string): void;
}

/** Where a rehearsal begins. */
export interface RehearsedRun
  extends Pick<LockedRun, 'projectId' | 'automationId' | 'automationName' | 'context' | 'project'>,
    Partial<Pick<LockedRun, 'sourceEventId' | 'limitedBy' | 'startedAt' | 'goal'>> {
  graph: Graph;
  contact: StepContact;
  now: Date;
  /** ISO instant after which nothing is rehearsed. */
  horizon?: string | null;
}

/** How a rehearsal went, with its step executions in their order. `WAITING` is one that nothing ends, or that goes on after the horizon. */
export interface Rehearsed {
  end: 'COMPLETED' | 'EXITED' | 'FAILED' | 'WAITING';
  reason: string | null;
  /** ISO instant of the end. */
  at: string;
  steps: StepRun[];
  /** The contact and the context as the steps have left them. */
  facts: StepFacts;
}

/** Takes a contact through a graph by the walk of runs, in the time that it would take, and writes nothing. */
export async function rehearse(run: RehearsedRun, world: RehearsedWorld): Promise<Rehearsed> {
  const rehearsal = new Rehearsal(run, world);
  for (;;) {
    const ended = await rehearsal.goOn(null);
    if (ended !== null) return ended;
  }
}

/** A rehearsal under way: it stands in for the rows of a run, its execution, and those who record events and answer webhooks. */
class Rehearsal {
  readonly #graph: Graph;
  readonly #world: RehearsedWorld;
  readonly #effects: Effects;
  readonly #horizon: string | null;
  readonly #steps = new Map<string, StepRun>();
  #run: LockedRun;
  #contact: StepContact;
  #received: RehearsedEvent | null = null;

  constructor({ graph, contact, now, horizon = null, ...facts }: RehearsedRun, world: RehearsedWorld) {
    this.#graph = graph;
    this.#world = world;
    this.#horizon = horizon;
    this.#contact = contact;
    this.#run = {
      ...{ id: newId(), contactId: contact.id, versionId: newId(), currentStepId: triggerOf(graph)?.id ?? null },
      ...{ status: 'RUNNING', seq: 0, startedAt: now.toISOString(), now: now.toISOString(), dueAt: null },
      ...{ nextVersionId: null, exitReason: null, exitEventId: null, sourceEventId: null, sentBefore: null },
      ...{ limitedBy: null, goal: null, paused: false, spreads: false },
      ...facts,
    };
    this.#effects = this.#effectsIn(world);
  }

  /** Goes on until the run waits, and lets time pass, the event come or the webhook answer; an exit ends it. Answers how it ended, once it has. */
  async goOn(exit: Exits[number] | null): Promise<Rehearsed | null> {
    this.#contact = this.#world.contactAt(this.#contact, this.#run.now);
    const scene = { run: this.#run, contact: this.#contact, effects: this.#effects, holdsUsage: true };
    const { directive } = await walk(scene, this.#open(), true, exit);
    switch (directive.next) {
      case 'done': {
        const { status, reason } = directive;
        return this.#ended(status === 'COMPLETED' || status === 'EXITED' ? status : 'FAILED', reason);
      }
      case 'sleep':
      case 'wait':
        return this.#pause(directive.until);
      case 'http':
        return this.#pause(this.#run.now);
      case 'goOn':
        // A graph that is not saved may lead back to itself.
        if (this.#steps.size <= this.#graph.steps.length) return null;
        return this.#ended('FAILED', 'The path leads back to a step it has passed');
    }
  }

  #effectsIn({ hold, decide, send, eventSinceEntry, turn, event, reaches }: RehearsedWorld): Effects {
    return {
      hold,
      decide,
      send,
      eventSinceEntry,
      turn: async (_run, until) => turn?.(until) ?? 0,
      graph: async () => this.#graph,
      event: async (id) => (this.#received?.id === id ? this.#received : event(id)),
      update: async ({ run, contact }, { subscribed, set, remove }) => {
        const kept = Object.entries({ ...contact.data, ...set }).filter(([key]) => !remove.includes(key));
        const data = Object.fromEntries(kept) as JsonObjectValue;
        this.#contact = { ...contact, data, subscribed: subscribed ?? contact.subscribed, updatedAt: run.now };
        return this.#contact;
      },
      save: async (run, { change: { completedAt: _, ...change }, written, reached }) => {
        const goal = reached === null || run.goal === null ? run.goal : { ...run.goal, isOpen: false };
        this.#run = { ...run, ...change, goal };
        if (reached !== null) reaches?.(reached, run.now);
        for (const step of written) this.#steps.set(step.id, step);
      },
    };
  }

  #open(): StepRun | null {
    return [...this.#steps.values()].find(({ status }) => openStepStatuses.has(status)) ?? null;
  }

  async #pause(until: string | null): Promise<Rehearsed | null> {
    const open = this.#open();
    if (open === null) throw new Error('A run that waits is in a step');
    const waking = await this.#world.wakes({ run: this.#run, contact: this.#contact, open, until });
    const at = waking?.at ?? until;
    if (at === null || (this.#horizon !== null && at > this.#horizon)) return this.#stays(open);
    if (at > this.#run.now) this.#run.now = at;
    // A webhook under way is not cut off.
    if (open.stepType === 'WEBHOOK') this.#call(open);
    if (waking?.exit) return this.goOn(waking.exit);
    if (waking?.event) {
      this.#received = waking.event;
      Object.assign(open, { outcome: 'EVENT', resumeEventId: waking.event.id });
    }
    return null;
  }

  #stays({ eventName, executeAfter, scheduledFor }: StepRun): Rehearsed {
    if (executeAfter !== null || scheduledFor !== null) return this.#ended('WAITING', null);
    if (eventName === null) return this.#ended('WAITING', 'The contact has no date to wait for');
    return this.#ended('WAITING', 'The event never comes, and the wait has no timeout');
  }

  #call(open: StepRun): void {
    const step = stepOf(this.#graph, open.stepId);
    if (!step) throw new Error('A step that calls a webhook is part of the graph');
    try {
      Object.assign(open, this.#world.request({ run: this.#run, contact: this.#contact }, step));
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      open.error = error.message;
    }
  }

  #ended(end: Rehearsed['end'], reason: string | null): Rehearsed {
    const { now: at, context } = this.#run;
    return { end, reason, at, steps: [...this.#steps.values()], facts: { contact: this.#contact, context } };
  }
}
