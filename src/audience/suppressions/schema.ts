import { nameSchemas } from '@fernpost/openapi/names';
import {
  choice,
  EmailField,
  Instant,
  limitParameter,
  NullableInstant,
  normalizeEmail,
  textField,
  Uuid,
} from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';

/** What a rule's pattern is compared with (contract page 1, 6.1). */
export const suppressionKinds = ['ADDRESS', 'DOMAIN', 'PREFIX', 'SUFFIX', 'WILDCARD'] as const;
const Kind = choice(suppressionKinds);

/** A rule in an answer. */
export const RuleBody = v.object({
  id: Uuid,
  name: v.string(),
  kind: Kind,
  pattern: v.string(),
  enabled: v.boolean(),
  projectId: Uuid,
  createdAt: Instant,
  updatedAt: Instant,
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
    name: textField('name', 1, 100),
    kind: Kind,
    pattern: v.pipe(textField('pattern', 1, 254), v.trim(), v.toLowerCase()),
    enabled: v.optional(v.boolean(), true),
    id: Ignored,
    projectId: Ignored,
    createdAt: Ignored,
    updatedAt: Ignored,
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

/** What a rule's match says. */
const RuleMatch = v.object({
  ruleId: Uuid,
  name: v.string(),
  kind: Kind,
  pattern: v.string(),
  recipient: v.string(),
  matchedAt: Instant,
});
export type RuleMatch = v.InferOutput<typeof RuleMatch>;

/** Why mail is suppressed, as its row keeps it. KEY: it was sent with a key that may not reach its recipient; `ruleId` is the key's. */
export const SuppressionMatch = v.object({ ...RuleMatch.entries, kind: v.picklist([...suppressionKinds, 'KEY']) });
export type SuppressionMatch = v.InferOutput<typeof SuppressionMatch>;

/** `POST /suppressions/preview`. */
export const PreviewRule = v.object({ address: EmailField });
/** Whether mail to an address would be suppressed. */
export const RulePreview = v.object({ suppressed: v.boolean(), match: v.nullable(RuleMatch) });
export type RulePreview = v.InferOutput<typeof RulePreview>;

/** `GET /suppressions/emails`. */
export const ListSuppressed = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListSuppressed = v.InferOutput<typeof ListSuppressed>;

/** A page of suppressed mail. */
export const SuppressedPage = v.object({
  emails: v.array(
    v.object({
      id: v.string(),
      createdAt: v.string(),
      recipientAddress: v.string(),
      subject: v.string(),
      renderedSubject: v.string(),
      suppression: SuppressionMatch,
      status: v.string(),
    }),
  ),
  nextCursor: v.nullable(v.string()),
});

/** A suppressed mail as a whole (contract page 1, 2.7). */
export const SuppressedEmail = v.object({
  id: v.string(),
  projectId: v.string(),
  contactId: v.string(),
  toName: v.nullable(v.string()),
  fromName: v.nullable(v.string()),
  replyTo: v.nullable(v.string()),
  subject: v.string(),
  body: v.string(),
  from: v.string(),
  headers: v.nullable(v.record(v.string(), v.unknown())),
  attachments: v.nullable(v.array(v.record(v.string(), v.unknown()))),
  sourceType: v.string(),
  templateId: v.nullable(v.string()),
  campaignId: v.nullable(v.string()),
  workflowExecutionId: v.nullable(v.string()),
  workflowStepExecutionId: v.nullable(v.string()),
  messageId: v.nullable(v.string()),
  status: v.string(),
  sentAt: NullableInstant,
  deliveredAt: NullableInstant,
  openedAt: NullableInstant,
  clickedAt: NullableInstant,
  bouncedAt: NullableInstant,
  complainedAt: NullableInstant,
  opens: v.number(),
  clicks: v.number(),
  error: v.nullable(v.string()),
  recipientAddress: v.string(),
  suppression: SuppressionMatch,
  createdAt: v.string(),
  updatedAt: v.string(),
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
