import * as v from 'valibot';
import { getContact } from '../../contacts/service.ts';
import { isHeldOut } from '../../contacts/suppressions/matching.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { AppError, invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { field, Instant, JsonObject, nameSchemas } from '../../lib/validation/fields.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import type { Database } from '../../store/sql.ts';
import { type LinkSettings, recipientLinks } from '../../templates/content/links.ts';
import { prepareContent } from '../../templates/content/prepare.ts';
import { withinLimits } from '../../templates/service.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import { stepTypes } from '../graph/step-configs.ts';
import { PutGraph } from '../publishing/schema.ts';
import { plannedGraph } from '../publishing/service.ts';
import { findAutomation, found } from '../queries.ts';
import { contextOf, decideCondition, eventPasses, type StepFacts } from '../runtime/condition.ts';
import { StepFailure } from '../runtime/directive.ts';
import { mailKind, templateOf } from '../runtime/mail-step.ts';
import { configOf, recipientOf } from '../runtime/steps.ts';
import { webhookRequest } from '../runtime/webhook-request.ts';
import { draftGraph } from '../versions.ts';
import { type Rehearsal, tryGraph } from './walk.ts';

/** `POST /workflows/{id}/test-run`. */
export const TestRun = v.object({
  contactId: field(
    'ID of the contact to test the workflow with.',
    v.pipe(v.string('is required'), v.uuid('must be a UUID')),
  ),
  data: field('Data of the event that starts the workflow; null or absent for none.', v.nullish(JsonObject)),
  waits: field(
    'Outcome of every wait for an event: `EVENT` if the event arrives at once and its data passes `where`, `TIMEOUT` if it never does.',
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
    'What the step would do, which depends on its type: the rendered subject, the compared values, the request, or the new data.',
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
  const { graph, names } = await graphOf(db, automation, wished);
  const tried = await tryGraph(graph, { contact, context }, now, wished, rehearsalOf(deps, automation, context));
  return { ...tried, steps: tried.steps.map((step) => ({ ...step, stepId: names.get(step.stepId) ?? step.stepId })) };
}

/** The graph to try, and what the request calls its new steps, by their ids. */
async function graphOf(
  db: Database,
  automation: NonNullable<Awaited<ReturnType<typeof findAutomation>>>,
  { graph: given }: TestRun,
): Promise<{ graph: Graph; names: ReadonlyMap<string, string> }> {
  if (given === undefined) return { graph: await draftGraph(db, automation.id), names: new Map() };
  const { graph, plan } = await plannedGraph(db, automation, { ...given, dryRun: true });
  const problems = plan.problems.map((problem) => ({ ...problem, field: `graph.${problem.field}` }));
  if (problems.length > 0) throw invalid(problems, 'Correct these places of the graph and try it again.');
  return { graph, names: new Map([...plan.ids].map(([name, stepId]) => [stepId, name])) };
}

function rehearsalOf(
  { db, links, project, now }: TestRunDeps,
  automation: { id: string; name: string },
  trigger: JsonObjectValue | null,
): Rehearsal {
  return {
    condition: (config, facts, at) =>
      decideCondition(db, config, facts, { projectId: project.id, now: new Date(at), trigger: async () => trigger }),
    passes: (event, where) => eventPasses(db, project.id, event, where),
    async email(step, { contact, context }) {
      const config = configOf('SEND_EMAIL', step);
      const template = await templateOf(db, project.id, step.templateId ?? config.templateId ?? null);
      const recipient = recipientOf(config);
      const { messageClass } = mailKind(template);
      const recipientEmail = recipient.type === 'CUSTOM' ? recipient.customEmail : contact.email;
      const output = { templateId: template.id, recipientType: recipient.type, recipientEmail };
      const isMarketing = messageClass !== 'TRANSACTIONAL' && recipient.type === 'CONTACT';
      if (isMarketing && !contact.subscribed) return { ...output, skipped: 'unsubscribed' };
      if (isMarketing && isHeldOut(project.holdout, contact.id, now)) return { ...output, skipped: 'holdout' };
      const { subject, body } = template;
      const { name: projectName, language, escapeContactData } = project;
      const missing = new Set<string>();
      const rendered = failing(() =>
        withinLimits(() =>
          prepareContent(
            { subject, body, messageClass, projectName, language, escapeContactData, findsSimilarFields: true },
            links,
          ).renderFor({
            emailId: null,
            contact,
            event: context,
            isCampaign: false,
            missing,
          }),
        ),
      );
      return { ...output, subject: rendered.subject, ...(missing.size > 0 ? { missing: [...missing].sort() } : {}) };
    },
    request(step: GraphStep, facts: StepFacts) {
      const urls = recipientLinks(links, facts.contact.id, null);
      const run = { id: newId(), startedAt: now.toISOString() };
      const request = webhookRequest(configOf('WEBHOOK', step), {
        ...facts,
        urls,
        stepRunId: newId(),
        automation: { id: automation.id, name: automation.name },
        run,
      });
      return { method: request.method, url: request.url.href };
    },
  };
}

function failing<Result>(render: () => Result): Result {
  try {
    return render();
  } catch (error) {
    throw error instanceof AppError ? new StepFailure(error.message) : error;
  }
}
