import { choice, coded, EmailField, GivenInstant, Instant, textField, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { scopes } from '../../core/lib/scopes.ts';

const longestOverlapHours = 168;

const Name = v.pipe(textField('name', 1, 100), v.trim(), v.minLength(1, 'must not be empty'));
const Scope = choice(scopes);
const Scopes = v.pipe(
  v.array(Scope),
  v.minLength(1, 'must name at least one scope'),
  v.transform((named) => scopes.filter((scope) => named.includes(scope))),
);
const Domain = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  coded('invalid_string', (name: string) => /^[^\s@]+\.[^\s@]+$/.test(name), 'must be a domain such as example.com'),
);
const most = 100;
const upTo = <const Item extends v.GenericSchema<unknown, string>>(item: Item) =>
  v.pipe(v.array(item), v.maxLength(most, `must have at most ${most} items`));

/** What the key allows a language model at `POST /mcp`; reading only when absent. */
const Mcp = v.object({
  /** `read`: only look. `plan`: also make plans. `act`: also carry them out. */
  mode: v.picklist(['read', 'plan', 'act']),
  /** Contacts that one plan may reach. */
  mostRecipients: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000_000)), 50),
  /** Which plans a member of the project has to approve: all, those that reach more contacts, or none, and larger ones are refused. */
  needsHuman: v.optional(v.picklist(['always', 'above', 'never']), 'above'),
});

/** `POST /users/@me/projects/{id}/api-keys`. */
export const CreateApiKey = v.object({
  name: Name,
  scopes: Scopes,
  /** Domains that `from` may have in `POST /v1/send`; all verified ones when absent. */
  senderDomains: v.optional(v.pipe(upTo(Domain), v.minLength(1, 'must name at least one domain'))),
  /** Makes a test key: mail to anybody else is stored and never sent. */
  recipients: v.optional(
    v.object({ domains: v.optional(upTo(Domain), []), addresses: v.optional(upTo(EmailField), []) }),
  ),
  expiresAt: v.optional(GivenInstant),
  mcp: v.optional(Mcp),
});
export type CreateApiKey = v.InferOutput<typeof CreateApiKey>;

/** `PATCH …/api-keys/{keyId}`; what is absent stays. */
export const PatchApiKey = v.object({ name: v.optional(Name), scopes: v.optional(Scopes), mcp: v.nullish(Mcp) });
export type PatchApiKey = v.InferOutput<typeof PatchApiKey>;

/** `POST …/api-keys/{keyId}/rotate`. */
export const RotateApiKey = v.object({
  overlapHours: v.optional(
    v.pipe(
      v.number(),
      v.integer('must be a whole number of hours'),
      v.minValue(0, 'must be at least 0'),
      v.maxValue(longestOverlapHours, `must be at most ${longestOverlapHours}`),
    ),
    24,
  ),
});

/** A key with scopes; the key itself is answered once. */
export const ApiKeyBody = v.object({
  id: Uuid,
  name: v.string(),
  /** How the key begins. */
  prefix: v.string(),
  scopes: v.array(Scope),
  senderDomains: v.nullable(v.array(v.string())),
  recipients: v.nullable(v.object({ domains: v.array(v.string()), addresses: v.array(v.string()) })),
  mcp: v.nullable(Mcp),
  expiresAt: v.nullable(Instant),
  /** Until when the key from before the last rotation works too. */
  overlapUntil: v.nullable(Instant),
  /** At most five minutes old. */
  lastUsedAt: v.nullable(Instant),
  /** Null when the account is gone. */
  createdBy: v.nullable(v.object({ id: v.string(), email: v.string() })),
  createdAt: Instant,
  updatedAt: Instant,
});
export type ApiKeyBody = v.InferOutput<typeof ApiKeyBody>;

/** A new key, which nobody is shown again. */
export const NewApiKey = v.object({ ...ApiKeyBody.entries, key: v.string() });
export type NewApiKey = v.InferOutput<typeof NewApiKey>;
