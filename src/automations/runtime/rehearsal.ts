import { stepOf, triggerOf } from '@fernpost/workflow-graph';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { openStepStatuses } from '../../lib/enums.ts';
import { newId } from '../../lib/ids.ts';
import { type Exits, endsOf } from '../graph/exits.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import type { StepContact, StepFacts } from './condition.ts';
import { StepFailure } from './directive.ts';
import { elapsedMs, type LockedRun, type StepRun } from './run-queries.ts';
import type { Effects, RunFacts } from './steps.ts';
import { walk } from './walk.ts';

/** An event as a rehearsal invents it. */
export interface RehearsedEvent {
  name: string;
  data: JsonObjectValue | null;
}

/** The answers to the steps of a rehearsal. None of these calls may have an effect. */
export interface RehearsedWorld extends Pick<Effects, 'hold' | 'decide' | 'send'> {
  /** The output of a WEBHOOK, which is not called. @throws StepFailure for one that makes no request */
  request(facts: RunFacts, step: GraphStep): JsonObjectValue;
  /** The event of a name that comes as soon as it is waited for; null where none ever does. */
  awaited(eventName: string): RehearsedEvent | null;
  /** Whether an event passes the tests of a wait. */
  passes(event: RehearsedEvent, where: unknown): Promise<boolean>;
  /** Whether an event is one that an exit is for. */
  meets(event: RehearsedEvent, on: Exits[number]['on']): Promise<boolean>;
}

/** Where a rehearsal begins. */
export interface RehearsedRun
  extends Pick<LockedRun, 'projectId' | 'automationId' | 'automationName' | 'context' | 'project'> {
  graph: Graph;
  contact: StepContact;
  now: Date;
}

/** How a rehearsal went, with its step executions in their order. `WAITING` is one that nothing ends. */
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
  readonly #steps = new Map<string, StepRun>();
  #run: LockedRun;
  #contact: StepContact;
  #received: RehearsedEvent | null = null;

  constructor({ graph, contact, now, ...facts }: RehearsedRun, world: RehearsedWorld) {
    this.#graph = graph;
    this.#world = world;
    this.#contact = contact;
    this.#run = {
      ...facts,
      ...{ id: newId(), contactId: contact.id, versionId: newId(), currentStepId: triggerOf(graph)?.id ?? null },
      ...{ status: 'RUNNING', seq: 0, startedAt: now.toISOString(), now: now.toISOString(), dueAt: null },
      ...{ nextVersionId: null, exitReason: null, exitEventId: null, sourceEventId: null, sentBefore: null },
      ...{ limitedBy: null, goal: null, paused: false, spreads: false },
    };
    this.#effects = this.#effectsIn(world);
  }

  /** Goes on until the run waits, and lets time pass, the event come or the webhook answer; an exit ends it. Answers how it ended, once it has. */
  async goOn(exit: Exits[number] | null): Promise<Rehearsed | null> {
    const scene = { run: this.#run, contact: this.#contact, effects: this.#effects, holdsUsage: true };
    const { directive } = await walk(scene, this.#open(), true, exit);
    switch (directive.next) {
      case 'done': {
        const { status, reason } = directive;
        return this.#ended(status === 'COMPLETED' || status === 'EXITED' ? status : 'FAILED', reason);
      }
      case 'sleep':
        return this.#pass(directive.until);
      case 'wait':
        return this.#wait();
      case 'http':
        return this.#call();
      case 'goOn':
        // A graph that is not saved may lead back to itself.
        if (this.#steps.size <= this.#graph.steps.length) return null;
        return this.#ended('FAILED', 'The path leads back to a step it has passed');
    }
  }

  #effectsIn({ hold, decide, send }: RehearsedWorld): Effects {
    return {
      hold,
      decide,
      send,
      graph: async () => this.#graph,
      // An event that is awaited comes when the wait has begun.
      eventSinceEntry: async () => null,
      event: async () => this.#received && { data: this.#received.data, receivedAt: this.#run.now },
      update: async ({ run, contact }, { subscribed, set, remove }) => {
        const kept = Object.entries({ ...contact.data, ...set }).filter(([key]) => !remove.includes(key));
        const data = Object.fromEntries(kept) as JsonObjectValue;
        this.#contact = { ...contact, data, subscribed: subscribed ?? contact.subscribed, updatedAt: run.now };
        return this.#contact;
      },
      save: async (run, { change: { completedAt: _, ...change }, written }) => {
        this.#run = { ...run, ...change };
        for (const step of written) this.#steps.set(step.id, step);
      },
    };
  }

  #open(): StepRun | null {
    return [...this.#steps.values()].find(({ status }) => openStepStatuses.has(status)) ?? null;
  }

  #pass(until: string): null {
    if (until > this.#run.now) this.#run.now = until;
    return null;
  }

  // An event that both ends the run and is waited for ends the run.
  async #wait(): Promise<Rehearsed | null> {
    const open = this.#open();
    if (open === null || open.eventName === null) return this.#ended('WAITING', 'The contact has no date to wait for');
    const { awaited, meets, passes } = this.#world;
    const event = awaited(open.eventName);
    if (event !== null) {
      for (const exit of endsOf(this.#graph.steps, elapsedMs(this.#run)))
        if (await meets(event, exit.on)) return this.goOn(exit);
      if (await passes(event, open.input?.where)) {
        this.#received = event;
        Object.assign(open, { outcome: 'EVENT', resumeEventId: newId() });
        return null;
      }
    }
    if (open.executeAfter !== null) return this.#pass(open.executeAfter);
    return this.#ended('WAITING', 'The event never comes, and the wait has no timeout');
  }

  #call(): null {
    const open = this.#open();
    const step = open && stepOf(this.#graph, open.stepId);
    if (!open || !step) throw new Error('A step that calls a webhook is open and part of the graph');
    try {
      open.output = this.#world.request({ run: this.#run, contact: this.#contact }, step);
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      open.error = error.message;
    }
    return null;
  }

  #ended(end: Rehearsed['end'], reason: string | null): Rehearsed {
    const { now: at, context } = this.#run;
    return { end, reason, at, steps: [...this.#steps.values()], facts: { contact: this.#contact, context } };
  }
}
