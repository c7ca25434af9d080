import * as wf from '@temporalio/workflow';

/**
 * Runs a step as a local activity. What that could not do in its few seconds is done by the same function as a regular activity
 * without that limit.
 */
export function patiently<Local, Patient>(local: Local, patient: Patient) {
  return async <T>(step: (steps: Local | Patient) => Promise<T>): Promise<T> => {
    try {
      return await step(local);
    } catch (error) {
      if (wf.isCancellation(error)) throw error;
      return step(patient);
    }
  };
}
