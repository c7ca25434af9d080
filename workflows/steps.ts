import * as wf from '@temporalio/workflow';

/** Whether a failure comes of a request to cancel. A worker that is stopping reports a step as cancelled too. */
export function isRequestedCancellation(error: unknown): boolean {
  return wf.isCancellation(error) && wf.CancellationScope.current().consideredCancelled;
}

// On two cores at a load of 22 a worker replayed 1,934 events in 26 s. A workflow task has 10, and the server suggests a new run at 4,096 events.
const longestHistory = 200;

/**
 * Whether it is time for a new run with an empty history. A worker that gets an execution of another one, as with every deploy, replays its
 * history within one workflow task. Where that takes longer than the task may, it begins again and again, and nothing goes on.
 */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = wf.workflowInfo();
  return continueAsNewSuggested || (historyLength > longestHistory && wf.patched('short-histories'));
}

/**
 * Runs a step as a local activity. What that could not do in its few seconds is done by the same function as a regular activity
 * without that limit.
 */
export function patiently<Local, Patient>(local: Local, patient: Patient) {
  return async <T>(step: (steps: Local | Patient) => Promise<T>): Promise<T> => {
    try {
      return await step(local);
    } catch (error) {
      if (isRequestedCancellation(error)) throw error;
      return step(patient);
    }
  };
}
