import { type LinkSettings, prepareContent, recipientLinks } from '@fernpost/message-content';
import { getContact } from '../../audience/contacts/index.ts';
import { withinLimits } from '../../content/templates/index.ts';
import type { Database } from '../../core/database/sql.ts';
import { AppError, invalid } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { ProjectFacts } from '../../platform/projects/index.ts';
import type { Graph, GraphStep } from '../graph/graph.ts';
import { plannedGraph } from '../publishing/service.ts';
import { findAutomation, found } from '../queries.ts';
import { StepFailure } from '../runtime/failure.ts';
import { mailKind, templateOf } from '../runtime/mail-step.ts';
import { configOf, recipientOf } from '../runtime/steps.ts';
import { contextOf, type StepFacts } from '../runtime/values.ts';
import { webhookRequest } from '../runtime/webhook-request.ts';
import { draftGraph } from '../versions/versions.ts';
import type { TestRun, TestRunBody } from './schema.ts';
import { type Rehearsal, tryGraph } from './walk.ts';

interface TestRunDeps {
  db: Database;
  links: LinkSettings;
  project: ProjectFacts;
  now: Date;
}

/**
 * What would happen to a contact in a workflow: the draft as it is saved, or the graph of the request. Conditions are evaluated, emails and
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
  const tried = await tryGraph(graph, { contact, context }, now, wished, rehearsalOf(deps, automation));
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

function rehearsalOf({ db, links, project, now }: TestRunDeps, automation: { id: string; name: string }): Rehearsal {
  return {
    async email(step, { contact, context }) {
      const config = configOf('SEND_EMAIL', step);
      const template = await templateOf(db, project.id, step.templateId ?? config.templateId ?? null);
      const recipient = recipientOf(config);
      const { messageClass } = mailKind(template);
      const recipientEmail = recipient.type === 'CUSTOM' ? recipient.customEmail : contact.email;
      const output = { templateId: template.id, recipientType: recipient.type, recipientEmail };
      if (messageClass !== 'TRANSACTIONAL' && recipient.type === 'CONTACT' && !contact.subscribed)
        return { ...output, skipped: 'unsubscribed' };
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
