import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, numberParameter } from '@fernpost/validation';
import * as v from 'valibot';

const Rates = v.object({
  total: v.number(),
  bounces: v.number(),
  complaints: v.number(),
  bounceRate: v.number(),
  complaintRate: v.number(),
});
const Level = v.picklist(['healthy', 'warning', 'critical']);

/** How a project's mail is received; rates are percentages (contract page 3, 2.4). */
export const Security = v.object({
  status: v.object({
    projectId: v.string(),
    isHealthy: v.boolean(),
    shouldDisable: v.boolean(),
    twentyFourHour: Rates,
    sevenDay: Rates,
    allTime: Rates,
    isNewProject: v.boolean(),
    violations: v.array(v.string()),
    warnings: v.array(v.string()),
  }),
  levels: v.object({ bounce7Day: Level, bounceAllTime: Level, complaint7Day: Level, complaintAllTime: Level }),
  isDisabled: v.boolean(),
});
export type Security = v.InferOutput<typeof Security>;

const Received = {
  sent: v.pipe(v.number(), v.description('Emails sent, without those to simulators.')),
  bounces: v.pipe(v.number(), v.description('Of these, returned for good.')),
  complaints: v.pipe(v.number(), v.description('Of these, reported as spam.')),
};
const Bound = v.object({
  rate: v.pipe(v.number(), v.description('In percent; 0 for a limit of a number.')),
  count: v.pipe(v.number(), v.description('At least this many bounces or complaints.')),
});

/** `GET /deliverability`. */
export const DeliverabilityQuery = v.object({
  days: numberParameter('How many days (UTC), today included.', 30, 90),
});

/** How mail was received: by day, by who received it, and against the limits that pause a project. */
export const Deliverability = v.object({
  days: v.pipe(
    v.array(v.object({ date: v.pipe(v.string(), v.description('Of the day (UTC): `2026-03-01`.')), ...Received })),
    v.description('Oldest first, including days without emails.'),
  ),
  limits: v.pipe(
    v.array(
      v.object({
        of: v.pipe(v.picklist(['bounces', 'complaints']), v.description('What is limited.')),
        window: v.pipe(v.picklist(['twentyFourHour', 'sevenDay', 'allTime']), v.description('Which mail counts.')),
        unit: v.pipe(v.picklist(['percent', 'emails']), v.description('What the value is in.')),
        value: v.number(),
        warning: v.pipe(Bound, v.description('Warns from this value on.')),
        critical: v.pipe(Bound, v.description('Pauses the project where `pauses` is true.')),
        level: v.pipe(Level, v.description('Which bound the value has reached.')),
        applies: v.pipe(
          v.boolean(),
          v.description('Rates apply from 100 emails on, numbers to projects younger than 30 days.'),
        ),
      }),
    ),
    v.description('Every limit, with the project’s current value.'),
  ),
  pauses: v.pipe(v.boolean(), v.description('Whether a critical limit pauses a project (AUTO_PROJECT_DISABLE).')),
  isPaused: v.pipe(v.boolean(), v.description('Whether the project is disabled now.')),
  domains: v.pipe(
    v.array(v.object({ domain: v.string(), ...Received })),
    v.description('By domain of the recipients: the 50 with the most complaints and bounces, then with the most mail.'),
  ),
  providers: v.pipe(
    v.array(v.object({ provider: v.pipe(v.string(), v.description('Such as `Google`, or `Other`.')), ...Received })),
    v.description('By mailbox provider of the recipients, as their domain tells it.'),
  ),
  countedSince: v.pipe(
    v.nullable(Instant),
    v.description('`domains` and `providers` count the latest 50,000 emails of the span; null when that is all of it.'),
  ),
});
export type Deliverability = v.InferOutput<typeof Deliverability>;

nameSchemas({ ProjectReputation: Security, Deliverability });
