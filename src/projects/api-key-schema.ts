import * as v from 'valibot';
import { scopes } from '../lib/enums.ts';
import { EmailField } from '../lib/validation/email-address.ts';
import { choice, coded, field, GivenInstant, Instant, textField, Uuid } from '../lib/validation/fields.ts';

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

/** Permissions of a language model with the key at `POST /mcp`; reading only when absent. */
const Mcp = v.object({
  mode: field(
    '`read`: read only. `plan`: also create plans. `act`: also carry them out.',
    v.picklist(['read', 'plan', 'act']),
  ),
  mostRecipients: field(
    'Maximum number of contacts that one plan may reach.',
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000_000)), 50),
  ),
  needsHuman: field(
    'Plans that a member has to approve: `always` all, `above` those that reach more than `mostRecipients`; with `never` such plans are refused instead.',
    v.optional(v.picklist(['always', 'above', 'never']), 'above'),
  ),
});

/** `POST /users/@me/projects/{id}/api-keys`. */
export const CreateApiKey = v.object({
  name: field('Name of the key, 1 to 100 characters.', Name),
  scopes: field('What the key may do; at least one scope.', Scopes),
  senderDomains: field(
    'Domains that `from` may have in `POST /v1/send`, up to 100; all verified domains when absent.',
    v.optional(v.pipe(upTo(Domain), v.minLength(1, 'must name at least one domain'))),
  ),
  recipients: field(
    'Makes a test key: mail to any other recipient is stored and never sent.',
    v.optional(
      v.object({
        domains: field('Domains that the key may send to, up to 100.', v.optional(upTo(Domain), [])),
        addresses: field('Email addresses that the key may send to, up to 100.', v.optional(upTo(EmailField), [])),
      }),
    ),
  ),
  expiresAt: field('Time at which the key expires; never when absent.', v.optional(GivenInstant)),
  mcp: field('What the key allows a language model at `POST /mcp`; reading only when absent.', v.optional(Mcp)),
});
export type CreateApiKey = v.InferOutput<typeof CreateApiKey>;

/** `PATCH …/api-keys/{keyId}`; what is absent stays. */
export const PatchApiKey = v.object({
  name: field('New name, 1 to 100 characters; unchanged when absent.', v.optional(Name)),
  scopes: field('New scopes, at least one; unchanged when absent.', v.optional(Scopes)),
  mcp: field(
    'What the key allows a language model at `POST /mcp`; null for reading only, unchanged when absent.',
    v.nullish(Mcp),
  ),
});
export type PatchApiKey = v.InferOutput<typeof PatchApiKey>;

/** `POST …/api-keys/{keyId}/rotate`. */
export const RotateApiKey = v.object({
  overlapHours: field(
    'Hours for which the previous key keeps working, 0 to 168.',
    v.optional(
      v.pipe(
        v.number(),
        v.integer('must be a whole number of hours'),
        v.minValue(0, 'must be at least 0'),
        v.maxValue(longestOverlapHours, `must be at most ${longestOverlapHours}`),
      ),
      24,
    ),
  ),
});

/** A key with scopes; the key itself is answered once. */
export const ApiKeyBody = v.object({
  id: field('ID of the key.', Uuid),
  name: field('Name of the key.', v.string()),
  prefix: field('First characters of the key.', v.string()),
  scopes: field('What the key may do.', v.array(Scope)),
  senderDomains: field('Domains that `from` may have; null for all verified domains.', v.nullable(v.array(v.string()))),
  recipients: field(
    'Recipients that a test key may send to; null for a key that may send to anyone.',
    v.nullable(
      v.object({
        domains: field('Domains that the key may send to.', v.array(v.string())),
        addresses: field('Email addresses that the key may send to.', v.array(v.string())),
      }),
    ),
  ),
  mcp: field('What the key allows a language model at `POST /mcp`; null for reading only.', v.nullable(Mcp)),
  expiresAt: field('Time at which the key expires; null for never.', v.nullable(Instant)),
  overlapUntil: field(
    'Time until which the previous key keeps working after a rotation; null without one.',
    v.nullable(Instant),
  ),
  lastUsedAt: field('Time of the last use, accurate to five minutes; null for never.', v.nullable(Instant)),
  createdBy: field(
    'The user who created the key; null when the account no longer exists.',
    v.nullable(
      v.object({ id: field('ID of the user.', v.string()), email: field('Email address of the user.', v.string()) }),
    ),
  ),
  createdAt: field('Time at which the key was created.', Instant),
  updatedAt: field('Time of the last change of the key.', Instant),
});
export type ApiKeyBody = v.InferOutput<typeof ApiKeyBody>;

/** A new key, which nobody is shown again. */
export const NewApiKey = v.object({
  ...ApiKeyBody.entries,
  key: field('The key itself, which is returned only once.', v.string()),
});
export type NewApiKey = v.InferOutput<typeof NewApiKey>;
