import { briefly } from '../../../temporal/commands.ts';
import type { Directive, StepAt } from './directive.ts';
import type { StepRun } from './run-queries.ts';

/** Whether a step that a run is in goes on waiting, by the clock of the database. */
export function waitsStill(
  { stepType, scheduledFor, executeAfter, outcome, output, error }: StepRun,
  now: string,
): boolean {
  if (stepType === 'DELAY') return scheduledFor !== null && scheduledFor > now;
  if (stepType === 'WAIT_FOR_EVENT') return outcome === null && (executeAfter === null || executeAfter > now);
  return output === null && error === null;
}

/** What the execution of an active run does now, from its rows alone. */
export function standing(seq: number, open: StepRun | null): Directive {
  if (open === null) return { next: 'goOn', seq };
  const step: StepAt = { id: open.stepId, type: open.stepType, name: open.stepName, since: open.startedAt };
  if (open.stepType === 'DELAY' && open.scheduledFor !== null)
    return { next: 'sleep', seq, until: open.scheduledFor, step, summary: delaySummary(open) };
  if (open.stepType === 'WAIT_FOR_EVENT' && open.outcome === null && open.eventName !== null)
    return {
      next: 'wait',
      seq,
      until: open.executeAfter,
      event: open.eventName,
      step,
      summary: `wait for ${briefly(open.eventName, 50)} · ${place(open)}`,
    };
  if (open.stepType === 'WEBHOOK' && open.output === null && open.error === null)
    return { next: 'http', seq, stepRunId: open.id, step, summary: `webhook · ${place(open)}` };
  return { next: 'goOn', seq };
}

function delaySummary(open: StepRun): string {
  const { amount, unit } = open.input ?? {};
  return `delay ${amount} ${unit} · ${place(open)}`;
}

function place({ stepId, stepName }: StepRun): string {
  return `"${briefly(stepName, 50)}" (${stepId})`;
}
