/** Most steps and transitions of a workflow. */
export const maxSteps = 200;
export const maxTransitions = 1_000;

/** Most characters of a step's name, and of its note. */
export const longestStepName = 255;
export const longestNote = 2000;
