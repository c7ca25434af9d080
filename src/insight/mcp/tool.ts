import type { InputArguments, OperationId, Reply } from '@fernpost/sdk';
import * as v from 'valibot';
import { sentenceOf } from '../../lib/validation/fields.ts';
import { type FieldProblem, fieldProblems } from '../../lib/validation/problems.ts';

/** The mode of a key: it only reads, also makes plans, or also carries them out. */
export type ToolMode = 'read' | 'plan' | 'act';

/** An action as it is planned: an operation of the API with its input, and what it would do. */
export interface PlannedAction {
  action:
    | 'send_email'
    | 'resend_email'
    | 'launch_campaign'
    | 'pause_campaign'
    | 'revise_campaign'
    | 'correct_campaign'
    | 'enrol'
    | 'enroll_contacts'
    | 'pause_workflow'
    | 'resume_workflow'
    | 'retry_runs'
    | 'undo';
  operation: OperationId;
  input: { path?: Record<string, string>; body?: unknown };
  /** Says in one sentence what would happen. Values of others are quoted. */
  sentence: string;
  /** How many contacts it reaches. */
  affects: number;
  samples: readonly string[];
  /** Names the content, where planning the same again within an hour needs `again`; null where the state of what it changes guards it. */
  content: string | null;
  again: boolean;
}

/** The service as tools use it. */
export interface McpContext {
  /** Version of the server, as reported to clients. */
  version: string;
  mode: ToolMode;
  /** Calls an operation as the key of the request. @throws the refusal */
  call<Id extends OperationId>(id: Id, ...given: InputArguments<Id>): Promise<Reply<Id>>;
  /** How many contacts a campaign would go to now. */
  audienceOf(campaignId: string): Promise<number>;
  /** Keeps a plan and answers it, or what was sent already. */
  plan(action: PlannedAction): Promise<object>;
  /** Carries a plan out, once. */
  commit(planId: string): Promise<object>;
}

/** A tool: its mode is the least that a key needs to see it. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  mode: ToolMode;
  input: v.GenericSchema;
  run(context: McpContext, input: unknown): Promise<object>;
}

/** Declares a tool; its schema checks the input and gives its type. */
export function tool<const Schema extends v.GenericSchema>(
  options: Omit<Tool, 'input' | 'run'> & {
    input: Schema;
    run(context: McpContext, input: v.InferOutput<Schema>): Promise<object>;
  },
): Tool {
  return options as unknown as Tool;
}

/** A value that others wrote, for a sentence: quoted, on one line, cut. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}

/** An ID with what it is of. */
export function idOf(what: string) {
  return v.pipe(v.string(), v.uuid('must be a UUID'), v.description(`ID of the ${what}.`));
}

/** Returns a sentence for each invalid argument of a tool: `"to.0" must be an email address.` */
export function inputProblems(issues: readonly v.BaseIssue<unknown>[]): string {
  return issues
    .flatMap((issue) => fieldProblems([issue]).map((problem) => `${sentence(named(problem, issue))}.`))
    .join(' ');
}

function sentence(problem: FieldProblem): string {
  return problem.field === '' ? `The arguments ${problem.message}` : sentenceOf(problem);
}

/** Checks of tools have no words of their own: these are the words for them. */
function named(problem: FieldProblem, { type, expected, requirement, message }: v.BaseIssue<unknown>): FieldProblem {
  if (!message.startsWith('Invalid ')) return problem;
  if (type === 'strict_object' && expected === 'never')
    return { ...problem, message: 'is not an argument of this tool' };
  const words = wordsOf[type];
  return words === undefined ? problem : { ...problem, message: words(String(requirement)) };
}

const wordsOf: Readonly<Record<string, (requirement: string) => string>> = {
  email: () => 'must be an email address',
  uuid: () => 'must be a UUID',
  integer: () => 'must be a whole number',
  min_value: (least) => `must be at least ${least}`,
  max_value: (most) => `must be at most ${most}`,
  min_length: (least) => (least === '1' ? 'must not be empty' : `must have a length of at least ${least}`),
  max_length: (most) => `must have a length of at most ${most}`,
};
