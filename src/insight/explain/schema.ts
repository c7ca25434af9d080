import * as v from 'valibot';
import { field, GivenInstant, Instant, nameSchemas, Uuid } from '../../lib/validation/fields.ts';

/** An explanation without the contact and the link that every one has. */
export type Finding = Omit<Explanation, 'contact' | 'permalink'>;
type FindingVerdict = Finding['verdict'];

type Detail = Partial<Omit<Decision, 'check' | 'outcome' | 'sentence' | 'basis'>>;

/** Something that was written down when it happened. */
export function recorded(check: string, outcome: Decision['outcome'], sentence: string, detail: Detail = {}): Decision {
  return decision(check, outcome, sentence, { basis: 'recorded', ...detail });
}

/** Something that was worked out for the answer, from values as they were at `dataAsOf`. */
export function evaluated(
  check: string,
  outcome: Decision['outcome'],
  sentence: string,
  detail: Detail & { dataAsOf: string },
): Decision {
  return decision(check, outcome, sentence, { basis: 'evaluated', ...detail });
}

function decision(
  check: string,
  outcome: Decision['outcome'],
  sentence: string,
  detail: Detail & Pick<Decision, 'basis'>,
): Decision {
  return { at: null, check, outcome, sentence, expected: null, actual: null, dataAsOf: null, source: null, ...detail };
}

/** The finding of a verdict: its sentence is that of the first stop, or the given one. */
export function finding(
  verdict: FindingVerdict,
  decisions: Decision[],
  sentence?: string,
  more: Partial<Pick<Finding, 'next' | 'fixes'>> = {},
): Finding {
  const reason = sentence ?? decisions.find(({ outcome }) => outcome === 'stop')?.sentence ?? '';
  return { verdict, sentence: reason, decisions, next: null, fixes: [], ...more };
}

const instants = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** An instant as sentences write it: `Nov 22, 2026, 2:48 PM UTC`. */
export function onDate(at: string): string {
  return `${instants.format(new Date(at)).replaceAll('\u202f', ' ')} UTC`;
}

/** That something is not known any more; `what` is the beginning of a sentence. */
export function notKept(check: string, what: string, before: Date): Decision {
  return recorded(check, 'info', `${what} from before ${onDate(before.toISOString())} may no longer be kept.`);
}

const Sentence = v.string();

/** The subject of an explanation. */
const About = v.union(
  [
    v.strictObject({ campaignId: field('ID of the campaign to explain.', Uuid) }),
    v.strictObject({ workflowId: field('ID of the workflow to explain.', Uuid) }),
    v.strictObject({ emailId: field('ID of the email to explain.', Uuid) }),
    v.strictObject({
      topic: field('`any` explains the contact’s latest email, and whatever keeps emails from it.', v.literal('any')),
    }),
  ],
  'must have one of campaignId, workflowId, emailId, or "topic": "any"',
);

/** `POST /explain` (docs/contract/certainty.md#2). */
export const ExplainRequest = v.object({
  contact: field(
    'ID or email address of the contact.',
    v.pipe(
      v.string(),
      v.trim(),
      v.minLength(1, 'must not be empty'),
      v.maxLength(320, 'must have at most 320 characters'),
    ),
  ),
  about: field('What to explain: a campaign, a workflow, an email, or `"topic": "any"`.', About),
  at: field('Time to explain, as an ISO 8601 instant; now when absent.', v.optional(GivenInstant)),
});
export type ExplainRequest = v.InferOutput<typeof ExplainRequest>;

const Value = v.nullable(v.unknown());

/** One thing that decided, or did not. */
export const Decision = v.object({
  at: field('When it was decided; null if it was evaluated for this response.', v.nullable(Instant)),
  check: field('Check that was made, such as `contact.existed` or `mail.suppressed`.', v.string()),
  outcome: field(
    '`pass`, `stop` if the check kept the contact from receiving it, or `info`.',
    v.picklist(['pass', 'stop', 'info']),
  ),
  sentence: field('The decision as a sentence for people.', Sentence),
  expected: field('Value that the check needed; null if there is none.', Value),
  actual: field('Value that the check found; null if there is none.', Value),
  basis: field('`recorded` when it happened, or `evaluated` for this response.', v.picklist(['recorded', 'evaluated'])),
  dataAsOf: field('Age of the data that was evaluated; null for recorded decisions.', v.nullable(Instant)),
  source: field(
    'Object that the decision comes from; null if it has no page.',
    v.nullable(
      v.object({
        type: field('Type of the object, such as `segment`.', v.string()),
        id: field('ID of the object.', v.string()),
        href: field('Path of its page in the dashboard.', v.string()),
      }),
    ),
  ),
});
export type Decision = v.InferOutput<typeof Decision>;

/** Why a contact received something, or did not. */
export const Explanation = v.object({
  verdict: field(
    'Result: `received`, `sent`, `will` receive it, `did_not` receive it, `will_not` receive it, or `cannot_tell`.',
    v.picklist(['received', 'sent', 'will', 'did_not', 'will_not', 'cannot_tell']),
  ),
  sentence: field('The result as a sentence for people.', Sentence),
  contact: field(
    'The contact that was asked about.',
    v.object({ id: field('ID of the contact.', Uuid), email: field('Address of the contact.', v.string()) }),
  ),
  decisions: field('Decisions in the order in which they are made. The first `stop` is the reason.', v.array(Decision)),
  next: field(
    'What happens next; null if nothing.',
    v.nullable(
      v.object({
        at: field('When it happens; null if that is not known.', v.nullable(Instant)),
        what: field('What happens, as a sentence.', Sentence),
      }),
    ),
  ),
  fixes: field(
    'Requests that would change the result.',
    v.array(
      v.object({
        sentence: field('What the request does, as a sentence.', Sentence),
        method: field('HTTP method of the request.', v.picklist(['POST', 'PATCH', 'PUT'])),
        path: field('Path of the request.', v.string()),
        body: field('JSON body of the request.', v.record(v.string(), v.unknown())),
      }),
    ),
  ),
  permalink: field('Identifies the question. `GET /explain/{permalink}` asks it again.', v.string()),
});
export type Explanation = v.InferOutput<typeof Explanation>;

nameSchemas({ Explanation, ExplanationDecision: Decision, ExplainRequest });
