import { idOfDay } from '../../automations/enrollment/dates.ts';
import { unnamedExit } from '../../automations/graph/step-configs.ts';
import { isDate, occurrencesOf, readDateTrigger, turnsPerSecond, zoneFor } from '../../automations/graph/wait-until.ts';
import { eventPasses, fieldValue } from '../../automations/runtime/condition.ts';
import { alreadySent } from '../../automations/runtime/run-queries.ts';
import { activeStatuses } from '../../lib/enums.ts';
import { notFound } from '../../lib/errors.ts';
import { editDistance } from '../../lib/text.ts';
import { dayMs } from '../../lib/time.ts';
import { removedBefore } from '../../store/columns.ts';
import type { Database } from '../../store/sql.ts';
import { conditionDecisions } from './campaign.ts';
import { explainMail } from './mail.ts';
import { type ContactFacts, findMail, memberSince } from './queries.ts';
import { type Decision, evaluated, type Finding, finding, notKept, onDate, recorded } from './schema.ts';
import {
  findSteps,
  findWorkflow,
  goalFacts,
  type RunFacts,
  recentEventNames,
  runFacts,
  type StepTaken,
  type WorkflowFacts,
  wasEnabled,
} from './workflow-queries.ts';

/** Why a contact entered a workflow or did not, and what its steps decided and sent. @throws 404 */
export async function explainWorkflow(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  id: string,
  at: string,
): Promise<Finding> {
  const workflow = await findWorkflow(db, projectId, id, contact.id, at);
  if (workflow === null) throw notFound('workflow', id);
  const { eventName } = workflow;
  if (workflow.triggerType === 'CONTACT_CREATED') return explainCreated(db, projectId, contact, workflow, at);
  const { event } = workflow;
  const run = await runFacts(db, id, contact.id, { eventId: event?.id ?? null, at });
  const decisions: Decision[] = [];
  if (event !== null)
    decisions.push(
      recorded('workflow.event', 'pass', `The contact's event "${eventName}" came on ${onDate(event.at)}.`, {
        at: event.at,
        expected: eventName,
        actual: eventName,
      }),
    );
  if (run !== null) {
    const day = workflow.triggerType === 'DATE' ? dayOf(id, contact.id, run) : null;
    if (day !== null) {
      const { field = null } = readDateTrigger(workflow.triggerConfig).trigger ?? {};
      const which = field === null ? '' : ` in the field "${field}"`;
      const sentence = `The date ${day}${which} of the contact started the run.`;
      const detail = { at: run.startedAt, expected: field, actual: day, source: executionSource(workflow, run.id) };
      decisions.push(recorded('workflow.date', 'pass', sentence, detail));
    }
    return inside(db, projectId, contact, workflow, run, decisions);
  }
  if (workflow.isPending && event === null) return pending(workflow, null, decisions);
  const gone = workflow.entries > 0 ? await removedBefore(db, projectId, 'runs') : null;
  if (gone !== null && (event === null || event.at < gone.toISOString())) {
    const cut = notKept('workflow.runs_not_kept', 'Executions', gone);
    return finding('cannot_tell', [...decisions, cut], cut.sentence);
  }
  if (eventName !== null && event === null) {
    const names = await recentEventNames(db, projectId, contact.id);
    // Retention keeps the last event of a name, which came later.
    const before = names.includes(eventName) ? await removedBefore(db, projectId, 'events') : null;
    if (before !== null) {
      const cut = notKept('workflow.not_kept', 'Events', before);
      return finding('cannot_tell', [cut], cut.sentence);
    }
    decisions.push(missingEvent(names, eventName), enabledNow(contact, workflow));
  } else if (event !== null) return refused(db, projectId, contact, workflow, event, decisions);
  else decisions.push(...(await notStarted(db, projectId, contact, workflow)));
  const isStopped = decisions.some(({ outcome }) => outcome === 'stop');
  const sentence = isStopped ? undefined : 'The workflow has not been started for this contact.';
  return finding('did_not', decisions, sentence, { fixes: workflow.enabled ? [] : [enableFix(workflow)] });
}

// A workflow that the creation of the contact starts.
async function explainCreated(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  workflow: WorkflowFacts,
  at: string,
): Promise<Finding> {
  const { id, createdAt } = contact;
  const created = `The contact was created on ${onDate(createdAt)}.`;
  const decisions = [recorded('workflow.created', 'pass', created, { at: createdAt })];
  const run = await runFacts(db, workflow.id, id, { eventId: null, at });
  if (run !== null) return inside(db, projectId, contact, workflow, run, decisions);
  return refused(db, projectId, contact, workflow, { id, at: createdAt, data: null }, decisions);
}

/** Why a trigger started nothing when the contact was created; null where it asks for nothing that the contact lacks. */
async function notMatched(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  { triggerConfig, wasImported }: WorkflowFacts,
): Promise<Decision[] | null> {
  const { audienceCondition, imports } = triggerConfig ?? {};
  if (imports !== true && wasImported)
    return [
      recorded('workflow.trigger', 'stop', 'An import created the contact, and the trigger does not include imports.', {
        at: contact.createdAt,
        expected: { imports: true },
        actual: { imports: false },
      }),
    ];
  if (!audienceCondition) return null;
  const tested = await conditionDecisions(db, projectId, contact, audienceCondition, contact.readAt);
  return tested.some(({ outcome }) => outcome === 'stop') ? tested : null;
}

function missingEvent(names: readonly string[], eventName: string): Decision {
  const near = names
    .map((name) => ({ name, distance: editDistance(eventName.toLowerCase(), name.toLowerCase(), eventName.length) }))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
  const hint = near.length === 0 ? '' : ` Its events: ${near.map((name) => `"${name}"`).join(', ')}.`;
  return recorded('workflow.event', 'stop', `The contact has no event "${eventName}".${hint}`, {
    expected: eventName,
    actual: near,
  });
}

const refusals: Record<string, string> = {
  reentry: 'The contact had been in this workflow before, and it does not allow re-entry.',
  active: 'The contact was in this workflow already when the event came.',
  refused: 'Loop protection stopped the contact from entering this workflow again within an hour.',
};

// Enrolled by an event, a date, a schedule or a job, and not yet by a worker.
function pending(workflow: WorkflowFacts, at: string | null, decisions: Decision[]): Finding {
  const sentence = 'The contact is pending enrollment.';
  const source = { type: 'workflow', id: workflow.id, href: `/workflows/${workflow.id}` };
  decisions.push(recorded('workflow.pending', 'info', sentence, { at, source }));
  if (workflow.pausedAt !== null) return paused(workflow, decisions, 'the contact enters');
  return finding('will', decisions, sentence, { next: { at: null, what: 'A worker enrolls the contact.' } });
}

// An event that started nothing.
async function refused(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  workflow: WorkflowFacts,
  event: NonNullable<WorkflowFacts['event']>,
  decisions: Decision[],
): Promise<Finding> {
  const { id, enabled, isPending, refusedEventId, refusedReason, refusedAt } = workflow;
  const source = { type: 'workflow', id, href: `/workflows/${id}` };
  if (isPending) return pending(workflow, event.at, decisions);
  const isCreated = workflow.triggerType === 'CONTACT_CREATED';
  const when = isCreated ? 'the contact was created' : 'the event came';
  if (event.at < workflow.createdAt) {
    const later = `The workflow was made after ${when}.`;
    decisions.push(recorded('workflow.enabled', 'stop', later, { at: workflow.createdAt, source }));
    return finding('did_not', decisions, undefined, { fixes: enabled ? [] : [enableFix(workflow)] });
  }
  const known = await wasEnabled(db, id, event.at);
  const reason = refusedEventId === event.id ? refusedReason : null;
  // Only an enabled workflow refuses anybody.
  const was = reason !== null || (known?.enabled ?? enabled);
  const detail = { at: known?.at ?? null, expected: true, actual: was, source };
  const words = was ? 'The workflow was enabled then.' : `The workflow was disabled when ${when}.`;
  const outcome = was ? 'pass' : 'stop';
  decisions.push(
    known === null
      ? evaluated('workflow.enabled', outcome, words, { ...detail, dataAsOf: contact.readAt })
      : recorded('workflow.enabled', outcome, words, detail),
  );
  if (!was) return finding('did_not', decisions, undefined, { fixes: enabled ? [] : [enableFix(workflow)] });
  if (reason !== null) {
    decisions.push(recorded('workflow.entry', 'stop', refusals[reason] ?? reason, { at: refusedAt, source }));
    return finding('did_not', decisions);
  }
  const { eventName, triggerConfig } = workflow;
  const unmatched = isCreated ? await notMatched(db, projectId, contact, workflow) : null;
  if (unmatched !== null) return finding('did_not', [...decisions, ...unmatched]);
  if (!(await eventPasses(db, projectId, { name: eventName ?? '', data: event.data }, triggerConfig?.where))) {
    const words = 'The data of the event does not match the trigger of the workflow.';
    const compared = { dataAsOf: event.at, expected: triggerConfig?.where, actual: event.data, source };
    decisions.push(evaluated('workflow.trigger', 'stop', words, compared));
    return finding('did_not', decisions);
  }
  const active = await runFacts(db, id, contact.id, { eventId: null, at: event.at, isActive: true });
  if (active !== null) {
    const since = { at: active.startedAt, source: executionSource(workflow, active.id) };
    decisions.push(recorded('workflow.entry', 'stop', refusals.active ?? '', since));
    return finding('did_not', decisions);
  }
  if (workflow.entries > 0 && !workflow.allowReentry) {
    const dataAsOf = contact.readAt;
    decisions.push(evaluated('workflow.entry', 'stop', refusals.reentry ?? '', { dataAsOf, source }));
    return finding('did_not', decisions);
  }
  const sentence = `${isCreated ? 'The creation' : 'The event'} started no run, and no reason was recorded.`;
  decisions.push(recorded('workflow.entry', 'info', sentence, { source }));
  return finding('cannot_tell', decisions, sentence);
}

function enableFix({ id, eventName }: WorkflowFacts): Finding['fixes'][number] {
  return {
    sentence: eventName === null ? 'Enable the workflow' : 'Enable the workflow for events to come',
    method: 'PATCH',
    path: `/workflows/${id}`,
    body: { enabled: true },
  };
}

// Whoever is in a paused workflow goes on when it resumes, and whoever waits to enter it enters then.
function paused({ id, pausedAt }: WorkflowFacts, decisions: Decision[], what: string): Finding {
  const until = what === 'the contact enters' ? 'when it resumes' : 'until it resumes';
  const sentence = `The workflow is paused: ${what} ${until}.`;
  const source = { type: 'workflow', id, href: `/workflows/${id}` };
  decisions.push(recorded('workflow.paused', 'stop', sentence, { at: pausedAt, source }));
  const fix = { sentence: 'Resume the workflow', method: 'POST' as const, path: `/workflows/${id}/resume`, body: {} };
  return finding('will', decisions, sentence, { next: { at: null, what: 'The workflow goes on.' }, fixes: [fix] });
}

function executionSource({ id }: WorkflowFacts, runId: string): Decision['source'] {
  return { type: 'execution', id: runId, href: `/workflows/${id}/executions/${runId}` };
}

// Nothing came that would have started the workflow, and nothing will while it is disabled.
function enabledNow({ readAt: dataAsOf }: ContactFacts, { enabled }: WorkflowFacts): Decision {
  return enabled
    ? evaluated('workflow.enabled', 'pass', 'The workflow is enabled.', { dataAsOf })
    : evaluated('workflow.enabled', 'stop', 'The workflow is disabled.', { dataAsOf });
}

// A workflow that no event of the contact starts.
async function notStarted(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  workflow: WorkflowFacts,
): Promise<Decision[]> {
  const dataAsOf = contact.readAt;
  const isOn = enabledNow(contact, workflow);
  const { triggerType, triggerConfig } = workflow;
  if (triggerType === 'DATE') return [isOn, dateDecision(contact, workflow)];
  if (triggerType !== 'SCHEDULE')
    return [
      isOn,
      evaluated('workflow.trigger', 'stop', 'This workflow only starts by API or by hand, and neither happened.', {
        dataAsOf,
      }),
    ];
  const { audienceCondition, segmentId } = triggerConfig ?? {};
  if (audienceCondition)
    return [isOn, ...(await conditionDecisions(db, projectId, contact, audienceCondition, contact.readAt))];
  const since = segmentId ? await memberSince(db, segmentId, contact.id, contact.readAt) : null;
  return [
    isOn,
    since === null
      ? evaluated('audience.segment', 'stop', 'The contact is not in the segment that the schedule enrolls.', {
          dataAsOf,
        })
      : evaluated('audience.segment', 'pass', 'The contact is in the segment that the schedule enrolls.', { dataAsOf }),
  ];
}

// The date of a contact as it was then, by the rule that enrolls it.
function dateDecision(contact: ContactFacts, { triggerConfig }: WorkflowFacts): Decision {
  const { readAt: dataAsOf } = contact;
  const { trigger } = readDateTrigger(triggerConfig);
  if (trigger === null)
    return evaluated('workflow.trigger', 'stop', 'The trigger of the workflow is not complete.', { dataAsOf });
  const actual = fieldValue(trigger.field, { contact, context: null }) ?? null;
  const detail = { dataAsOf, expected: trigger.field, actual };
  if (!isDate(actual)) {
    const what = detail.actual === null ? 'is empty' : 'is not a date';
    return evaluated('workflow.trigger', 'stop', `The field "${trigger.field}" of the contact ${what}.`, detail);
  }
  const { zone } = zoneFor(trigger, contact.data);
  const next = occurrencesOf(trigger, actual, zone, Date.parse(dataAsOf)).next().value;
  if (next === undefined) return evaluated('workflow.trigger', 'stop', 'The date of the contact has passed.', detail);
  const on = onDate(new Date(next.at).toISOString());
  return evaluated('workflow.trigger', 'info', `The next date of the contact is on ${on}.`, detail);
}

// Dates are before or after the day of the execution by the offset of the trigger, which is up to a year, and by as long as a pause held it.
const mostDaysApart = 800;

/** The date of a contact that a run began for, whose ID it has; null for one that was started otherwise. */
function dayOf(automationId: string, contactId: string, { sourceEventId, startedAt }: RunFacts): string | null {
  if (sourceEventId === null) return null;
  for (let apart = 0; apart <= 2 * mostDaysApart; apart += 1) {
    const days = apart % 2 === 0 ? apart / 2 : -(apart + 1) / 2;
    const day = new Date(Date.parse(startedAt) + days * dayMs).toISOString().slice(0, 10);
    if (idOfDay(automationId, contactId, day) === sourceEventId) return day;
  }
  return null;
}

async function inside(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  workflow: WorkflowFacts,
  run: RunFacts,
  decisions: Decision[],
): Promise<Finding> {
  const source = executionSource(workflow, run.id);
  const entered = `The contact entered version ${run.version} of "${workflow.name}" on ${onDate(run.startedAt)}.`;
  decisions.push(recorded('workflow.entered', 'pass', entered, { at: run.startedAt, source }));
  if (run.rollout !== null) decisions.push(rolledOut(run, run.rollout, source));
  let mailed: Finding | null = null;
  let open: StepTaken | null = null;
  const isStopped = run.status === 'FAILED' || run.status === 'CANCELLED';
  for (const step of await findSteps(db, run.id)) {
    decisions.push(stepDecision(step, run, source));
    if (step.completedAt === null) open = step;
    if (step.type !== 'SEND_EMAIL' || step.status !== 'COMPLETED' || step.output?.skipped === alreadySent) continue;
    const mail = await findMail(db, projectId, { stepRunId: step.id });
    const before = mail === null ? await removedBefore(db, projectId, 'mail') : null;
    if (before !== null && step.startedAt < before.toISOString())
      decisions.push(notKept('mail.not_kept', `The email of step "${step.name}" is gone: mail`, before));
    if (mail === null) continue;
    mailed = await explainMail(db, projectId, mail);
    // What an earlier email met is not why a run was stopped: the first stop is its reason.
    const asInfo = (met: Decision): Decision => (met.outcome === 'stop' ? { ...met, outcome: 'info' } : met);
    decisions.push(...(isStopped ? mailed.decisions.map(asInfo) : mailed.decisions));
  }
  decisions.push(...(await goalDecisions(db, contact, run, source)));
  if (mailed !== null && !isStopped) return { ...mailed, decisions };
  if (activeStatuses.has(run.status)) {
    if (workflow.pausedAt !== null) return paused(workflow, decisions, 'the contact stays where it is');
    const at = open?.until ?? null;
    const place = open === null ? 'between two steps' : `at "${open.name}"`;
    const sentence = `The contact is ${place}${at === null ? '' : `, until ${onDate(at)} at the latest`}.`;
    return finding('will', decisions, sentence, { next: { at, what: 'The workflow goes on.' } });
  }
  if (isStopped) {
    const on = run.completedAt === null ? '' : ` on ${onDate(run.completedAt)}`;
    const how = run.status === 'FAILED' ? 'failed' : `was cancelled${on}`;
    const reason = run.exitReason === null ? '' : `: ${run.exitReason}`;
    const sentence = `The run ${how}${reason}.`.replace(/\.\.$/, '.');
    decisions.push(recorded('workflow.ended', 'stop', sentence, { at: run.completedAt, source }));
    return finding('did_not', decisions);
  }
  const gone = decisions.findLast(({ check }) => check === 'mail.not_kept');
  if (gone !== undefined) return finding('cannot_tell', decisions, gone.sentence);
  const reason = run.status === 'EXITED' && run.exitReason !== unnamedExit ? run.exitReason : null;
  const left = reason === null ? '' : ` It left the workflow: ${reason}.`;
  const sentence = `The contact went through the workflow by a path without an email.${left}`.replace(/\.\.$/, '.');
  decisions.push(recorded('workflow.ended', 'info', sentence, { at: run.completedAt, actual: run.exitReason, source }));
  return finding('did_not', decisions, sentence);
}

async function goalDecisions(
  db: Database,
  { readAt: dataAsOf }: ContactFacts,
  run: RunFacts,
  source: Decision['source'],
): Promise<Decision[]> {
  const goal = await goalFacts(db, run.id);
  if (goal === null) return [];
  const { metAt, hadMet, until } = goal;
  if (metAt !== null) {
    const sentence = `The contact reached the goal of the workflow on ${onDate(metAt)}.`;
    return [recorded('workflow.goal', 'pass', sentence, { at: metAt, source })];
  }
  if (hadMet) {
    const sentence = 'The contact met the goal already when it entered, and is not counted.';
    return [recorded('workflow.goal', 'info', sentence, { at: run.startedAt, source })];
  }
  const isOver = until < dataAsOf;
  const sentence = `The contact ${isOver ? 'did not reach' : 'has not reached'} the goal of the workflow, which counts until ${onDate(until)}.`;
  return [evaluated('workflow.goal', 'info', sentence, { dataAsOf, source })];
}

function rolledOut(
  { version, startedAt: at }: RunFacts,
  { startedAt, isNew, place, percent }: NonNullable<RunFacts['rollout']>,
  source: Decision['source'],
): Decision {
  const which = isNew ? 'the new version' : 'the previous version';
  const sentence = `Version ${version} was ${which} of a rollout to ${percent}% of new contacts, which started on ${onDate(startedAt)}: the hash of the contact is at ${place} of 100.`;
  return recorded('workflow.rollout', 'info', sentence, { at, expected: percent, actual: place, source });
}

function stepDecision(step: StepTaken, run: RunFacts, source: Decision['source']): Decision {
  const { name, type, status, branch, output, error, eventName, until, turnMs } = step;
  const at = step.completedAt ?? step.startedAt;
  if (status === 'FAILED') {
    const sentence = `Step "${name}" failed: ${error ?? 'its reason was not kept'}`;
    // A step that ends a run does so at the same instant; after one that did before, the run was retried.
    if (run.status === 'FAILED' && step.completedAt === run.completedAt)
      return recorded('workflow.step', 'stop', sentence, { at, source });
    const retried = `${sentence.replace(/\.$/, '')}. The run was retried.`;
    return recorded('workflow.step', 'info', retried, { at, source });
  }
  if (status === 'SKIPPED') {
    const how =
      typeof output?.reason === 'string'
        ? `ended early. The contact left the workflow: ${output.reason}`
        : 'was skipped';
    return recorded('workflow.step', 'info', `Step "${name}" ${how}.`, { at, source });
  }
  if (type === 'CONDITION' && output !== null) {
    const { field, operator, expectedValue = null, actualValue = null } = output;
    const compared = typeof field === 'string' ? `: "${field}" is ${JSON.stringify(actualValue)}` : '';
    const sentence = `Step "${name}" took the branch "${branch}"${compared}.`;
    return recorded('workflow.condition', 'pass', sentence, {
      at,
      expected: { operator, value: expectedValue },
      actual: actualValue,
      source,
    });
  }
  if (type === 'SPLIT' && output !== null) {
    const { percent, holdout } = output;
    const control = holdout === true ? ', the control group' : '';
    const sentence = `Step "${name}" assigned the contact to the branch "${branch}" with ${percent}% of contacts${control}.`;
    return recorded('workflow.split', 'pass', sentence, { at, actual: branch, source });
  }
  if (type === 'WAIT_UNTIL' && typeof output?.until === 'string') {
    const ended =
      output.passed === true ? `found that ${onDate(output.until)} had passed` : `waited until ${onDate(output.until)}`;
    const zone = output.invalidZone === true ? ', because the one of the contact is invalid' : '';
    const sentence = `Step "${name}" ${ended}, by the time zone ${output.zone}${zone}.`;
    return recorded('workflow.until', 'pass', sentence, { at, actual: output.until, source });
  }
  if (status !== 'COMPLETED') {
    const what = eventName === null ? '' : ` for the event "${eventName}"`;
    const when = until === null ? '' : ` until ${onDate(until)}`;
    const others = `: other contacts of the project wait for the same time, and ${turnsPerSecond} of them continue each second`;
    const why = turnMs > 0 && until !== null ? others : '';
    return recorded('workflow.step', 'info', `Step "${name}" is waiting${what}${when}${why}.`, { at, source });
  }
  if (output?.skipped === alreadySent) {
    const sentence = `Step "${name}" sent nothing after a retry: its email was sent before, or may have been.`;
    return recorded('workflow.step', 'info', sentence, { at, source });
  }
  const path = branch === null || branch === 'next' ? '' : ` and took the path "${branch}"`;
  return recorded('workflow.step', 'pass', `Step "${name}" was completed${path}.`, { at, source });
}
