import { nextStep, type StepResult, triggerOf } from '@fernpost/workflow-graph';
import { type JsonObjectValue, splitData } from '../../lib/contact-data.ts';
import { AppError } from '../../lib/errors.ts';
import { placeByHash } from '../../lib/ids.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import {
  delayMs,
  hundredths,
  readStepConfig,
  type StepConfigs,
  type StepType,
  unnamedExit,
} from '../graph/step-configs.ts';
import { dateInstant, nextTime, type WaitUntil, zoneFor } from '../graph/wait-until.ts';
import {
  type ConditionConfig,
  type ConditionOutput,
  fieldValue,
  type StepContact,
  type StepFacts,
} from './condition.ts';
import { type ShownWait, StepFailure } from './directive.ts';
import type { MailRecipient } from './mail-step.ts';
import type { LockedRun, RunChange, StepRun } from './run-queries.ts';

/** The run and the contact that something is asked or done for, as the steps before have left them. */
export interface RunFacts {
  run: LockedRun;
  contact: StepContact;
}

/** What is walked with. `contact` is replaced when a step changes it. */
export interface StepScene extends RunFacts {
  effects: Effects;
  /** Whether usage was locked before anything else, so that an exit may give back that of mail. */
  holdsUsage: boolean;
}

/**
 * All that a walk asks and does outside itself: runs by the rows of the database (`advance.ts`), rehearsals without leaving a trace
 * (`rehearsal.ts`). What a graph means is decided by the walk alone.
 */
export interface Effects {
  graph(versionId: string): Promise<Graph>;
  /** Whether condition trees hold for the contact. @throws StepFailure for one that cannot be asked */
  hold(facts: RunFacts, trees: readonly unknown[]): Promise<boolean[]>;
  /** Decides a CONDITION. @throws StepFailure */
  decide(facts: RunFacts, config: ConditionConfig): Promise<ConditionOutput>;
  /** The ID of the first event since the entry that a wait asks for, null for none. */
  eventSinceEntry(run: LockedRun, asked: { eventName: string; where: unknown }): Promise<string | null>;
  /** How long after an instant it is the contact's turn, in milliseconds, among those of its project who wait for it. */
  turn(run: LockedRun, until: string): Promise<number>;
  /** The event that ended a wait, its values unwrapped; null when it has been deleted since. */
  event(id: string): Promise<{ data: JsonObjectValue | null; receivedAt: string } | null>;
  /** Sends the mail of a step, and answers the output. `skipped` says why it did not. @throws StepFailure */
  send(facts: RunFacts, step: GraphStep, stepRunId: string): Promise<JsonObjectValue>;
  /** Changes the contact, and answers it as it is then. @throws StepFailure */
  update(facts: RunFacts, change: StepUpdate): Promise<StepContact>;
  save(run: LockedRun, saved: WalkChanges): Promise<void>;
}

/** The changes of an UPDATE_CONTACT; `subscribed` is null where that stays. */
export interface StepUpdate extends ReturnType<typeof splitUpdates> {
  subscribed: boolean | null;
}

/** What a walk has changed. */
export interface WalkChanges {
  change: RunChange;
  /** The step executions that were made or changed. */
  written: readonly StepRun[];
  /** The reason for which the run left before its path ended; null where it did not. */
  exit: string | null;
  /** That the contact meets the goal's condition, or met it when it entered. */
  reached: 'now' | 'on entry' | null;
}

/** How entering a step went. */
export type Entered =
  /** It is done: its output, and what that says about the path to take. */
  | { done: true; output: JsonObjectValue; result?: StepResult; contact?: StepContact; exit?: string }
  /** It is open: what it waits for. */
  | { done: false; waits: Partial<StepRun> };

/** A step's config as its type has it, and as the step execution keeps it. @throws StepFailure naming what is wrong */
export function configOf<Type extends StepType>(type: Type, step: GraphStep): StepConfigs[Type] {
  const reading = readStepConfig(type, step.config);
  if (reading.problems === null) return reading.config;
  const texts = reading.problems.map(({ field, message }) =>
    field === '' ? `the config ${message}` : `"${field}" ${message}`,
  );
  throw new StepFailure(`The step's config cannot be used: ${texts.join('; ')}`);
}

/** Enters a step, and finishes it where nothing has to be waited for. @throws StepFailure */
export async function enterStep(scene: StepScene, step: GraphStep, stepRunId: string): Promise<Entered> {
  switch (step.type) {
    case 'TRIGGER':
      return { done: true, output: triggered(step, scene.run) };
    case 'SEND_EMAIL':
      return { done: true, output: await scene.effects.send(scene, step, stepRunId) };
    case 'DELAY': {
      const scheduledFor = later(scene.run.now, delayMs(configOf('DELAY', step)));
      return { done: false, waits: { status: 'SCHEDULED', scheduledFor } };
    }
    case 'WAIT_FOR_EVENT': {
      const { run, effects } = scene;
      const { eventName, timeout = null, where, countsFrom } = configOf('WAIT_FOR_EVENT', step);
      const executeAfter = timeout === null ? null : later(run.now, Math.ceil(timeout * 1000));
      const waits = { status: 'WAITING', eventName, executeAfter } as const;
      if (countsFrom !== 'entry') return { done: false, waits };
      const resumeEventId = await effects.eventSinceEntry(run, { eventName, where });
      return { done: false, waits: { ...waits, resumeEventId, outcome: resumeEventId === null ? null : 'EVENT' } };
    }
    case 'WAIT_UNTIL': {
      const { run, contact } = scene;
      const decided = decideUntil(configOf('WAIT_UNTIL', step), { contact, context: run.context }, run.now, null);
      if (decided.state === 'waits')
        return { done: false, waits: { status: 'SCHEDULED', scheduledFor: decided.output.until } };
      return { done: true, output: decided.output, ...(decided.exit && { exit: decided.exit }) };
    }
    case 'CONDITION': {
      const output = await scene.effects.decide(scene, configOf('CONDITION', step) as ConditionConfig);
      return { done: true, output: { ...output }, result: { branch: output.branch } };
    }
    case 'SPLIT': {
      const output = decideSplit(step, scene.contact.id);
      return { done: true, output: { ...output }, result: { branch: output.branch } };
    }
    case 'WEBHOOK':
      configOf('WEBHOOK', step);
      return { done: false, waits: { status: 'RUNNING' } };
    case 'UPDATE_CONTACT':
      return updateContact(scene, step);
    case 'EXIT': {
      const reason = configOf('EXIT', step).reason || unnamedExit;
      return { done: true, output: { exited: true, reason }, exit: reason };
    }
  }
}

function later(instant: string, ms: number): string {
  return new Date(Date.parse(instant) + ms).toISOString();
}

// Steps that take no time and have one way out.
const passing: ReadonlySet<string> = new Set(['TRIGGER', 'SEND_EMAIL', 'UPDATE_CONTACT']);

/** The first wait of whoever enters a graph at an ISO instant, where that does not depend on who it is; null where it may. */
export function firstWait(graph: Graph, at: string): ShownWait | null {
  let step = triggerOf(graph) ?? null;
  for (let passed = 0; step !== null && passing.has(step.type) && passed < graph.steps.length; passed += 1)
    step = nextStep(graph, step.id);
  if (step?.type === 'DELAY') {
    const { config } = readStepConfig('DELAY', step.config);
    return config && { waitingFor: 'timer', dueAt: later(at, delayMs(config)) };
  }
  const { config } = step?.type === 'WAIT_FOR_EVENT' ? readStepConfig('WAIT_FOR_EVENT', step.config) : { config: null };
  // One that counts from the entry may be over before it begins, and is looked at once more before its time.
  if (!config || config.countsFrom === 'entry') return null;
  const { eventName, timeout = null } = config;
  return { waitingFor: eventName, dueAt: timeout === null ? null : later(at, Math.ceil(timeout * 1000)) };
}

/** How a WAIT_UNTIL stands. */
interface UntilDecision {
  state: 'waits' | 'over';
  /** `until` is the instant as ISO 8601, null while the contact has no date; the zone is the one that holds for the contact. */
  output: { until: string | null; zone: string; invalidZone?: true; passed?: true };
  /** The reason for which the contact leaves the workflow. */
  exit?: string;
}

/**
 * Decides whether a WAIT_UNTIL waits, by the contact as it is now: it may have got another date or zone since. `before` is the instant
 * that was waited for; reaching it ends the wait, and a date that lies in the past otherwise has passed.
 */
export function decideUntil(config: WaitUntil, facts: StepFacts, now: string, before: string | null): UntilDecision {
  const { zone, isInvalid } = zoneFor(config, facts.contact.data);
  const at = Date.parse(now);
  const outputOf = (until: number | null) => ({
    until: until === null ? null : new Date(until).toISOString(),
    zone,
    ...(isInvalid && { invalidZone: true as const }),
  });
  if ('time' in config) {
    const reached = before !== null && before <= now ? Date.parse(before) : null;
    const until = reached ?? nextTime(config, zone, at);
    return { state: until <= at ? 'over' : 'waits', output: outputOf(until) };
  }
  const until = dateInstant(config, fieldValue(config.field, facts), zone);
  const output = outputOf(until);
  if (until === null || until > at) return { state: 'waits', output };
  if (output.until === before) return { state: 'over', output };
  const passed = { state: 'over', output: { ...output, passed: true } } as const;
  return config.passed === 'exit' ? { ...passed, exit: 'date_passed' } : passed;
}

/** The output of a SPLIT: the branch, its share in percent, and whether its contacts are the control group. */
interface SplitOutput {
  branch: string;
  percent: number;
  holdout: boolean;
}

/**
 * Assigns a contact to a branch of a SPLIT by a hash of the step's key and the contact, so that every execution, test run and
 * version sends it the same way while the shares stay. @throws StepFailure
 */
export function decideSplit(step: GraphStep, contactId: string): SplitOutput {
  const { branches, holdout, key } = configOf('SPLIT', step);
  let rest = placeByHash(key ?? step.id, contactId);
  const chosen = branches.find((branch) => {
    rest -= hundredths(branch);
    return rest < 0;
  });
  if (chosen === undefined) throw new StepFailure('The branches of the split do not add up to 100 percent');
  return { branch: chosen.id, percent: chosen.percent, holdout: chosen.id === holdout };
}

/** The config as the record of a step shows it; headers of webhooks may hold secrets. */
export function inputOf(step: GraphStep): JsonObjectValue {
  const { headers: _, ...config } = step.config as JsonObjectValue & { headers?: unknown };
  return step.type === 'WEBHOOK' ? config : (step.config as JsonObjectValue);
}

// What is started by the contact itself is started by its creation.
function triggered(step: GraphStep, { now, contactId, sourceEventId }: LockedRun): JsonObjectValue {
  const { eventName } = step.config;
  const byHand = sourceEventId === contactId ? 'contact.created' : 'manual';
  return { triggered: true, eventName: typeof eventName === 'string' ? eventName : byHand, timestamp: now };
}

/** Whom a step writes to. */
export function recipientOf({ recipient }: StepConfigs['SEND_EMAIL']): MailRecipient {
  if (recipient?.type !== 'CUSTOM' || typeof recipient.customEmail !== 'string') return { type: 'CONTACT' };
  return { type: 'CUSTOM', customEmail: recipient.customEmail };
}

async function updateContact(scene: StepScene, step: GraphStep): Promise<Entered> {
  const { updates, subscriptionAction } = configOf('UPDATE_CONTACT', step);
  const subscribed = subscriptionAction === 'none' ? null : subscriptionAction === 'subscribe';
  const contact = await scene.effects.update(scene, { subscribed, ...splitUpdates(updates) });
  return {
    done: true,
    output: {
      updated: true,
      updates: updates as JsonObjectValue,
      newData: contact.data,
      subscriptionAction,
      subscribed: contact.subscribed,
    },
    contact,
  };
}

/** Splits the updates of an UPDATE_CONTACT into what it sets and removes. @throws StepFailure for data that no contact can have */
function splitUpdates(updates: Readonly<Record<string, unknown>>) {
  try {
    return splitData(updates);
  } catch (error) {
    throw error instanceof AppError ? new StepFailure(error.message) : error;
  }
}
