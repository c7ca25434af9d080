import * as v from 'valibot';
import { roles } from '../lib/enums.ts';
import { isTimezone } from '../lib/time.ts';
import { EmailField } from '../lib/validation/email-address.ts';
import {
  choice,
  coded,
  codedAt,
  field,
  GivenInstant,
  Instant,
  Integer,
  NullableInstant,
  nameSchemas,
  Percentage,
  TimeOfDay,
  textField,
  Uuid,
  Weekdays,
} from '../lib/validation/fields.ts';

const Cap = v.nullable(Integer);
export const trackingModes = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const;
export const publicKeyModes = ['contract', 'hardened'] as const;

/** How many days a project may keep its rows. Few numbers, since each is a walk through the rows of all projects. */
export const keptDays = [31, 60, 90, 180, 365, 730, 1825] as const;
const KeptDays = v.nullish(
  v.picklist(keptDays, `must be ${keptDays.slice(0, -1).join(', ')} or ${keptDays.at(-1)} days, or null`),
);
const whoseDays = 'null for as long as the deployment keeps it.';

/** Hours in which a project's marketing email waits, by the clocks of each contact. */
export const QuietHours = v.pipe(
  v.object({
    from: field('Time of day at which they begin, such as `22:00`.', TimeOfDay),
    to: field('Time of day at which they end, such as `08:00`; on the next day where it is before `from`.', TimeOfDay),
    days: field(
      'Days of the week on which they begin, from 1 for Monday to 7 for Sunday; all when absent.',
      v.nullish(Weekdays, null),
    ),
    types: field(
      'Types of email that wait: `MARKETING`, the default, and `HEADLESS`. Transactional email never waits.',
      v.optional(
        v.pipe(
          v.array(choice(['MARKETING', 'HEADLESS']), 'must be a list of types'),
          v.minLength(1, 'must have at least one type'),
          v.maxLength(2, 'must have at most 2 types'),
        ),
        ['MARKETING'],
      ),
    ),
  }),
  codedAt('custom', 'to', ({ from, to }) => from !== to, 'must differ from "from"'),
);
export type QuietHours = v.InferOutput<typeof QuietHours>;

/** A project as its members see it, keys included (docs/contract/platform.md#2-1). */
export const ProjectRecord = v.object({
  id: field('ID of the project.', Uuid),
  name: field('Name of the project.', v.string()),
  public: field('Public key; null when it cannot be decrypted.', v.nullable(v.string())),
  secret: field(
    'Secret key; null when it cannot be decrypted, and for members where `hideSecretKey` is true.',
    v.nullable(v.string()),
  ),
  disabled: field('Whether the project is disabled: reads work, writes are refused.', v.boolean()),
  disabledReason: field(
    'Why the project is disabled; null while it is not.',
    v.nullable(v.picklist(['REPUTATION', 'PAYMENT_FAILED', 'CONTENT', 'MANUAL'])),
  ),
  customer: field('ID of the customer at the payment processor; null without one.', v.nullable(v.string())),
  subscription: field('ID of the subscription at the payment processor; null without one.', v.nullable(v.string())),
  billingLimitWorkflows: field('Monthly limit of workflow emails; null for no limit.', Cap),
  billingLimitCampaigns: field('Monthly limit of campaign emails; null for no limit.', Cap),
  billingLimitTransactional: field('Monthly limit of transactional emails; null for no limit.', Cap),
  billingLimitInbound: field('Monthly limit of received emails; null for no limit.', Cap),
  tracking: field(
    'Whether opens and clicks are tracked; `MARKETING_ONLY` excludes transactional email.',
    v.picklist(trackingModes),
  ),
  language: field('Language of recipient pages and footers, such as `en` or `pt-BR`.', v.string()),
  timeZone: field(
    'Time zone in which the team sets times, such as `Europe/Berlin`; null for none.',
    v.nullable(v.string()),
  ),
  quietHours: field('Hours in which email of workflows and campaigns waits; null for none.', v.nullable(QuietHours)),
  emailRetentionDays: field(`Days for which email is kept; ${whoseDays}`, v.nullable(Integer)),
  eventRetentionDays: field(`Days for which events are kept; ${whoseDays}`, v.nullable(Integer)),
  executionRetentionDays: field(
    `Days for which ended executions of workflows are kept; ${whoseDays}`,
    v.nullable(Integer),
  ),
  escapeContactData: field('Whether values of contact data are HTML-escaped in email.', v.boolean()),
  hideSecretKey: field('Whether only admins and the owner see the secret key.', v.boolean()),
  approvalAbove: field(
    'Number of contacts above which a campaign of a member, or of a key with scopes, needs the approval of an admin; null for none.',
    v.nullable(Integer),
  ),
  /** Addresses beside those of members that may get tests of campaigns and templates. */
  testAddresses: field(
    'Addresses beside those of members that may get tests of campaigns and templates, such as a seed list.',
    v.array(v.string()),
  ),
  publicKeyMode: field(
    '`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own.',
    v.picklist(publicKeyModes),
  ),
  publicKeyRequestsPerMinute: field(
    'Requests per minute of the public key while `publicKeyMode` is `hardened`; never above the limit of the project.',
    Integer,
  ),
  createdAt: field('Time at which the project was created.', Instant),
  updatedAt: field('Time of the last change of the project.', Instant),
});
export type ProjectRecord = v.InferOutput<typeof ProjectRecord>;

/** A project in the list of somebody's projects. */
export const OwnProject = v.object({
  ...ProjectRecord.entries,
  role: field('Your role in the project.', v.picklist(roles)),
});
export type OwnProject = v.InferOutput<typeof OwnProject>;

const Name = v.pipe(textField('The name', 1, 100), v.trim(), v.minLength(1, 'The name must not be empty'));

/** `POST /users/@me/projects`. */
export const CreateProject = v.object({ name: field('Name of the project, 1 to 100 characters.', Name) });

/** `PATCH /users/@me/projects/{id}`; what is absent stays. */
export const ChangeProject = v.object({
  name: field('New name, 1 to 100 characters.', v.optional(Name)),
  tracking: field(
    'Whether opens and clicks are tracked; `MARKETING_ONLY` excludes transactional email.',
    v.optional(v.picklist(trackingModes, 'must be ENABLED, DISABLED or MARKETING_ONLY')),
  ),
  language: field(
    'Language of recipient pages and footers, such as `en` or `pt-BR`.',
    v.optional(v.pipe(v.string(), v.regex(/^[a-z]{2}(-[A-Z]{2})?$/, 'must be a language such as en or pt-BR'))),
  ),
  timeZone: field(
    'Time zone in which the team sets times, by its IANA name such as `Europe/Berlin`; null for none.',
    v.nullish(
      v.pipe(
        v.string('must be a time zone such as Europe/Berlin'),
        coded('invalid_string', isTimezone, 'must be a time zone such as Europe/Berlin'),
      ),
    ),
  ),
  quietHours: field(
    'Hours in which email of workflows and campaigns waits until their end in the time zone of the contact; null for none. Replaces the object as a whole.',
    v.nullish(QuietHours),
  ),
  emailRetentionDays: field(
    `Days for which email is kept, ${keptDays.join(', ')}, not below CONTACT_HISTORY_DAYS; ${whoseDays} Older email is removed within hours, and cannot be brought back.`,
    KeptDays,
  ),
  eventRetentionDays: field(
    `Days for which events are kept, ${keptDays.join(', ')}, not below CONTACT_HISTORY_DAYS; ${whoseDays} Older events are removed within hours, and cannot be brought back.`,
    KeptDays,
  ),
  executionRetentionDays: field(
    `Days for which ended executions of workflows are kept, ${keptDays.join(', ')}, not below CONTACT_HISTORY_DAYS; ${whoseDays} Older ones are removed within hours, and cannot be brought back.`,
    KeptDays,
  ),
  escapeContactData: field(
    'Whether values of contact data are HTML-escaped in email.',
    v.optional(v.boolean('must be true or false')),
  ),
  hideSecretKey: field(
    'Whether only admins and the owner see the secret key.',
    v.optional(v.boolean('must be true or false')),
  ),
  approvalAbove: field(
    'Number of contacts above which a campaign of a member, or of a key with scopes, needs the approval of an admin; null for none.',
    v.nullish(v.pipe(v.number('must be a number of contacts'), v.integer(), v.minValue(0), v.maxValue(2_000_000_000))),
  ),
  testAddresses: field(
    'Addresses beside those of members that may get tests; the whole list, up to 20.',
    v.optional(
      v.pipe(
        v.array(EmailField, 'must be a list of addresses'),
        v.maxLength(20, 'must have at most 20 addresses'),
        v.transform((addresses) => [...new Set(addresses)]),
      ),
    ),
  ),
  publicKeyMode: field(
    '`contract`: the public key shares the rate limit and the idempotency keys of the project. `hardened`: it has its own.',
    v.optional(v.picklist(publicKeyModes, 'must be contract or hardened')),
  ),
  publicKeyRequestsPerMinute: field(
    'Requests per minute of the public key while `publicKeyMode` is `hardened`, 1 to 1,000,000; never above the limit of the project.',
    v.optional(
      v.pipe(
        v.number('must be a number of requests'),
        v.integer('must be a whole number'),
        v.minValue(1, 'must be at least 1'),
        v.maxValue(1_000_000, 'must be at most 1,000,000'),
      ),
    ),
  ),
});
export type ChangeProject = v.InferOutput<typeof ChangeProject>;

/** The control group of a project: contacts that get no marketing email by any sender (docs/contract/journeys.md#4). */
export interface Holdout {
  /** Hashed with the contact's ID: it decides who is in the group. */
  key: string;
  percent: number;
  /** When it ends (ISO 8601); null for never. */
  until: string | null;
}

const holdout = {
  percent: 'Share of contacts in the control group, in percent with up to 2 decimals; 0 without one.',
  until: 'When the control group ends by itself; null for never.',
};

/** `PUT /projects/{id}/holdout`. */
export const SetHoldout = v.object({
  percent: field(
    'Share of contacts that get no marketing email, in percent with up to 2 decimals. A larger share keeps the contacts of a smaller one.',
    Percentage,
  ),
  until: field(
    'When the control group ends by itself, as an ISO 8601 instant in the future; null or absent for never.',
    v.nullish(GivenInstant),
  ),
});
export type SetHoldout = v.InferOutput<typeof SetHoldout>;

/** The control group in an answer. */
export const HoldoutBody = v.object({
  percent: field(holdout.percent, v.number()),
  until: field(holdout.until, NullableInstant),
  active: field('Whether contacts are held out at the moment.', v.boolean()),
});
export type HoldoutBody = v.InferOutput<typeof HoldoutBody>;

/** The reply to `regenerate-keys`. */
export const RotatedProject = v.object({
  ...v.pick(ProjectRecord, ['id', 'name', 'createdAt', 'updatedAt', 'disabled', 'customer', 'subscription']).entries,
  public: field('New public key.', v.string()),
  secret: field('New secret key.', v.string()),
});
export type RotatedProject = v.InferOutput<typeof RotatedProject>;

/** The short form of `GET /projects` and `GET /projects/{id}`. */
export const ProjectSummary = v.object({
  id: field('ID of the project.', Uuid),
  name: field('Name of the project.', v.string()),
  defaultSenderDomain: field(
    'Verified domain that is suggested for senders; null without one.',
    v.nullable(v.string()),
  ),
  createdAt: field('Time at which the project was created.', Instant),
});
export type ProjectSummary = v.InferOutput<typeof ProjectSummary>;

nameSchemas({ Project: ProjectRecord, OwnProject, ProjectSummary, Holdout: HoldoutBody, QuietHours });
