import { Instant, parameter, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';

export const actorKinds = ['user', 'key', 'mcp', 'system'] as const;

/** `GET /projects/{id}/audit-log`. */
export const ListAudit = v.object({
  actor: parameter('ID of a user or of a key with scopes, or a kind of actor: `user`, `key`, `mcp`, `system`.'),
  action: parameter('An action such as `campaign.sent`, or its beginning up to a dot: `campaign`.'),
  target: parameter('ID of what was changed.'),
  limit: v.optional(v.string()),
  cursor: CursorParameter,
  format: v.optional(v.picklist(['json', 'csv'])),
});
export type ListAudit = v.InferOutput<typeof ListAudit>;

const Values = v.nullable(v.record(v.string(), v.unknown()));

/** Who made a change: `id` is null for the secret key of the project and for the service itself; `name` is the email address or the name of the key. */
export const Actor = v.object({
  kind: v.picklist(actorKinds),
  id: v.nullable(v.string()),
  name: v.nullable(v.string()),
});

/** One change. */
export const AuditEntryBody = v.object({
  id: Uuid,
  /** Counts the entries of the project, without gaps. */
  position: v.number(),
  at: Instant,
  actor: Actor,
  action: v.string(),
  target: v.nullable(v.string()),
  /** What was changed, as it was and as it is; never a secret. */
  before: Values,
  after: Values,
  requestId: v.nullable(v.string()),
  /** A keyed hash of the network address: equal for requests from the same one. */
  ipHash: v.nullable(v.string()),
});
export type AuditEntryBody = v.InferOutput<typeof AuditEntryBody>;

/** A page of the log, the latest first. */
export const AuditPage = v.object({ data: v.array(AuditEntryBody), cursor: v.nullable(v.string()) });

/** `GET /projects/{id}/audit-log/verify`. */
export const AuditVerification = v.object({
  /** Whether every entry is as it was written and none is missing. */
  valid: v.boolean(),
  entries: v.number(),
  /** How many entries are missing; those older than 400 days are not counted. */
  missing: v.number(),
  /** The first entry that does not fit what follows it. */
  firstChanged: v.nullable(v.object({ id: v.string(), position: v.number() })),
});
export type AuditVerification = v.InferOutput<typeof AuditVerification>;
