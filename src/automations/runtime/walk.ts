import { newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import { cutText } from '../../core/lib/text.ts';
import { type Graph, type GraphStep, nextStep, type StepResult, stepOf } from '../graph.ts';
import type { RunStatus } from '../rows.ts';
import { pinnedVersion } from '../versions.ts';
import type { Directive } from './directive.ts';
import { StepFailure } from './failure.ts';
import { hasQueuedMail } from './mail-step.ts';
import { type RunChange, resumingEvent, type StepRun, saveRun } from './run-queries.ts';
import { standing, waitsStill } from './standing.ts';
import { enterStep, inputOf, type StepScene } from './steps.ts';
import { mergeContext, unitsOfDelay } from './values.ts';

/** Most steps of one transaction (contract page 2, 4.6). */
const stepsPerTransaction = 25;
const longestReason = 500;

/**
 * Moves a locked run on: finishes the step it is in, if that is over, and enters the ones that follow until one of them has
 * to wait. Writes everything by one statement at the end. With `mayAct` false it only tells what the run waits for.
 */
export async function walk(
  begin: StepScene,
  open: StepRun | null,
  mayAct: boolean,
): Promise<{ directive: Directive; hasMail: boolean }> {
  const scene = { ...begin };
  const { sql, run } = scene;
  const { now } = run;
  const written: StepRun[] = [];
  const change: RunChange = {
    id: run.id,
    projectId: run.projectId,
    contactId: run.contactId,
    versionId: run.versionId,
    nextVersionId: run.nextVersionId,
    status: run.status,
    currentStepId: run.currentStepId,
    exitReason: run.exitReason,
    context: run.context,
    seq: run.seq,
    dueAt: null,
    completedAt: null,
  };
  let hasMail = false;

  if (run.status !== 'RUNNING' && run.status !== 'WAITING') return { directive: ended(), hasMail };
  if (!mayAct || (open !== null && waitsStill(open, now))) return { directive: standing(run, open), hasMail };
  if (run.project.disabled) {
    if (open !== null) close(open, { status: 'SKIPPED' });
    return finish('CANCELLED', 'Project disabled', run.currentStepId);
  }
  let graph = await graphOf(run.versionId);
  try {
    const next = open === null ? stepOf(graph, run.currentStepId ?? '') : await leave(open);
    if (open === null && next === undefined) throw new StepFailure('The step is no longer part of the graph');
    return await enterFrom(next ?? null);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return fail(error.message);
  }

  async function enterFrom(first: GraphStep | null): Promise<{ directive: Directive; hasMail: boolean }> {
    let step = first;
    for (let entered = 0; step !== null; entered += 1) {
      change.currentStepId = step.id;
      if (entered === stepsPerTransaction) return pause('RUNNING', now, null);
      const stepRun = begun(step);
      written.push(stepRun);
      const outcome = await enterStep({ ...scene, run: { ...run, context: change.context } }, step, stepRun.id);
      if (!outcome.done) {
        Object.assign(stepRun, outcome.waits);
        const dueAt = stepRun.status === 'RUNNING' ? now : (stepRun.scheduledFor ?? stepRun.executeAfter);
        return pause(stepRun.status === 'RUNNING' ? 'RUNNING' : 'WAITING', dueAt, stepRun);
      }
      close(stepRun, { status: 'COMPLETED', output: outcome.output });
      hasMail ||= step.type === 'SEND_EMAIL' && hasQueuedMail(outcome.output);
      if (outcome.contact !== undefined) scene.contact = outcome.contact;
      if (outcome.exit !== undefined) return finish('EXITED', outcome.exit, step.id);
      step = await wayFrom(step.id, outcome.result);
    }
    return finish('COMPLETED', null, null);
  }

  // Ends the step that was waited for, and answers the one that follows.
  async function leave(stepRun: StepRun): Promise<GraphStep | null> {
    if (!written.includes(stepRun)) written.push(stepRun);
    if (stepRun.stepType === 'DELAY') {
      close(stepRun, { status: 'COMPLETED', output: delayed(stepRun) });
      return wayFrom(stepRun.stepId);
    }
    if (stepRun.stepType === 'WAIT_FOR_EVENT') {
      const outcome = stepRun.outcome ?? 'TIMEOUT';
      const output = outcome === 'EVENT' ? await received(stepRun) : timedOut(stepRun);
      close(stepRun, { status: 'COMPLETED', outcome, output });
      return wayFrom(stepRun.stepId, { waitOutcome: outcome });
    }
    if (stepRun.error !== null) throw new StepFailure(stepRun.error);
    close(stepRun, { status: 'COMPLETED' });
    return wayFrom(stepRun.stepId);
  }

  async function received(stepRun: StepRun): Promise<JsonObjectValue> {
    const event = stepRun.resumeEventId === null ? null : await resumingEvent(sql, stepRun.resumeEventId);
    change.context = mergeContext(change.context, event?.data ?? null);
    return {
      waitOutcome: 'EVENT',
      eventReceived: true,
      eventName: stepRun.eventName,
      ...(event?.data ? { eventData: event.data } : {}),
      receivedAt: event?.receivedAt ?? now,
    };
  }

  // Whoever is to take over another version does so here, provided that it knows the step that is left.
  async function wayFrom(stepId: string, result?: StepResult): Promise<GraphStep | null> {
    if (change.nextVersionId !== null) {
      const newer = await graphOf(change.nextVersionId);
      if (stepOf(newer, stepId) !== undefined) {
        graph = newer;
        change.versionId = change.nextVersionId;
        change.nextVersionId = null;
      }
    }
    return nextStep(graph, stepId, result);
  }

  async function graphOf(versionId: string): Promise<Graph> {
    const version = await pinnedVersion(sql, versionId);
    if (version === null) throw new Error(`The version ${versionId} of a graph is gone`);
    return version.graph;
  }

  function begun(step: GraphStep): StepRun {
    return {
      id: newId(),
      stepId: step.id,
      seq: change.seq++,
      stepType: step.type,
      stepName: step.name,
      status: 'RUNNING',
      scheduledFor: null,
      executeAfter: null,
      eventName: null,
      outcome: null,
      resumeEventId: null,
      input: inputOf(step),
      output: null,
      error: null,
      startedAt: now,
      completedAt: null,
    };
  }

  function close(stepRun: StepRun, how: Pick<StepRun, 'status'> & Partial<StepRun>): void {
    if (!written.includes(stepRun)) written.push(stepRun);
    Object.assign(stepRun, how, { completedAt: now });
  }

  async function pause(status: RunStatus, dueAt: string | null, stepRun: StepRun | null) {
    Object.assign(change, { status, dueAt });
    await saveRun(sql, change, written);
    return { directive: standing({ ...run, seq: change.seq }, stepRun), hasMail };
  }

  async function finish(status: RunStatus, reason: string | null, stepId: string | null) {
    Object.assign(change, { status, exitReason: reason, currentStepId: stepId, completedAt: now });
    await saveRun(sql, change, written);
    return { directive: ended(), hasMail };
  }

  function fail(error: string) {
    const last = written.at(-1);
    if (last !== undefined) close(last, { status: 'FAILED', error });
    return finish('FAILED', cutText(error, longestReason), last?.stepId ?? change.currentStepId);
  }

  function ended(): Directive {
    const { seq, status, exitReason, currentStepId } = change;
    return { next: 'done', seq, status, reason: exitReason, stepId: currentStepId };
  }
}

function delayed({ input, scheduledFor }: StepRun): JsonObjectValue {
  return { ...unitsOfDelay(input), resumeAt: scheduledFor };
}

function timedOut({ eventName }: StepRun): JsonObjectValue {
  return { waitOutcome: 'TIMEOUT', timedOut: true, eventName };
}
