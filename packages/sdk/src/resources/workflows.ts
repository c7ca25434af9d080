import type { OperationClient } from '../client.ts';
import type { CallOptions } from '../http.ts';
import type { Body, Input, ListQuery } from '../types.ts';

/** The methods of one kind of resource. Each takes its ID, then its body or filters, then the options of the call. */
export abstract class Resource {
  protected readonly client: OperationClient;

  constructor(client: OperationClient) {
    this.client = client;
  }
}

/** Unwraps the value of an operation. */
export const dataOf = <Data>({ data }: { data: Data }): Data => data;

/** Workflows: steps that contacts go through one by one. */
export class Workflows extends Resource {
  list(query: ListQuery<'listWorkflows'> = {}, options?: CallOptions) {
    return this.client.list('listWorkflows', { query }, options);
  }
  get(id: string, options?: CallOptions) {
    return this.client.call('getWorkflow', { path: { id } }, options);
  }
  create(body: Body<'createWorkflow'>, options?: CallOptions) {
    return this.client.call('createWorkflow', { body }, options);
  }
  update(id: string, body: Body<'updateWorkflow'>, options?: CallOptions) {
    return this.client.call('updateWorkflow', { path: { id }, body }, options);
  }
  delete(id: string, options?: CallOptions) {
    return this.client.call('deleteWorkflow', { path: { id } }, options);
  }
  /** A disabled copy. */
  duplicate(id: string, options?: CallOptions) {
    return this.client.call('duplicateWorkflow', { path: { id } }, options);
  }
  enable(id: string, options?: CallOptions) {
    return this.update(id, { enabled: true }, options);
  }
  /** No contact enters it any more; those who are in it go on. */
  disable(id: string, options?: CallOptions) {
    return this.update(id, { enabled: false }, options);
  }
  /** Publishes a whole graph; with `dryRun`, says what that would change. */
  replaceGraph(id: string, body: Body<'replaceWorkflowGraph'>, options?: CallOptions) {
    return this.client.call('replaceWorkflowGraph', { path: { id }, body }, options);
  }
  /** The latest rollout of a version, with what became of the contacts of both versions. */
  getRollout(id: string, options?: CallOptions) {
    return this.client.call('getWorkflowRollout', { path: { id } }, options);
  }
  /** Changes the share, limits or days of the rollout that is under way. */
  updateRollout(id: string, body: Body<'updateWorkflowRollout'>, options?: CallOptions) {
    return this.client.call('updateWorkflowRollout', { path: { id }, body }, options);
  }
  /** Gives the new version to all new contacts. */
  finishRollout(id: string, options?: CallOptions) {
    return this.client.call('finishWorkflowRollout', { path: { id } }, options);
  }
  /** Gives new contacts the previous version again. */
  takeRolloutBack(id: string, options?: CallOptions) {
    return this.client.call('takeWorkflowRolloutBack', { path: { id } }, options);
  }
  listVersions(id: string, query: ListQuery<'listWorkflowVersions'> = {}, options?: CallOptions) {
    return this.client.list('listWorkflowVersions', { path: { id }, query }, options);
  }
  /** Walks through the graph for a contact, and changes nothing. */
  test(id: string, body: Body<'testWorkflow'>, options?: CallOptions) {
    return this.client.call('testWorkflow', { path: { id }, body }, options);
  }
  /** Starts the workflow for a contact. */
  start(id: string, body: Body<'startWorkflowExecution'>, options?: CallOptions) {
    return this.client.call('startWorkflowExecution', { path: { id }, body }, options);
  }
  /** Enrolls contacts of the past by a bulk job; with `dryRun`, says how many would enter. */
  enroll(id: string, body: NonNullable<Body<'enrollContacts'>>, options?: CallOptions) {
    return this.client.call('enrollContacts', { path: { id }, body }, options);
  }
  /** Takes contacts through a graph as of then by a job, and sends, calls and changes nothing. */
  simulate(id: string, body: NonNullable<Body<'simulateWorkflow'>>, options?: CallOptions) {
    return this.client.call('simulateWorkflow', { path: { id }, body }, options);
  }
  /** What the simulation came to, once its `state` is `completed`. */
  getSimulation(id: string, jobId: string, options?: CallOptions) {
    return this.client.call('getWorkflowSimulation', { path: { id, jobId } }, options);
  }
  /** Cancels a simulation and removes the contacts simulated so far; a simulation that has ended stays as it is. */
  cancelSimulation(id: string, jobId: string, options?: CallOptions) {
    return this.client.call('cancelWorkflowSimulation', { path: { id, jobId } }, options);
  }
  listSimulatedContacts(
    id: string,
    jobId: string,
    query: ListQuery<'listSimulatedContacts'> = {},
    options?: CallOptions,
  ) {
    return this.client.list('listSimulatedContacts', { path: { id, jobId }, query }, options);
  }
  listExecutions(id: string, query: ListQuery<'listWorkflowExecutions'> = {}, options?: CallOptions) {
    return this.client.list('listWorkflowExecutions', { path: { id }, query }, options);
  }
  getExecution(id: string, executionId: string, options?: CallOptions) {
    return this.client.call('getWorkflowExecution', { path: { id, executionId } }, options);
  }
  cancelExecution(id: string, executionId: string, options?: CallOptions) {
    return this.client.call('cancelWorkflowExecution', { path: { id, executionId } }, options);
  }
  /** Cancels the executions of all contacts in the workflow. */
  cancelExecutions(id: string, options?: CallOptions) {
    return this.client.call('cancelWorkflowExecutions', { path: { id } }, options);
  }
  /** Retries failed executions at the step that failed, in the current version; all of them where neither IDs nor `where` are given. */
  retryExecutions(id: string, body: NonNullable<Body<'retryWorkflowExecutions'>> = {}, options?: CallOptions) {
    return this.client.call('retryWorkflowExecutions', { path: { id }, body }, options);
  }
  /** Holds contacts where they are, and queues those who would enter. */
  pause(id: string, options?: CallOptions) {
    return this.client.call('pauseWorkflow', { path: { id } }, options);
  }
  /** Lets them continue, evenly over `spreadMinutes`. */
  resume(id: string, body: NonNullable<Body<'resumeWorkflow'>> = {}, options?: CallOptions) {
    return this.client.call('resumeWorkflow', { path: { id }, body }, options);
  }
  /** How many contacts are at each step. */
  countContacts(id: string, options?: CallOptions) {
    return this.client.call('countWorkflowContacts', { path: { id } }, options);
  }
  /** How many of those who have entered have reached the goal; with `by`, also by version or branch. */
  getGoal(id: string, query: NonNullable<Input<'getWorkflowGoal'>['query']> = {}, options?: CallOptions) {
    return this.client.call('getWorkflowGoal', { path: { id }, query }, options);
  }
  /** Moves contacts from an earlier version into another one. */
  migrate(id: string, body: NonNullable<Body<'migrateWorkflow'>>, options?: CallOptions) {
    return this.client.call('migrateWorkflow', { path: { id }, body }, options);
  }
}
