import * as wf from '@temporalio/workflow';

/** Whether a failure comes of a request to cancel. A worker that is stopping reports a step as cancelled too. */
export function isRequestedCancellation(error: unknown): boolean {
  return wf.isCancellation(error) && wf.CancellationScope.current().consideredCancelled;
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
