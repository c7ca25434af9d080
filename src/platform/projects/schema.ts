import { nameSchemas } from '@fernpost/openapi/names';
import { EmailField, Instant, textField, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { roles } from '../../core/lib/roles.ts';

const Cap = v.nullable(v.pipe(v.number(), v.integer()));
export const trackingModes = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const;
export const publicKeyModes = ['contract', 'hardened'] as const;

/** A project as its members see it, keys included (contract page 3, 2.1). */
export const ProjectRecord = v.object({
  id: Uuid,
  name: v.string(),
  /** Null when it cannot be decrypted, because APP_ENCRYPTION_KEY has changed. */
  public: v.nullable(v.string()),
  /** Null for a MEMBER where the project hides it, and when it cannot be decrypted. */
  secret: v.nullable(v.string()),
  disabled: v.boolean(),
  disabledReason: v.nullable(v.picklist(['REPUTATION', 'PAYMENT_FAILED', 'CONTENT', 'MANUAL'])),
  customer: v.nullable(v.string()),
  subscription: v.nullable(v.string()),
  billingLimitWorkflows: Cap,
  billingLimitCampaigns: Cap,
  billingLimitTransactional: Cap,
  billingLimitInbound: Cap,
  tracking: v.picklist(trackingModes),
  language: v.string(),
  /** Whether values of stored contact data are HTML-escaped in mail. */
  escapeContactData: v.boolean(),
  /** Whether the secret key is shown to admins and the owner only. */
  hideSecretKey: v.boolean(),
  /** A member's campaign to more contacts than this needs the approval of an admin; null for none. */
  approvalAbove: v.nullable(v.number()),
  /** Addresses beside those of members that may get tests of campaigns and templates. */
  testAddresses: v.pipe(
    v.array(v.string()),
    v.description(
      'Addresses beside those of members that may get tests of campaigns and templates, such as a seed list.',
    ),
  ),
  /**
   * `contract`: the public key shares the rate window and the idempotency keys of the project. `hardened`: it has its own, so that
   * a visitor of your website can neither use up the requests of your servers nor their idempotency keys.
   */
  publicKeyMode: v.picklist(publicKeyModes),
  /** Requests a minute of the public key while it is `hardened`; never more than the limit of the project. */
  publicKeyRequestsPerMinute: v.number(),
  createdAt: Instant,
  updatedAt: Instant,
});
export type ProjectRecord = v.InferOutput<typeof ProjectRecord>;

/** A project in the list of somebody's projects. */
export const OwnProject = v.object({ ...ProjectRecord.entries, role: v.picklist(roles) });
export type OwnProject = v.InferOutput<typeof OwnProject>;

const Name = v.pipe(textField('The name', 1, 100), v.trim(), v.minLength(1, 'The name must not be empty'));

/** `POST /users/@me/projects`. */
export const CreateProject = v.object({ name: Name });

/** `PATCH /users/@me/projects/{id}`; what is absent stays. */
export const ChangeProject = v.object({
  name: v.optional(Name),
  tracking: v.optional(v.picklist(trackingModes, 'must be ENABLED, DISABLED or MARKETING_ONLY')),
  language: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{2}(-[A-Z]{2})?$/, 'must be a language such as en or pt-BR'))),
  escapeContactData: v.optional(v.boolean('must be true or false')),
  hideSecretKey: v.optional(v.boolean('must be true or false')),
  approvalAbove: v.nullish(
    v.pipe(v.number('must be a number of contacts'), v.integer(), v.minValue(0), v.maxValue(2_000_000_000)),
  ),
  testAddresses: v.pipe(
    v.optional(
      v.pipe(
        v.array(EmailField, 'must be a list of addresses'),
        v.maxLength(20, 'must have at most 20 addresses'),
        v.transform((addresses) => [...new Set(addresses)]),
      ),
    ),
    v.description('Addresses beside those of members that may get tests; the whole list, up to 20.'),
  ),
  publicKeyMode: v.optional(v.picklist(publicKeyModes, 'must be contract or hardened')),
  publicKeyRequestsPerMinute: v.optional(
    v.pipe(
      v.number('must be a number of requests'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(1_000_000, 'must be at most 1,000,000'),
    ),
  ),
});
export type ChangeProject = v.InferOutput<typeof ChangeProject>;

/** What `regenerate-keys` answers. */
export const RotatedProject = v.object({
  ...v.pick(ProjectRecord, ['id', 'name', 'createdAt', 'updatedAt', 'disabled', 'customer', 'subscription']).entries,
  public: v.string(),
  secret: v.string(),
});
export type RotatedProject = v.InferOutput<typeof RotatedProject>;

/** The short form of `GET /projects` and `GET /projects/{id}`. */
export const ProjectSummary = v.object({
  id: Uuid,
  name: v.string(),
  defaultSenderDomain: v.nullable(v.string()),
  createdAt: Instant,
});
export type ProjectSummary = v.InferOutput<typeof ProjectSummary>;

nameSchemas({ Project: ProjectRecord, OwnProject, ProjectSummary });
