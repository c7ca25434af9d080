import type * as v from 'valibot';
import { sentenceOf } from '../../lib/validation/fields.ts';
import { type FieldProblem, fieldProblems } from '../../lib/validation/problems.ts';

/** What is wrong with the arguments of a tool, in a sentence for each: `"to.0" must be an email address.` */
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
