import { createHash } from 'node:crypto';
import { triggerOf } from '@fernpost/workflow-graph';
import * as v from 'valibot';
import { getContact } from '../../contacts/service.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { openStepStatuses } from '../../lib/enums.ts';
import { AppError, invalid } from '../../lib/errors.ts';
import { newId, uuid7 } from '../../lib/ids.ts';
import { field, Instant, JsonObject, nameSchemas } from '../../lib/validation/fields.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { Project } from '../../projects/queries.ts';
import type { Database } from '../../store/sql.ts';
import { type LinkSettings, recipientLinks } from '../../templates/content/links.ts';
import { prepareContent } from '../../templates/content/prepare.ts';
import { withinLimits } from '../../templates/service.ts';
import { Automation } from '../entity.ts';
import { endsOf } from '../graph/exits.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import { readStepConfig, stepTypes } from '../graph/step-configs.ts';
import { nextTime, occurrencesOf, readDateTrigger, zoneFor } from '../graph/wait-until.ts';
import { PutGraph } from '../publishing/schema.ts';
import { plannedGraph } from '../publishing/service.ts';
import { findAutomation, found } from '../queries.ts';
import {
  contextOf,
  decideCondition,
  eventPasses,
  fieldValue,
  type StepFacts,
  type TreeScope,
  treesHold,
} from '../runtime/condition.ts';
import { StepFailure } from '../runtime/directive.ts';
import { eventOf } from '../runtime/goals.ts';
import { fateOfMail, mailKind, templateOf } from '../runtime/mail-step.ts';
import { type Rehearsed, type RehearsedRun, type RehearsedWorld, rehearse } from '../runtime/rehearsal.ts';
import { elapsedMs, type StepRun } from '../runtime/run-queries.ts';
import { configOf, decideUntil, type RunFacts, recipientOf } from '../runtime/steps.ts';
import { webhookRequest } from '../runtime/webhook-request.ts';
import { draftGraph } from '../versions.ts';

/** `POST /workflows/{id}/test-run`. */
export const TestRun = v.object({
  contactId: field(
    'ID of the contact to test the workflow with.',
    v.pipe(v.string('is required'), v.uuid('must be a UUID')),
  ),
  data: field('Data of the event that starts the workflow; null or absent for none.', v.nullish(JsonObject)),
  waits: field(
    'Outcome of every wait for an event: `EVENT` if the event arrives at once and its data passes `where`, `TIMEOUT` if it never does. An event that an exit or the goal is for ends the test.',
    v.optional(v.picklist(['EVENT', 'TIMEOUT'], 'must be one of EVENT, TIMEOUT'), 'EVENT'),
  ),
  waitData: field('Data of the awaited events, for `EVENT`; null or absent for none.', v.nullish(JsonObject)),
  graph: field(
    'Graph to test, as in `PUT /workflows/{id}/graph`; the saved one when absent.',
    v.optional(v.pick(PutGraph, ['steps', 'transitions'])),
  ),
});
export type TestRun = v.InferOutput<typeof TestRun>;

/** One step of a test run. */
const TestedStep = v.object({
  stepId: field('ID of the step; for a new step, its name in the request.', v.string()),
  name: field('Name of the step.', v.string()),
  type: field('Type of the step.', v.picklist(stepTypes)),
  at: field('When the contact would reach the step.', Instant),
  outcome: field(
    '`COMPLETED`; `SKIPPED` for an email that would not be sent to this contact; `FAILED`; or `WAITING` for an event that never comes, without a timeout, or for a date that the contact does not have.',
    v.picklist(['COMPLETED', 'SKIPPED', 'FAILED', 'WAITING']),
  ),
  output: field(
    'What the step would do, which depends on its type: the rendered subject and until when quiet hours would hold the email (`heldUntil`), the compared values, the request, or the new data.',
    v.record(v.string(), v.unknown()),
  ),
  error: field('Why the step would fail; null otherwise.', v.nullable(v.string())),
});
export type TestedStep = v.InferOutput<typeof TestedStep>;

/** The result of a test run. */
export const TestRunBody = v.object({
  end: field(
    'How the execution would end: `COMPLETED`, `EXITED` or `FAILED`; `WAITING` if it would wait indefinitely.',
    v.picklist(['COMPLETED', 'EXITED', 'FAILED', 'WAITING']),
  ),
  reason: field('Why it would end so; null for `COMPLETED`.', v.nullable(v.string())),
  endsAt: field('When the contact would leave the workflow; null if it would wait indefinitely.', v.nullable(Instant)),
  steps: field('Steps that the contact would reach, in order.', v.array(TestedStep)),
});
export type TestRunBody = v.InferOutput<typeof TestRunBody>;

nameSchemas({ WorkflowTestRun: TestRunBody, WorkflowTestRunStep: TestedStep });

interface TestRunDeps {
  db: Database;
  links: LinkSettings;
  project: ProjectFacts;
  now: Date;
}

/**
 * Shows what would happen to a contact in a workflow: the draft as it is saved, or the graph of the request. Conditions are evaluated, emails and
 * requests are rendered; nothing is sent, called, changed or stored.
 * @throws 404 for a workflow or a contact that is not there; 422 for a graph that could not be saved
 */
export async function testRun(deps: TestRunDeps, id: string, wished: TestRun): Promise<TestRunBody> {
  const { db, project, now } = deps;
  const automation = found(await findAutomation(db, project.id, id), id);
  const {
    id: contactId,
    email,
    subscribed,
    data,
    createdAt,
    updatedAt,
  } = await getContact(db, project.id, wished.contactId);
  const contact = { id: contactId, email, subscribed, data: data as JsonObjectValue, createdAt, updatedAt };
  const context = wished.data ? contextOf(wished.data as JsonObjectValue) : null;
  const { graph, names } = wished.graph
    ? await graphToTry(db, automation, wished.graph)
    : { graph: await draftGraph(db, automation.id), names: new Map<string, string>() };
  const { project: settings } = await settingsOf(db, project.id);
  const { limitedBy } = await db.em.findOneOrFail(
    Automation,
    { id },
    { fields: ['limitedBy'], disableIdentityMap: true },
  );
  const run = {
    ...{ projectId: project.id, automationId: automation.id, automationName: automation.name, context },
    ...{ graph, contact, now, project: settings, limitedBy: limitedBy ? [limitedBy] : null },
  };
  const world = worldOf(deps, wished, run);
  const tested = (await refusalOf(db, run, wished)) ?? shown(await rehearse(run, world), triggerOutput(run));
  return { ...tested, steps: tested.steps.map((step) => ({ ...step, stepId: names.get(step.stepId) ?? step.stepId })) };
}

/**
 * The graph of a request that is not saved, and what the request calls its new steps, by their IDs, which follow from that: a split sends a
 * contact the same way each time. @throws 422 for a graph that could not be saved
 */
export async function graphToTry(
  db: Database,
  automation: NonNullable<Awaited<ReturnType<typeof findAutomation>>>,
  given: Omit<PutGraph, 'dryRun'>,
): Promise<{ graph: Graph; names: ReadonlyMap<string, string> }> {
  const { graph: planned, plan } = await plannedGraph(db, automation, { ...given, dryRun: true });
  const problems = plan.problems.map((problem) => ({ ...problem, field: `graph.${problem.field}` }));
  if (problems.length > 0) throw invalid(problems, 'Correct these places of the graph and try it again.');
  const ids = new Map(
    [...plan.ids].map(([name, stepId]) => [stepId, uuid7(0, 0, hashOf(`${automation.id}\n${name}`))]),
  );
  const graph = JSON.parse(JSON.stringify(planned), (_, value: unknown) =>
    typeof value === 'string' ? (ids.get(value) ?? value) : value,
  ) as Graph;
  return { graph, names: new Map([...plan.ids].map(([name, stepId]) => [ids.get(stepId) ?? stepId, name])) };
}

/** The settings of a project that test runs and simulations go by. */
export async function settingsOf(db: Database, projectId: string) {
  const fields = ['name', 'disabled', 'holdout', 'quietHours', 'timeZone', 'updatedAt'] as const;
  const project = await db.em.findOneOrFail(Project, { id: projectId }, { fields, disableIdentityMap: true });
  const { name, holdout, quietHours, timeZone, updatedAt } = project;
  return {
    project: {
      name,
      disabled: false,
      holdout: holdout ?? null,
      quietHours: quietHours ?? null,
      timeZone: timeZone ?? null,
    },
    settingsAt: updatedAt.toISOString(),
  };
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 8);
}

// Without data it is a start by hand, which passes no tests.
async function refusalOf(
  db: Database,
  { projectId, graph, contact, context, now }: RehearsedRun,
  { data }: TestRun,
): Promise<TestRunBody | null> {
  const trigger = triggerOf(graph);
  if (trigger === undefined || trigger.config.field !== undefined) return null;
  const { eventName: name, where, audienceCondition: condition } = trigger.config;
  const at = now.toISOString();
  const refused = (outcome: 'SKIPPED' | 'FAILED', reason: string): TestRunBody => {
    const error = outcome === 'FAILED' ? reason : null;
    const output = condition ? {} : { eventName: name };
    const step = { stepId: trigger.id, name: trigger.name, type: trigger.type, at, outcome, output, error };
    return { end: outcome === 'FAILED' ? 'FAILED' : 'EXITED', reason, endsAt: at, steps: [step] };
  };
  if (condition) {
    const scope = { projectId, now, trigger: async () => context };
    try {
      const [matches] = await treesHold(db, [condition], contact, scope);
      return matches ? null : refused('SKIPPED', 'The contact does not match the trigger');
    } catch (error) {
      if (error instanceof StepFailure) return refused('FAILED', error.message);
      throw error;
    }
  }
  if (typeof name !== 'string' || !data) return null;
  const passes = await eventPasses(db, projectId, { name, data: data as JsonObjectValue }, where);
  return passes ? null : refused('SKIPPED', 'The data of the event does not match the trigger');
}

function triggerOutput({ graph, contact, context, now }: RehearsedRun): TestedStep['output'] {
  const { eventName, audienceCondition, field: name } = triggerOf(graph)?.config ?? {};
  const { trigger } = name === undefined ? { trigger: null } : readDateTrigger(triggerOf(graph)?.config);
  if (trigger === null) return audienceCondition ? {} : { eventName: typeof eventName === 'string' ? eventName : null };
  const { zone, isInvalid } = zoneFor(trigger, contact.data);
  const next: string[] = [];
  for (const { at } of occurrencesOf(trigger, fieldValue(trigger.field, { contact, context }), zone, now.getTime())) {
    next.push(new Date(at).toISOString());
    if (next.length === 3) break;
  }
  return { next, zone, ...(isInvalid && { invalidZone: true }) };
}

function shown({ end, reason, at, steps, facts }: Rehearsed, ofTrigger: TestedStep['output']): TestRunBody {
  return {
    end,
    reason,
    endsAt: end === 'WAITING' ? null : at,
    steps: steps.map((step) => ({
      stepId: step.stepId,
      name: step.stepName,
      type: step.stepType,
      at: step.startedAt,
      outcome: outcomeOf(step),
      output: step.stepType === 'TRIGGER' ? ofTrigger : shownOutput(step, facts),
      error: step.error,
    })),
  };
}

function outcomeOf({ status, output }: StepRun): TestedStep['outcome'] {
  if (openStepStatuses.has(status)) return 'WAITING';
  if (status === 'FAILED') return 'FAILED';
  return status === 'SKIPPED' || output?.skipped !== undefined ? 'SKIPPED' : 'COMPLETED';
}

// What a step would do: without what only an execution that was there can say.
function shownOutput(step: StepRun, facts: StepFacts): TestedStep['output'] {
  const { stepType, status, scheduledFor, executeAfter, eventName, outcome } = step;
  const output = step.output ?? {};
  if (output.exit !== undefined) return { exit: output.exit, reason: output.reason };
  if (status === 'FAILED') return {};
  switch (stepType) {
    case 'DELAY':
      return { until: scheduledFor };
    case 'WAIT_UNTIL':
      return untilOutput(step, facts);
    case 'WAIT_FOR_EVENT': {
      const timedOut = outcome === 'TIMEOUT' ? { until: executeAfter } : {};
      return { eventName, waitOutcome: outcome ?? 'TIMEOUT', ...timedOut };
    }
    case 'UPDATE_CONTACT': {
      const { updates, newData, subscribed } = output;
      return { updates, newData, subscribed };
    }
    case 'EXIT':
      return { reason: output.reason };
    default:
      return output;
  }
}

// With the next times of day, so that people see what they have asked for.
function untilOutput({ input, output, startedAt, scheduledFor }: StepRun, facts: StepFacts): TestedStep['output'] {
  const { config } = readStepConfig('WAIT_UNTIL', input);
  if (config === null) return {};
  if (output === null) return { ...decideUntil(config, facts, startedAt, null).output };
  if (!('time' in config)) return output;
  const next = [Date.parse(scheduledFor ?? startedAt)];
  while (next.length < 3) next.push(nextTime(config, String(output.zone), (next.at(-1) ?? 0) + 1));
  return { ...output, next: next.map((instant) => new Date(instant).toISOString()) };
}

/** The answers to the steps of a test run: conditions are asked of the rows as they are, and events come as the request says. */
function worldOf(
  deps: TestRunDeps,
  { waits, waitData }: TestRun,
  { graph, context: trigger }: Pick<RehearsedRun, 'graph' | 'context'>,
): RehearsedWorld {
  const { db, links, project } = deps;
  const scopeOf = ({ now }: { now: string }): TreeScope => ({
    projectId: project.id,
    now: new Date(now),
    trigger: async () => trigger,
  });
  const data = waitData ? contextOf(waitData as JsonObjectValue) : null;
  return {
    hold: ({ run, contact }, trees) => treesHold(db, trees, contact, scopeOf(run)),
    decide: ({ run, contact }, config) => decideCondition(db, config, { contact, context: run.context }, scopeOf(run)),
    send: (facts, step) => rehearsedMail(deps, facts, step),
    request({ run, contact }, step) {
      const { context, automationId: id, automationName: name } = run;
      const urls = recipientLinks(links, contact.id, null);
      const request = webhookRequest(configOf('WEBHOOK', step), {
        ...{ contact, context, urls, stepRunId: newId(), automation: { id, name }, run },
      });
      return { output: { method: request.method, url: request.url.href }, error: null };
    },
    contactAt: (contact) => contact,
    // An event that is awaited comes when the wait has begun.
    eventSinceEntry: async () => null,
    event: async () => null,
    // An event that both ends the run and is waited for ends the run.
    async wakes({ run, open }) {
      if (waits !== 'EVENT' || open.eventName === null) return null;
      const event = { name: open.eventName, data };
      for (const exit of endsOf(graph.steps, elapsedMs(run))) {
        const asked = await eventOf(db, project.id, exit.on);
        if (asked?.eventName === event.name && (await eventPasses(db, project.id, event, asked.where)))
          return { at: run.now, exit };
      }
      if (!(await eventPasses(db, project.id, event, open.input?.where))) return null;
      return { at: run.now, event: { id: newId(), data, receivedAt: run.now } };
    },
  };
}

async function rehearsedMail(
  { db, links, project }: TestRunDeps,
  { run, contact }: RunFacts,
  step: GraphStep,
): Promise<JsonObjectValue> {
  const config = configOf('SEND_EMAIL', step);
  const template = await templateOf(db, project.id, step.templateId ?? config.templateId ?? null);
  const recipient = recipientOf(config);
  const { messageClass } = mailKind(template);
  const recipientEmail = recipient.type === 'CUSTOM' ? recipient.customEmail : contact.email;
  const output = { templateId: template.id, recipientType: recipient.type, recipientEmail };
  const fate = await fateOfMail(db, run, contact, { from: template.from, messageClass, recipient });
  if ('skipped' in fate) return { ...output, skipped: fate.skipped };
  const { subject, body } = template;
  const { name: projectName, language, escapeContactData } = project;
  const missing = new Set<string>();
  const rendered = failing(() =>
    withinLimits(() =>
      prepareContent(
        { subject, body, messageClass, projectName, language, escapeContactData, findsSimilarFields: true },
        links,
      ).renderFor({ emailId: null, contact, event: run.context, isCampaign: false, missing }),
    ),
  );
  const { heldUntil } = fate;
  const held: JsonObjectValue = heldUntil === null ? {} : { heldUntil, heldBy: 'quietHours' };
  return {
    ...output,
    subject: rendered.subject,
    ...held,
    ...(missing.size > 0 ? { missing: [...missing].sort() } : {}),
  };
}

function failing<Result>(render: () => Result): Result {
  try {
    return render();
  } catch (error) {
    throw error instanceof AppError ? new StepFailure(error.message) : error;
  }
}
