import * as v from 'valibot';
import { CursorParameter } from '../../lib/pages.ts';
import { EmailField, normalizeEmail } from '../../lib/validation/email-address.ts';
import {
  choice,
  field,
  Instant,
  Integer,
  limitParameter,
  NullableInstant,
  nameSchemas,
  textField,
  Uuid,
} from '../../lib/validation/fields.ts';

/** The kinds of rules, by the part of an address that the pattern is compared with (docs/contract/core.md#6-1). */
export const suppressionKinds = ['ADDRESS', 'DOMAIN', 'PREFIX', 'SUFFIX', 'WILDCARD'] as const;
const Kind = choice(suppressionKinds);

/** A rule in an answer. */
export const RuleBody = v.object({
  id: field('ID of the rule.', Uuid),
  name: field('Name of the rule.', v.string()),
  kind: field(
    'What `pattern` is compared with: the address, its domain, its beginning or end before the `@`, or the address with `*` as a wildcard.',
    Kind,
  ),
  pattern: field('Pattern of the rule, in lower case.', v.string()),
  enabled: field('Whether the rule applies.', v.boolean()),
  projectId: field('ID of the project.', Uuid),
  createdAt: field('Time at which the rule was created.', Instant),
  updatedAt: field('Time of the last change of the rule.', Instant),
});
export type RuleBody = v.InferOutput<typeof RuleBody>;
/** The parts of a rule that matching needs; the pattern is in lower case. */
export type MatchingRule = Pick<RuleBody, 'id' | 'name' | 'kind' | 'pattern'>;

const Ignored = v.optional(v.unknown());

/**
 * A rule as a caller writes it, all of it; the pattern is stored in lower case. A whole rule that the API gave out may
 * be sent back. Other keys are refused: a misspelled one would let mail through that was meant to be suppressed.
 */
export const WriteRule = v.pipe(
  v.strictObject({
    name: field('Name of the rule, 1 to 100 characters.', textField('name', 1, 100)),
    kind: field(
      'What `pattern` is compared with: the address, its domain, its beginning or end before the `@`, or the address with `*` as a wildcard.',
      Kind,
    ),
    pattern: field(
      'Pattern of the rule, stored in lower case; it must fit `kind`.',
      v.pipe(textField('pattern', 1, 254), v.trim(), v.toLowerCase()),
    ),
    enabled: field('Whether the rule applies.', v.optional(v.boolean(), true)),
    id: field('Ignored; accepted so that a rule can be sent back as it was read.', Ignored),
    projectId: field('Ignored; accepted so that a rule can be sent back as it was read.', Ignored),
    createdAt: field('Ignored; accepted so that a rule can be sent back as it was read.', Ignored),
    updatedAt: field('Ignored; accepted so that a rule can be sent back as it was read.', Ignored),
  }),
  v.forward(
    v.check(({ kind, pattern }) => isPattern(kind, pattern), 'does not fit the kind of the rule'),
    ['pattern'],
  ),
);
export type WriteRule = v.InferOutput<typeof WriteRule>;

/** Whether a key, or the path of a problem, is one that rules have. */
export function isRuleKey(key: string): boolean {
  return Object.hasOwn(RuleBody.entries, key);
}

const RuleMatch = v.object({
  ruleId: field('ID of the rule that matches.', Uuid),
  name: field('Name of the rule at the time of the match.', v.string()),
  kind: field('Kind of the rule at the time of the match.', Kind),
  pattern: field('Pattern of the rule at the time of the match.', v.string()),
  recipient: field('Email address that the rule matched.', v.string()),
  matchedAt: field('Time of the match.', Instant),
});
export type RuleMatch = v.InferOutput<typeof RuleMatch>;

/**
 * Why mail is suppressed, as its row keeps it. KEY: it was sent with a key that may not reach its recipient; `ruleId` is the key's. HOLDOUT: it
 * is marketing, and its contact is in the control group; `ruleId` is the project's.
 */
export const SuppressionMatch = v.object({
  ...RuleMatch.entries,
  kind: field(
    'Kind of the rule at the time of the match. `KEY`: the sending key may not reach the recipient, and `ruleId` is the ID of that key. `HOLDOUT`: the contact is in the control group of the project, and `ruleId` is the ID of the project.',
    v.picklist([...suppressionKinds, 'KEY', 'HOLDOUT']),
  ),
});
export type SuppressionMatch = v.InferOutput<typeof SuppressionMatch>;

/** `POST /suppressions/preview`. */
export const PreviewRule = v.object({ address: field('Email address to check.', EmailField) });
/** Whether mail to an address would be suppressed. */
export const RulePreview = v.object({
  suppressed: field('Whether mail to the address would be suppressed.', v.boolean()),
  match: field('The rule that matches; null when none does.', v.nullable(RuleMatch)),
});
export type RulePreview = v.InferOutput<typeof RulePreview>;

/** `GET /suppressions/emails`. */
export const ListSuppressed = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListSuppressed = v.InferOutput<typeof ListSuppressed>;

/** A page of suppressed mail. */
export const SuppressedPage = v.object({
  emails: field(
    'Suppressed emails, newest first.',
    v.array(
      v.object({
        id: field('ID of the email.', v.string()),
        createdAt: field('Time at which the email was created.', v.string()),
        recipientAddress: field('Email address of the recipient.', v.string()),
        subject: field('Subject as it was sent, with its variables.', v.string()),
        renderedSubject: field('Subject with its variables filled in.', v.string()),
        suppression: field('Why the email was suppressed.', SuppressionMatch),
        status: field('Status of the email.', v.string()),
      }),
    ),
  ),
  nextCursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
});

/** A suppressed mail as a whole (docs/contract/core.md#2-7). */
export const SuppressedEmail = v.object({
  id: field('ID of the email.', v.string()),
  projectId: field('ID of the project.', v.string()),
  contactId: field('ID of the contact that the email was for.', v.string()),
  toName: field('Display name of the recipient; null without one.', v.nullable(v.string())),
  fromName: field('Display name of the sender; null without one.', v.nullable(v.string())),
  replyTo: field('Reply-to address; null without one.', v.nullable(v.string())),
  subject: field('Subject with its variables filled in.', v.string()),
  body: field('HTML with its variables filled in.', v.string()),
  from: field('Email address of the sender.', v.string()),
  headers: field('Custom headers of the email; null without any.', v.nullable(v.record(v.string(), v.unknown()))),
  attachments: field(
    'Attachments of the email; null without any.',
    v.nullable(v.array(v.record(v.string(), v.unknown()))),
  ),
  sourceType: field('What created the email: a request, a campaign or a workflow.', v.string()),
  templateId: field('ID of the template; null without one.', v.nullable(v.string())),
  campaignId: field('ID of the campaign; null for other emails.', v.nullable(v.string())),
  workflowExecutionId: field('ID of the workflow execution; null for other emails.', v.nullable(v.string())),
  workflowStepExecutionId: field('ID of the step execution; null for other emails.', v.nullable(v.string())),
  messageId: field(
    'ID of the message at the mail provider; null, because the email was not sent.',
    v.nullable(v.string()),
  ),
  status: field('Status of the email.', v.string()),
  sentAt: field('Time at which the email was sent; null, because it was suppressed.', NullableInstant),
  deliveredAt: field('Time of the delivery; null, because the email was suppressed.', NullableInstant),
  openedAt: field('Time of the first open; null, because the email was suppressed.', NullableInstant),
  clickedAt: field('Time of the first click; null, because the email was suppressed.', NullableInstant),
  bouncedAt: field('Time of the bounce; null, because the email was suppressed.', NullableInstant),
  complainedAt: field('Time of the spam complaint; null, because the email was suppressed.', NullableInstant),
  opens: field('Number of opens.', Integer),
  clicks: field('Number of clicks.', Integer),
  error: field('Why the email failed; null unless it did.', v.nullable(v.string())),
  recipientAddress: field('Email address of the recipient.', v.string()),
  suppression: field('Why the email was suppressed.', SuppressionMatch),
  createdAt: field('Time at which the email was created.', v.string()),
  updatedAt: field('Time of the last change of the email.', v.string()),
});
export type SuppressedEmail = v.InferOutput<typeof SuppressedEmail>;

function isPattern(kind: RuleBody['kind'], pattern: string): boolean {
  if (/\s/.test(pattern)) return false;
  switch (kind) {
    case 'ADDRESS':
      return normalizeEmail(pattern) !== null;
    case 'DOMAIN':
      return normalizeEmail(`a@${pattern}`) !== null;
    case 'PREFIX':
    case 'SUFFIX':
      return pattern !== '' && !pattern.includes('@');
    case 'WILDCARD':
      return pattern.includes('@');
  }
}

nameSchemas({ SuppressionRule: RuleBody, SuppressionRuleRequest: WriteRule, SuppressionMatch, SuppressedEmail });
