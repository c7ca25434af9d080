import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  type AdvanceDeps,
  advance,
  callWebhook,
  cancelByOperator,
  type Directive,
  type WebhookStepDeps,
} from '../src/automations/index.ts';
import { alive } from './alive.ts';

/** The short database steps of runs, as workflows call them. */
export type AutomationActivities = ReturnType<typeof automationActivities>;

/** Calls of webhooks, on a queue of their own, so that slow receivers delay nothing else. */
export type WebhookActivities = ReturnType<typeof webhookActivities>;

const heartbeatMs = 5_000;

/** Builds the activities that move runs on. Each may be repeated. */
export function automationActivities(deps: AdvanceDeps) {
  return {
    /** Moves a run on as far as it goes without waiting (see `src/automations/runtime/advance.ts`). */
    advanceRun: (runId: string, seq: number | null): Promise<Directive> => advance(deps, runId, seq),

    /** Cancels the row of a run whose execution was cancelled. */
    cancelRun: (runId: string): Promise<void> => cancelByOperator(deps.db, runId),
  };
}

/** Builds the activities that call webhooks. */
export function webhookActivities(deps: WebhookStepDeps) {
  return {
    /** Calls the webhook of a step execution; what came of it stands in the row afterwards. Fails for another attempt. */
    async callWebhook(stepRunId: string): Promise<void> {
      const call = await alive(heartbeatMs, () => callWebhook(deps, stepRunId, cancellationSignal()));
      if (call.outcome === 'again')
        throw ApplicationFailure.create({ message: call.reason, type: 'WebhookAgain', nextRetryDelay: call.afterMs });
    },
  };
}
