import { field } from '@fernpost/openapi/names';
import { Instant, parameter, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';

export const actorKinds = ['user', 'key', 'mcp', 'system'] as const;

/** `GET /projects/{id}/audit-log`. */
export const ListAudit = v.object({
  actor: parameter('ID of a user or of a key with scopes, or a kind of actor: `user`, `key`, `mcp`, `system`.'),
  action: parameter('An action such as `campaign.sent`, or its beginning up to a dot: `campaign`.'),
  target: parameter('ID of what was changed.'),
  limit: field('Maximum number of entries on a page.', v.optional(v.string())),
  cursor: CursorParameter,
  format: field('`csv` returns CSV instead of JSON.', v.optional(v.picklist(['json', 'csv']))),
});
export type ListAudit = v.InferOutput<typeof ListAudit>;

const Values = v.nullable(v.record(v.string(), v.unknown()));

/** Who made a change: `id` is null for the secret key of the project and for the service itself; `name` is the email address or the name of the key. */
export const Actor = v.object({
  kind: field(
    'Type of the actor: a member, an API key, a language model that uses a key, or the service itself.',
    v.picklist(actorKinds),
  ),
  id: field(
    'ID of the user or of the key with scopes; null for the secret key of the project and for the service.',
    v.nullable(v.string()),
  ),
  name: field('Email address of the user, or name of the key; null without one.', v.nullable(v.string())),
});

/** One change. */
export const AuditEntryBody = v.object({
  id: field('ID of the entry.', Uuid),
  position: field('Position of the entry in the log of the project; positions have no gaps.', v.number()),
  at: field('Time of the change.', Instant),
  actor: field('Who made the change.', Actor),
  action: field('What was done, such as `campaign.sent`.', v.string()),
  target: field('ID of what was changed; null when the action has no target.', v.nullable(v.string())),
  before: field('Changed values before the change, never secrets; null for none.', Values),
  after: field('Changed values after the change, never secrets; null for none.', Values),
  requestId: field('`X-Request-ID` of the request; null for changes without a request.', v.nullable(v.string())),
  ipHash: field(
    "Keyed hash of the caller's IP address, the same for requests from one address; null without one.",
    v.nullable(v.string()),
  ),
});
export type AuditEntryBody = v.InferOutput<typeof AuditEntryBody>;

/** A page of the log, the latest first. */
export const AuditPage = v.object({
  data: field('Entries of this page, newest first.', v.array(AuditEntryBody)),
  cursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
});

/** `GET /projects/{id}/audit-log/verify`. */
export const AuditVerification = v.object({
  valid: field('Whether every entry is unchanged and none is missing.', v.boolean()),
  entries: field('Number of entries that were checked.', v.number()),
  missing: field('Number of missing entries; entries older than 400 days do not count.', v.number()),
  firstChanged: field(
    'The first entry that does not match the entries after it; null when all do.',
    v.nullable(
      v.object({
        id: field('ID of the entry.', v.string()),
        position: field('Position of the entry in the log.', v.number()),
      }),
    ),
  ),
});
export type AuditVerification = v.InferOutput<typeof AuditVerification>;
