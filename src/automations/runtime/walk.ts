import { nextStep, type StepResult, stepOf } from '@fernpost/workflow-graph';
import { briefly } from '../../../temporal/commands.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { activeStatuses, type RunStatus } from '../../lib/enums.ts';
import { newId } from '../../lib/ids.ts';
import { cutText } from '../../lib/text.ts';
import { asksConditions, type Exits, endsOf, goalOf } from '../graph/exits.ts';
import type { GraphStep } from '../graph/graph.ts';
import { readStepConfig } from '../graph/step-configs.ts';
import { mergeContext, unitsOfDelay } from './condition.ts';
import { type Directive, StepFailure } from './directive.ts';
import { hasQueuedMail } from './mail-step.ts';
import { dueOf, standing, waitsStill } from './quota.ts';
import { elapsedMs, type LockedRun, type RunChange, type StepRun } from './run-queries.ts';
import { decideUntil, type Effects, enterStep, inputOf, type StepScene, type WalkChanges } from './steps.ts';

/** Most steps of one transaction (docs/contract/campaigns-and-workflows.md#4-6). */
const stepsPerTransaction = 25;
const longestReason = 500;

/** The next action of the execution, and whether mail was queued. */
export interface Walked {
  directive: Directive;
  hasMail: boolean;
}

/**
 * Moves a locked run on: finishes the step it is in, if that is over, and enters the ones that follow until one of them has
 * to wait. Saves everything at the end, at once. With `mayAct` false it only returns what the run waits for. An `exit` that was
 * met ends the run in the step that it is in.
 */
export async function walk(
  scene: StepScene,
  open: StepRun | null,
  mayAct: boolean,
  exit: Exit | null,
): Promise<Walked> {
  const { run } = scene;
  const walking = new Walk(scene);
  if (!activeStatuses.has(run.status)) return walking.ended();
  if (exit !== null) return walking.leaveBy(exit, open);
  if (mayAct && open?.stepType === 'WAIT_UNTIL') {
    const waiting = await walking.waitUntil(open);
    if (waiting !== null) return waiting;
  } else if (!mayAct) return { directive: standing(run.seq, open, run.now), hasMail: false };
  else if (open !== null && waitsStill(open, run.now)) return walking.waitsOn(open);
  if (run.project.disabled) {
    if (open !== null) walking.close(open, { status: 'SKIPPED' });
    return walking.finish('CANCELLED', 'Project disabled', run.currentStepId);
  }
  if (run.paused) return walking.held(open, null);
  if (open === null && run.spreads && run.dueAt !== null && run.dueAt > run.now) return walking.held(open, run.dueAt);
  try {
    const next = open === null ? await walking.currentStep() : await walking.leave(open);
    return await (next !== null && 'exit' in next ? walking.exit(next.exit) : walking.enterFrom(next));
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return walking.fail(error.message);
  }
}

type Exit = Exits[number];

/** An exit was met, whose mail can be cancelled only by a transaction that has locked usage before anything else. */
export class ExitMet extends Error {}

/** The changes that a walk has made so far. */
class Walk {
  private readonly effects: Effects;
  private readonly run: LockedRun;
  private readonly scene: StepScene;
  private readonly change: RunChange;
  private readonly written: StepRun[] = [];
  private hasMail = false;
  private reached: WalkChanges['reached'] = null;

  constructor(scene: StepScene) {
    const { id, projectId, contactId, versionId, nextVersionId, status, currentStepId, exitReason, context, seq } =
      scene.run;
    const facts = { id, projectId, contactId, versionId, nextVersionId, status, currentStepId, exitReason };
    this.change = { ...facts, context, seq, dueAt: null, completedAt: null };
    this.scene = { ...scene };
    this.effects = scene.effects;
    this.run = scene.run;
  }

  /** Leaves the run where it is, until an instant or until it is woken. */
  async held(open: StepRun | null, until: string | null): Promise<Walked> {
    const { seq, now, currentStepId, dueAt } = this.run;
    // A date that the contact got during the pause has passed: the resume finds the run by this.
    if (open?.stepType === 'WAIT_UNTIL' && (dueAt === null || dueAt > now)) {
      this.change.dueAt = now;
      await this.save();
    }
    const step =
      open === null
        ? stepOf(await this.effects.graph(this.run.versionId), currentStepId ?? '')
        : { id: open.stepId, type: open.stepType, name: open.stepName };
    const { id, type, name } = step ?? { id: currentStepId ?? '', type: 'TRIGGER', name: 'a step that is gone' };
    const at = {
      seq,
      step: { id, type, name, since: open?.startedAt ?? now },
      summary: `paused · "${briefly(name, 50)}" (${id})`,
    };
    const directive: Directive =
      until === null ? { next: 'wait', until, event: 'the end of the pause', ...at } : { next: 'sleep', until, ...at };
    return { directive, hasMail: false };
  }

  async currentStep(): Promise<GraphStep> {
    const step = stepOf(await this.effects.graph(this.run.versionId), this.run.currentStepId ?? '');
    if (step === undefined) throw new StepFailure('The step is no longer part of the graph');
    return step;
  }

  async enterFrom(first: GraphStep | null): Promise<Walked> {
    const { change, run } = this;
    let step = first;
    for (let entered = 0; step !== null; entered += 1) {
      change.currentStepId = step.id;
      if (entered === stepsPerTransaction) return this.pause('RUNNING', run.now, null);
      await this.noteGoal(step);
      const exit = asksConditions.has(step.type) ? await this.exitBefore() : null;
      const stepRun = this.begin(step);
      if (exit !== null) return this.leaveBy(exit, stepRun);
      const outcome = await enterStep({ ...this.scene, run: { ...run, context: change.context } }, step, stepRun.id);
      if (!outcome.done) {
        Object.assign(stepRun, outcome.waits);
        if (stepRun.outcome !== null) {
          const next = await this.leave(stepRun);
          if (next !== null && 'exit' in next) return this.exit(next.exit);
          step = next;
          continue;
        }
        await this.takeTurn(stepRun);
        const dueAt = stepRun.status === 'RUNNING' ? run.now : dueOf(stepRun, run.now);
        return this.pause(stepRun.status === 'RUNNING' ? 'RUNNING' : 'WAITING', dueAt, stepRun);
      }
      this.close(stepRun, { status: 'COMPLETED', output: outcome.output });
      this.hasMail ||= step.type === 'SEND_EMAIL' && hasQueuedMail(outcome.output);
      if (outcome.contact !== undefined) this.scene.contact = outcome.contact;
      if (outcome.exit !== undefined) return this.exit(outcome.exit);
      step = await this.stepAfter(step.id, outcome.result);
    }
    return this.finish('COMPLETED', null, null);
  }

  /** Leaves a step that waits as it is. The row is due when its execution is, so that nobody takes it for one that was lost. */
  async waitsOn(open: StepRun): Promise<Walked> {
    const { seq, now, dueAt } = this.run;
    const due = dueOf(open, now);
    if (open.stepType === 'WAIT_FOR_EVENT' && dueAt !== due) {
      this.change.dueAt = due;
      await this.save();
    }
    return { directive: standing(seq, open, now), hasMail: false };
  }

  /**
   * Waits on where a WAIT_UNTIL is not over, until the contact's turn at the instant that its date and zone mean by now; null where it is over. A contact
   * who waits for the same instant as before keeps its turn. The run is written in any case: nothing else says that it has acted upon what woke it.
   */
  async waitUntil(stepRun: StepRun): Promise<Walked | null> {
    const { now } = this.run;
    const decided = this.decideUntil(stepRun);
    if (decided === null) return null;
    const { until } = decided.output;
    const due = dueOf(stepRun, now);
    if (until === stepRun.scheduledFor) {
      if (decided.state === 'over' && (due === null || due <= now)) return null;
    } else {
      if (decided.state === 'over') return null;
      stepRun.scheduledFor = until;
      await this.takeTurn(stepRun);
      this.written.push(stepRun);
    }
    return this.pause('WAITING', dueOf(stepRun, now), stepRun);
  }

  private async takeTurn(stepRun: StepRun): Promise<void> {
    const { stepType, scheduledFor } = stepRun;
    if (stepType !== 'WAIT_UNTIL' || scheduledFor === null) return;
    stepRun.turnMs = await this.effects.turn(this.run, scheduledFor);
  }

  private decideUntil({ input, scheduledFor }: StepRun) {
    const { config } = readStepConfig('WAIT_UNTIL', input);
    const facts = { contact: this.scene.contact, context: this.change.context };
    return config && decideUntil(config, facts, this.run.now, scheduledFor);
  }

  /** Ends the step that was waited for, and answers the one that follows, or why the contact leaves. */
  async leave(stepRun: StepRun): Promise<GraphStep | { exit: string } | null> {
    if (!this.written.includes(stepRun)) this.written.push(stepRun);
    const { stepId, stepType, eventName, input, scheduledFor: resumeAt } = stepRun;
    if (stepType === 'WAIT_FOR_EVENT') {
      const outcome = stepRun.outcome ?? 'TIMEOUT';
      const timedOut = { waitOutcome: outcome, timedOut: true, eventName };
      const output = outcome === 'EVENT' ? await this.received(stepRun) : timedOut;
      this.close(stepRun, { status: 'COMPLETED', outcome, output });
      return this.stepAfter(stepId, { waitOutcome: outcome });
    }
    if (stepType === 'WAIT_UNTIL') {
      const decided = this.decideUntil(stepRun);
      if (decided === null) throw new StepFailure("The step's config cannot be used");
      this.close(stepRun, { status: 'COMPLETED', output: decided.output });
      return decided.exit === undefined ? this.stepAfter(stepId) : { exit: decided.exit };
    }
    if (stepType === 'DELAY')
      this.close(stepRun, { status: 'COMPLETED', output: { ...unitsOfDelay(input), resumeAt } });
    else if (stepRun.error !== null) throw new StepFailure(stepRun.error);
    else this.close(stepRun, { status: 'COMPLETED' });
    return this.stepAfter(stepId);
  }

  /** Ends the run at the step it is at. */
  exit(reason: string): Promise<Walked> {
    return this.finish('EXITED', reason, this.change.currentStepId);
  }

  close(stepRun: StepRun, how: Pick<StepRun, 'status'> & Partial<StepRun>): void {
    if (!this.written.includes(stepRun)) this.written.push(stepRun);
    Object.assign(stepRun, how, { completedAt: this.run.now });
  }

  async finish(
    status: RunStatus,
    exitReason: string | null,
    currentStepId: string | null,
    exit: string | null = null,
  ): Promise<Walked> {
    Object.assign(this.change, { status, exitReason, currentStepId, completedAt: this.run.now });
    await this.save(exit);
    return this.ended();
  }

  /** Ends the run by an exit. The step that it is in is skipped, or done where a webhook has been called. */
  async leaveBy({ id, reason }: Exit, stepRun: StepRun | null): Promise<Walked> {
    if (!this.scene.holdsUsage) throw new ExitMet();
    const isCalled = stepRun?.stepType === 'WEBHOOK' && stepRun.output !== null;
    const output = { exit: id, reason, branch: `exit:${id}` };
    if (stepRun !== null) this.close(stepRun, isCalled ? { status: 'COMPLETED' } : { status: 'SKIPPED', output });
    return this.finish('EXITED', reason, stepRun?.stepId ?? this.change.currentStepId, reason);
  }

  fail(error: string): Promise<Walked> {
    const last = this.written.at(-1);
    if (last !== undefined) this.close(last, { status: 'FAILED', error });
    return this.finish('FAILED', cutText(error, longestReason), last?.stepId ?? this.change.currentStepId);
  }

  ended(): Walked {
    const { seq, status, exitReason: reason, currentStepId: stepId } = this.change;
    return { directive: { next: 'done', seq, status, reason, stepId }, hasMail: this.hasMail };
  }

  private async pause(status: RunStatus, dueAt: string | null, stepRun: StepRun | null): Promise<Walked> {
    Object.assign(this.change, { status, dueAt });
    await this.save();
    return { directive: standing(this.change.seq, stepRun, this.run.now), hasMail: this.hasMail };
  }

  private begin(step: GraphStep): StepRun {
    const stepRun: StepRun = {
      id: newId(),
      stepId: step.id,
      seq: this.change.seq++,
      stepType: step.type,
      stepName: step.name,
      status: 'RUNNING',
      scheduledFor: null,
      turnMs: 0,
      executeAfter: null,
      eventName: null,
      outcome: null,
      resumeEventId: null,
      input: inputOf(step),
      output: null,
      error: null,
      startedAt: this.run.now,
      completedAt: null,
    };
    this.written.push(stepRun);
    return stepRun;
  }

  // The first whose condition holds for the contact as the steps before have left it.
  private async exitBefore(): Promise<Exit | null> {
    const { steps } = await this.effects.graph(this.change.versionId);
    const asking = endsOf(steps, elapsedMs(this.run)).filter(({ on }) => on.condition);
    if (asking.length === 0) return null;
    const held = await this.holding(asking.map(({ on }) => on.condition));
    return asking.find((_, place) => held[place]) ?? null;
  }

  private holding(trees: unknown[]): Promise<boolean[]> {
    const { effects, run, scene } = this;
    return effects.hold({ run, contact: scene.contact }, trees);
  }

  // A goal that cannot be asked any more ends no run: it counts nobody.
  private async noteGoal({ type }: GraphStep): Promise<void> {
    const { goal } = this.run;
    if (!goal?.isOpen || this.reached !== null || !(type === 'TRIGGER' || asksConditions.has(type))) return;
    const condition = goalOf((await this.effects.graph(goal.versionId)).steps)?.on.condition;
    const [isMet] = condition
      ? await this.holding([condition]).catch((error: unknown) => {
          if (error instanceof StepFailure) return [false];
          throw error;
        })
      : [];
    if (isMet) this.reached = type === 'TRIGGER' ? 'on entry' : 'now';
  }

  private save(exit: string | null = null): Promise<void> {
    const { run, change, written, reached } = this;
    return this.effects.save(run, { change, written, exit, reached });
  }

  private async received({ resumeEventId, eventName }: StepRun): Promise<JsonObjectValue> {
    const event = resumeEventId === null ? null : await this.effects.event(resumeEventId);
    this.change.context = mergeContext(this.change.context, event?.data ?? null);
    return {
      waitOutcome: 'EVENT',
      eventReceived: true,
      eventName,
      ...(event?.data ? { eventData: event.data } : {}),
      receivedAt: event?.receivedAt ?? this.run.now,
    };
  }

  // A run that is to take over another version does so here, provided that the version knows the step that is left.
  private async stepAfter(stepId: string, result?: StepResult): Promise<GraphStep | null> {
    const { change } = this;
    if (change.nextVersionId !== null && stepOf(await this.effects.graph(change.nextVersionId), stepId) !== undefined) {
      change.versionId = change.nextVersionId;
      change.nextVersionId = null;
    }
    return nextStep(await this.effects.graph(change.versionId), stepId, result);
  }
}
