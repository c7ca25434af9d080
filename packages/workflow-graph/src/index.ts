// The rules of a workflow's graph, for the service and for whoever edits one.
export {
  type Graph,
  nextStep,
  reachableFrom,
  type StepResult,
  stepOf,
  stepOnCycle,
  triggerOf,
} from './graph.ts';
export { type GraphIssue, graphIssues } from './issues.ts';
export { longestNote, longestStepName, maxSteps, maxTransitions } from './limits.ts';
export {
  branchNames,
  canSplice,
  connectionProblem,
  endsProblem,
  type PathProblem,
  pathProblem,
  unknownPathProblem,
  type WaitOutcome,
  waitOutcomes,
} from './paths.ts';
export { pathMeaning, sameJson } from './same.ts';
export { cycleProblem, graphProblem, sizeProblem } from './whole.ts';
