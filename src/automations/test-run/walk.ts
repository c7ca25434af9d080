import { nextStep, type StepResult, triggerOf } from '@fernpost/workflow-graph';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { asksConditions, type Exits, endsOf } from '../graph/exits.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import { delayMs, unnamedExit } from '../graph/step-configs.ts';
import { nextTime, occurrencesOf, readDateTrigger, zoneFor } from '../graph/wait-until.ts';
import {
  type ConditionConfig,
  type ConditionOutput,
  contextOf,
  fieldValue,
  mergeContext,
  type StepFacts,
} from '../runtime/condition.ts';
import { StepFailure } from '../runtime/directive.ts';
import { configOf, decideSplit, decideUntil, splitUpdates } from '../runtime/steps.ts';
import type { TestedStep, TestRun, TestRunBody } from './service.ts';

/** The calls that the steps of a test run make. None of them may have an effect. */
export interface Rehearsal {
  /** Returns the mail that a SEND_EMAIL would send; `skipped` says why it would not. @throws StepFailure */
  email(step: GraphStep, facts: StepFacts): Promise<JsonObjectValue>;
  /** Decides a CONDITION at an instant, in milliseconds. @throws StepFailure */
  condition(config: ConditionConfig, facts: StepFacts, at: number): Promise<ConditionOutput>;
  /** Whether an event passes the tests of a trigger or a wait. */
  passes(event: { name: string; data: JsonObjectValue | null }, where: unknown): Promise<boolean>;
  /** The request that a WEBHOOK would make. @throws StepFailure */
  request(step: GraphStep, facts: StepFacts): JsonObjectValue;
}

/** How a step went. `endsAt` is the instant at which the contact leaves it, in milliseconds. */
interface Tried {
  output: JsonObjectValue;
  endsAt: number;
  outcome?: TestedStep['outcome'];
  result?: StepResult;
  facts?: StepFacts;
  exit?: string;
}

/** Follows a contact through a graph without doing anything, in the time that it would take. */
export async function tryGraph(
  graph: Graph,
  start: StepFacts,
  now: Date,
  { data, waits, waitData }: Pick<TestRun, 'data' | 'waits' | 'waitData'>,
  rehearsal: Rehearsal,
): Promise<TestRunBody> {
  const steps: TestedStep[] = [];
  let facts = start;
  let at = now.getTime();
  const ended = (end: TestRunBody['end'], reason: string | null): TestRunBody => ({
    end,
    reason,
    endsAt: end === 'WAITING' ? null : new Date(at).toISOString(),
    steps,
  });
  // A graph that is not saved may lead back to itself.
  for (let step = triggerOf(graph) ?? null; step !== null; ) {
    if (steps.length > graph.steps.length) return ended('FAILED', 'The path leads back to a step it has passed');
    const { id: stepId, name, type } = step;
    const entered = { stepId, name, type, at: new Date(at).toISOString() };
    try {
      const left = asksConditions.has(type)
        ? await exitBefore(endsOf(graph.steps, at - now.getTime()), facts, at, rehearsal)
        : null;
      if (left !== null) {
        steps.push({ ...entered, outcome: 'SKIPPED', output: { exit: left.id, reason: left.reason }, error: null });
        return ended('EXITED', left.reason);
      }
      const tried = await tryStep(step, facts, at, { data, waits, waitData }, rehearsal);
      const { output, outcome = 'COMPLETED', exit } = tried;
      steps.push({ ...entered, outcome, output, error: null });
      if (outcome === 'WAITING')
        return ended(
          'WAITING',
          type === 'WAIT_UNTIL'
            ? 'The contact has no date to wait for'
            : 'The event never comes, and the wait has no timeout',
        );
      at = tried.endsAt;
      facts = tried.facts ?? facts;
      if (exit !== undefined) return ended('EXITED', exit);
      step = nextStep(graph, stepId, tried.result);
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      steps.push({ ...entered, outcome: 'FAILED', output: {}, error: error.message });
      return ended('FAILED', error.message);
    }
  }
  return ended('COMPLETED', null);
}

async function exitBefore(exits: Exits, facts: StepFacts, at: number, rehearsal: Rehearsal) {
  for (const exit of exits) {
    const { condition } = exit.on;
    if (!condition) continue;
    const output = await rehearsal.condition({ mode: 'tree', condition }, facts, at);
    if ('result' in output && output.result) return exit;
  }
  return null;
}

async function tryStep(
  step: GraphStep,
  facts: StepFacts,
  at: number,
  given: Pick<TestRun, 'data' | 'waits' | 'waitData'>,
  rehearsal: Rehearsal,
): Promise<Tried> {
  switch (step.type) {
    case 'TRIGGER':
      return tryTrigger(step, facts, at, given, rehearsal);
    case 'SEND_EMAIL': {
      const output = await rehearsal.email(step, facts);
      return { output, endsAt: at, outcome: output.skipped === undefined ? 'COMPLETED' : 'SKIPPED' };
    }
    case 'DELAY': {
      const endsAt = at + delayMs(configOf('DELAY', step));
      return { output: { until: new Date(endsAt).toISOString() }, endsAt };
    }
    case 'WAIT_UNTIL':
      return tryUntil(step, facts, at);
    case 'WAIT_FOR_EVENT':
      return tryWait(step, facts, at, given, rehearsal);
    case 'CONDITION': {
      const output = await rehearsal.condition(configOf('CONDITION', step) as ConditionConfig, facts, at);
      return { output: { ...output }, endsAt: at, result: { branch: output.branch } };
    }
    case 'SPLIT': {
      const output = decideSplit(step, facts.contact.id);
      return { output: { ...output }, endsAt: at, result: { branch: output.branch } };
    }
    case 'WEBHOOK':
      return { output: rehearsal.request(step, facts), endsAt: at };
    case 'UPDATE_CONTACT':
      return tryUpdate(step, facts, at);
    case 'EXIT': {
      const reason = configOf('EXIT', step).reason || unnamedExit;
      return { output: { reason }, endsAt: at, exit: reason };
    }
  }
}

// Without data it is a start by hand, which passes no tests.
async function tryTrigger(
  step: GraphStep,
  facts: StepFacts,
  at: number,
  { data }: Pick<TestRun, 'data'>,
  rehearsal: Rehearsal,
): Promise<Tried> {
  const { eventName, where, audienceCondition, field } = step.config;
  const { trigger } = field === undefined ? { trigger: null } : readDateTrigger(step.config);
  if (trigger !== null) {
    const { zone, isInvalid } = zoneFor(trigger, facts.contact.data);
    const next: string[] = [];
    for (const occurrence of occurrencesOf(trigger, fieldValue(trigger.field, facts), zone, at)) {
      next.push(new Date(occurrence.at).toISOString());
      if (next.length === 3) break;
    }
    return { output: { next, zone, ...(isInvalid && { invalidZone: true }) }, endsAt: at };
  }
  if (audienceCondition) {
    const tested = await rehearsal.condition({ mode: 'tree', condition: audienceCondition }, facts, at);
    if (tested.branch === 'yes') return { output: {}, endsAt: at };
    return { output: {}, endsAt: at, outcome: 'SKIPPED', exit: 'The contact does not match the trigger' };
  }
  const name = typeof eventName === 'string' ? eventName : null;
  const output = { eventName: name };
  if (name === null || !data || (await rehearsal.passes({ name, data: data as JsonObjectValue }, where)))
    return { output, endsAt: at };
  return { output, endsAt: at, outcome: 'SKIPPED', exit: 'The data of the event does not match the trigger' };
}

async function tryWait(
  step: GraphStep,
  facts: StepFacts,
  at: number,
  { waits, waitData }: Pick<TestRun, 'waits' | 'waitData'>,
  rehearsal: Rehearsal,
): Promise<Tried> {
  const { eventName, timeout = null, where } = configOf('WAIT_FOR_EVENT', step);
  const given = waitData ? (waitData as JsonObjectValue) : null;
  const comes = waits === 'EVENT' && (await rehearsal.passes({ name: eventName, data: given }, where));
  const waitOutcome = comes ? 'EVENT' : 'TIMEOUT';
  const output = { eventName, waitOutcome };
  const result: StepResult = { waitOutcome };
  if (comes) {
    const data = given && contextOf(given);
    return { output, endsAt: at, result, facts: { ...facts, context: mergeContext(facts.context, data) } };
  }
  if (timeout === null) return { output, endsAt: at, outcome: 'WAITING' };
  const endsAt = at + Math.ceil(timeout * 1000);
  return { output: { ...output, until: new Date(endsAt).toISOString() }, endsAt, result };
}

// With the next times of day, so that people see what they have asked for.
function tryUntil(step: GraphStep, facts: StepFacts, at: number): Tried {
  const config = configOf('WAIT_UNTIL', step);
  const { output, exit } = decideUntil(config, facts, new Date(at).toISOString(), null);
  if (output.until === null) return { output, endsAt: at, outcome: 'WAITING' };
  const endsAt = Math.max(at, Date.parse(output.until));
  if (!('time' in config)) return { output, endsAt, ...(exit && { exit }) };
  const next = [endsAt];
  while (next.length < 3) next.push(nextTime(config, output.zone, (next.at(-1) ?? at) + 1));
  return { output: { ...output, next: next.map((instant) => new Date(instant).toISOString()) }, endsAt };
}

function tryUpdate(step: GraphStep, facts: StepFacts, at: number): Tried {
  const { updates, subscriptionAction } = configOf('UPDATE_CONTACT', step);
  const { set, remove } = splitUpdates(updates);
  const data = Object.fromEntries(
    Object.entries({ ...facts.contact.data, ...set }).filter(([key]) => !remove.includes(key)),
  ) as JsonObjectValue;
  const subscribed = subscriptionAction === 'none' ? facts.contact.subscribed : subscriptionAction === 'subscribe';
  return {
    output: { updates: updates as JsonObjectValue, newData: data, subscribed },
    endsAt: at,
    facts: { ...facts, contact: { ...facts.contact, data, subscribed } },
  };
}
