import { nameSchemas } from '@fernpost/openapi/names';
import { GivenInstant, Instant, Uuid } from '@fernpost/validation';
import * as v from 'valibot';

const Sentence = v.string();

/** What an explanation is about. */
const About = v.union(
  [
    v.strictObject({ campaignId: Uuid }),
    v.strictObject({ workflowId: Uuid }),
    v.strictObject({ emailId: Uuid }),
    v.strictObject({ topic: v.literal('any') }),
  ],
  'must have one of campaignId, workflowId, emailId, or "topic": "any"',
);
export type About = v.InferOutput<typeof About>;

/** `POST /explain` (contract page 5). */
export const ExplainRequest = v.object({
  contact: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(320, 'must have at most 320 characters'),
    v.description('Id or address of the contact.'),
  ),
  about: v.pipe(
    About,
    v.description('A campaign, a workflow, a mail, or with `topic` the latest mail and whatever keeps mail from it.'),
  ),
  at: v.optional(v.pipe(GivenInstant, v.description('The instant that is asked about; now when absent.'))),
});
export type ExplainRequest = v.InferOutput<typeof ExplainRequest>;

const Value = v.nullable(v.unknown());

/** One thing that decided, or did not. */
export const Decision = v.object({
  at: v.nullable(Instant),
  check: v.pipe(v.string(), v.description('What was checked, such as `contact.existed` or `mail.suppressed`.')),
  outcome: v.picklist(['pass', 'stop', 'info']),
  sentence: Sentence,
  expected: Value,
  actual: Value,
  basis: v.pipe(
    v.picklist(['recorded', 'evaluated']),
    v.description('`recorded` when it happened, or `evaluated` for this answer.'),
  ),
  dataAsOf: v.pipe(v.nullable(Instant), v.description('The age of the values that were evaluated.')),
  source: v.nullable(v.object({ type: v.string(), id: v.string(), href: v.string() })),
});
export type Decision = v.InferOutput<typeof Decision>;

/** Why a contact received something, or did not. */
export const Explanation = v.object({
  verdict: v.picklist(['received', 'sent', 'will', 'did_not', 'will_not', 'cannot_tell']),
  sentence: Sentence,
  contact: v.object({ id: Uuid, email: v.string() }),
  decisions: v.pipe(
    v.array(Decision),
    v.description('In the order in which they are made. The first `stop` is the reason.'),
  ),
  next: v.nullable(v.object({ at: v.nullable(Instant), what: Sentence })),
  fixes: v.array(
    v.object({
      sentence: Sentence,
      method: v.picklist(['POST', 'PATCH', 'PUT']),
      path: v.string(),
      body: v.record(v.string(), v.unknown()),
    }),
  ),
  permalink: v.pipe(v.string(), v.description('For `GET /explain/{permalink}`: the same question again.')),
});
export type Explanation = v.InferOutput<typeof Explanation>;

nameSchemas({ Explanation, ExplanationDecision: Decision, ExplainRequest });
