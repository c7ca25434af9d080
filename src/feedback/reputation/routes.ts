import * as v from 'valibot';
import { noSuchProject } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import { field, Instant, Integer, nameSchemas, numberParameter } from '../../lib/validation/fields.ts';
import { deliverabilityOf } from './deliverability.ts';
import { Level, Security } from './rules.ts';
import { securityOf } from './service.ts';

const Received = {
  sent: field('Number of emails sent, except to simulators.', Integer),
  bounces: field('Number of these that bounced permanently.', Integer),
  complaints: field('Number of these that were reported as spam.', Integer),
};
const Bound = v.object({
  rate: field('Rate in percent; 0 for a limit in emails.', v.number()),
  count: field('Fewest bounces or complaints for the limit to apply.', Integer),
});

/** `GET /deliverability`. */
const DeliverabilityQuery = v.object({
  days: numberParameter('Number of days in UTC, including today; 1 to 90.', 30, 90),
});

/** How mail was received: by day, by who received it, and against the limits that pause a project. */
export const Deliverability = v.object({
  days: field(
    'Emails by day, oldest first, including days without emails.',
    v.array(v.object({ date: field('The day in UTC, such as `2026-03-01`.', v.string()), ...Received })),
  ),
  limits: field(
    'All limits, with the project’s current values.',
    v.array(
      v.object({
        of: field('What is limited.', v.picklist(['bounces', 'complaints'])),
        window: field('Period whose emails count.', v.picklist(['twentyFourHour', 'sevenDay', 'allTime'])),
        unit: field('Unit of `value`.', v.picklist(['percent', 'emails'])),
        value: field('Current value of the project, in percent or in emails, as `unit` says.', v.number()),
        warning: field('Values from which on the limit warns.', Bound),
        critical: field('Values from which on the project is disabled if `pauses` is true.', Bound),
        level: field('Level that the value has reached.', Level),
        applies: field(
          'Whether the limit applies now: rates from 100 emails on, numbers to projects younger than 30 days.',
          v.boolean(),
        ),
      }),
    ),
  ),
  pauses: field('Whether a project is disabled at a critical limit (AUTO_PROJECT_DISABLE).', v.boolean()),
  isPaused: field('Whether the project is disabled now.', v.boolean()),
  domains: field(
    'By domain of the recipients: the 50 with the most complaints and bounces, then with the most emails.',
    v.array(v.object({ domain: field('Domain of the recipients’ addresses.', v.string()), ...Received })),
  ),
  providers: field(
    'By mailbox provider of the recipients, derived from their domain.',
    v.array(v.object({ provider: field('Mailbox provider, such as `Google`, or `Other`.', v.string()), ...Received })),
  ),
  countedSince: field(
    'Start of the time that `domains` and `providers` count, if the period has more than the 50,000 emails they count at most; null otherwise.',
    v.nullable(Instant),
  ),
});
export type Deliverability = v.InferOutput<typeof Deliverability>;

nameSchemas({ ProjectReputation: Security, Deliverability });

/** How the mail of a project is received. */
export const securityRoutes = [
  route.get('/deliverability', {
    heavy: true,
    access: 'dashboard',
    summary: 'Get bounces and complaints by day, recipient domain and mailbox provider',
    operationId: 'getDeliverability',
    description: 'With the limits that pause a project, and the project’s current values.',
    tag: 'projects',
    query: DeliverabilityQuery,
    returns:
      'Emails, bounces and complaints by day, domain and mailbox provider, with each limit and its current value.',
    reply: Deliverability,
    async handle({ app, db, project, query }) {
      const found = await deliverabilityOf(db, app.config, project.id, query.days, app.clock());
      if (found === null) throw noSuchProject(project.id);
      return found;
    },
  }),
  route.get('/users/@me/projects/:id/security', {
    heavy: true,
    access: 'project',
    summary: 'Get the bounce and complaint rates of a project',
    tag: 'projects',
    returns: 'The rates of the last seven days and of all time, with the limits that they have reached.',
    reply: Security,
    async handle({ app, db, project }) {
      const security = await securityOf(db, project.id, app.clock());
      if (security === null) throw noSuchProject(project.id);
      return security;
    },
  }),
  route.get('/projects/:id/security', {
    heavy: true,
    access: 'project',
    summary: 'Get the bounce and complaint rates of a project, in an envelope',
    operationId: 'getProjectReputation',
    returns: 'The rates in `data`, as `GET /users/@me/projects/{id}/security` returns them.',
    reply: v.object({
      success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
      data: field('How the project’s emails are received.', Security),
    }),
    async handle({ app, db, project }) {
      const data = await securityOf(db, project.id, app.clock());
      if (data === null) throw noSuchProject(project.id);
      return { success: true, data };
    },
  }),
];
