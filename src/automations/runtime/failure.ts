/** What goes wrong in a step for a reason of its own: the run ends FAILED, and nothing is repeated. The text is shown to users. */
export class StepFailure extends Error {
  override name = 'StepFailure';
}
