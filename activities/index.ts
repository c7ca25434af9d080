import pLimit from 'p-limit';
import { removeOldAttempts, removeOldTokens } from '../src/accounts/queries.ts';
import { removeEndedSessions, removeOldSessions } from '../src/accounts/sessions.ts';
import { removeOldMails } from '../src/accounts/system-mail/queries.ts';
import { restoreSchedules } from '../src/automations/enrollment/audience.ts';
import { recoverableMigrations } from '../src/automations/migrating/service.ts';
import { checkRollouts } from '../src/automations/publishing/rollout.ts';
import { createOrphanCheck, recoverableRuns, recoverableWaits } from '../src/automations/runtime/recovery.ts';
import { removeUnusedVersions } from '../src/automations/versions.ts';
import { removeEarlierDays } from '../src/billing/daily-queries.ts';
import { removeOldCounts } from '../src/billing/usage-queries.ts';
import { prepareBy } from '../src/campaigns/delivery/content.ts';
import { recoverableCampaigns } from '../src/campaigns/lifecycle/recovery.ts';
import { removeOldHistory } from '../src/contacts/history-queries.ts';
import { emptyTrash } from '../src/contacts/trash-queries.ts';
import { removeOldVisits } from '../src/feedback/recipients/public-service.ts';
import { removeOldReceipts } from '../src/feedback/reports/notify.ts';
import { compareRestored, removeOldRestored } from '../src/feedback/reports/restored.ts';
import { removeLostParts } from '../src/imports/csv.ts';
import { removeOldJobs } from '../src/imports/queries.ts';
import { recoverableJobs } from '../src/imports/service.ts';
import type { Retentions } from '../src/insight/erasures/certificate.ts';
import { recoverableErasures } from '../src/insight/erasures/work.ts';
import { removeOldPlans } from '../src/insight/mcp/plans.ts';
import { removeOldDeliveries } from '../src/insight/webhooks/feed.ts';
import { auditEndpoints, insertMissed } from '../src/insight/webhooks/retries.ts';
import { removeOldWipes } from '../src/insight/wipes/queries.ts';
import { recoverableWipes } from '../src/insight/wipes/wipe.ts';
import { removeOldDryRuns } from '../src/launches/review/queries.ts';
import { recoverableDryRuns } from '../src/launches/review/service.ts';
import { composeQueued, createComposer } from '../src/mail/engine/compose.ts';
import { emptyOldBodies, removeExpiredKeys, removeOldLosses } from '../src/mail/ledger/retention.ts';
import { removeOldHandovers } from '../src/mail/providers/journal.ts';
import { reconcileClaims } from '../src/mail/queue/deliver.ts';
import type { QueueDeps } from '../src/mail/queue/queue-claim.ts';
import { recoverableMails } from '../src/mail/system-mail.ts';
import { removeOldAudit } from '../src/projects/audit/queries.ts';
import { removeByAge } from '../src/store/columns.ts';
import { partPace } from '../src/store/event-parts.ts';
import { removeOldEvents } from '../src/store/event-retirement.ts';
import { endExecutionsOf, isKnown, isOpen } from '../src/store/outbox/calls.ts';
import { removeDone } from '../src/store/outbox/queries.ts';
import { createRecovery, type RecoverableKind, type RecoveryDeps } from '../src/store/outbox/recovery.ts';
import { scheduleRevision } from '../src/store/outbox/schedules.ts';
import { checkStore } from '../src/store/outbox/store-state.ts';
import { openAutomations } from '../src/store/outbox/wake.ts';
import type { LinkSettings } from '../src/templates/content/links.ts';
import type { QueueKind } from '../temporal/commands.ts';
import {
  automationActivities,
  enrolmentActivities,
  migrationActivities,
  segmentActivities,
  webhookActivities,
} from './automation.ts';
import { campaignActivities } from './campaign.ts';
import type { ActivityDeps } from './deps.ts';
import { erasureActivities, wipeActivities } from './erasure.ts';
import { jobActivities, webhookFeedActivities } from './jobs.ts';
import { emailActivities, systemMailActivities } from './mail.ts';
import {
  domainActivities,
  type ReconcileCheck,
  type RetentionRule,
  sweepActivities,
  usageActivities,
} from './sweeps.ts';

// Long enough for a lane to be worth an activity, short enough that the Web UI shows progress.
const laneShareMs = 30_000;
// The API promises a day; a week is enough to check last week's import.
const keepJobsHours = 7 * 24;
const keepDeliveriesDays = 30;

/** The activities of each task queue. A worker serves the queues that are named here. */
export function createActivities(deps: ActivityDeps): Partial<Record<QueueKind, object>> {
  const { config, db, heavyReads, log, mailer, stopping, clock, waker } = deps;
  const compose = createComposer(config, log);
  const delivery: QueueDeps = {
    db,
    mailer,
    log,
    compose: (mail) => composeQueued(compose, mail),
    rate: config.SEND_RATE_PER_PROJECT,
    lagMs: config.PROVIDER_LOOKUP_LAG_SECONDS * 1000,
  };
  const from = { address: config.SYSTEM_FROM_ADDRESS, name: config.SYSTEM_FROM_NAME };
  return {
    mail: {
      ...emailActivities({ ...delivery, stopping }),
      ...systemMailActivities({ ...delivery, encryptionKey: config.encryptionKeys, from }),
    },
    campaign: campaignActivities({
      ...delivery,
      heavyReads,
      stopping,
      clock,
      launchGate: deps.launchGate,
      tell: deps.tellMembers,
      dispatchSoon: dispatcher(deps),
      billing: config,
      prepare: prepareBy(compose),
      statements: pLimit(Math.max(2, config.DATABASE_POOL_SIZE - 5)),
      claiming: pLimit(1),
      rendering: pLimit(1),
      // Each takes two connections at times; most of the pool is for others.
      cursors: pLimit(config.DATABASE_POOL_SIZE >= 6 ? 2 : 1),
      lanes: config.CAMPAIGN_PARALLEL_BATCHES,
      chunk: config.SEND_CHUNK,
      pace: { claims: config.CAMPAIGN_CALLS_IN_FLIGHT, longestMs: laneShareMs },
    }),
    automation: automationActivities({ db, billing: config, wake: (projectId) => waker.wake(projectId) }),
    http: httpActivities(deps),
    bulk: bulkActivities(deps, delivery),
  };
}

function httpActivities(deps: ActivityDeps): object {
  const { config, db, clock, stopping, connectOut: connect, tellMembers: tell } = deps;
  return {
    ...webhookActivities({
      db,
      links: linksOf(config),
      connect,
    }),
    ...webhookFeedActivities({
      db,
      connect,
      encryptionKeys: config.encryptionKeys,
      clock,
      tell,
      dispatchSoon: dispatcher(deps),
      stopping,
    }),
  };
}

function linksOf({
  DASHBOARD_URI: pagesUrl,
  API_URI: apiUrl,
  LINK_SECRET: secret,
}: ActivityDeps['config']): LinkSettings {
  return { pagesUrl, apiUrl, secret };
}

function bulkActivities(deps: ActivityDeps, delivery: QueueDeps): object {
  const { config, db, log, stopping, clock, temporal, payments, tellMembers: tell } = deps;
  const dispatchSoon = dispatcher(deps);
  const queuePrefix = config.TEMPORAL_TASK_QUEUE;
  return {
    ...sweepActivities({
      checks: reconcileChecks(deps, delivery),
      rules: retentionRules(deps),
      log,
      checkStore: (pass) => checkStore({ db, queuePrefix, isKnown: (last) => isKnown(temporal, last) }, pass),
    }),
    ...domainActivities({ db, log, provider: deps.domainProvider, dns: deps.dns, tell, dispatchSoon }),
    ...usageActivities({ db, log, freeTier: config.freeTier, payments, tell, dispatchSoon, stopping }),
    ...enrolmentActivities({ db, clock, stopping, dispatchSoon }),
    ...migrationActivities({ db, stopping }),
    ...segmentActivities({ db, log, clock, stopping }),
    ...jobActivities({
      db,
      log,
      stopping,
      encryptionKeys: config.encryptionKeys,
      startsPerHour: config.WORKFLOW_STARTS_PER_CONTACT_PER_HOUR,
      simulations: { links: linksOf(config), keptDays: config.CONTACT_HISTORY_DAYS },
      dispatchSoon,
    }),
    ...erasureActivities({
      db,
      log,
      stopping,
      encryptionKeys: config.encryptionKeys,
      eraseMessages: deps.eraseMessages,
      retentions: retentionsOf(config),
    }),
    ...wipeActivities({
      db,
      log,
      stopping,
      endExecutions: (projectId) => endExecutionsOf(temporal, projectId, 'The project is reset or deleted'),
      cancelSubscription: (subscription) =>
        payments?.cancel(subscription) ?? Promise.reject(new Error('Billing is not enabled')),
    }),
  };
}

function dispatcher({ outbox }: ActivityDeps): RecoveryDeps['dispatchSoon'] {
  return (...tickets) => outbox.dispatchSoon(...tickets);
}

// Each kind of durable work that an execution of its own does is here, and so goes on when that execution is lost.
const recoverableKinds: readonly RecoverableKind[] = [
  recoverableCampaigns,
  recoverableDryRuns,
  recoverableMails,
  recoverableWipes,
  recoverableErasures,
  recoverableJobs,
  recoverableMigrations,
  recoverableRuns,
  recoverableWaits,
];

/** Returns the checks that the reconciler makes every minute: one for each way in which a crash or a lost Temporal store leaves work stuck. */
export function reconcileChecks(deps: ActivityDeps, delivery: QueueDeps): ReconcileCheck[] {
  const { config, db, temporal, waker } = deps;
  const dispatchSoon = dispatcher(deps);
  const recovery: RecoveryDeps = { db, isOpen: (id) => isOpen(temporal, id), dispatchSoon };
  const orphans = createOrphanCheck({
    ...recovery,
    openExecutions: (before, limit) => openAutomations(temporal, config.TEMPORAL_TASK_QUEUE, before, limit),
  });
  return [
    // First, so that nothing that was found is looked up once more.
    ...restoredChecks(deps),
    { name: 'mail', run: () => reconcileClaims(delivery, (projectId) => waker.wake(projectId)) },
    ...recoverableKinds.map((kind) => ({ name: kind.name, run: createRecovery(recovery, kind) })),
    {
      name: 'schedules of automations',
      run: () => restoreSchedules({ db, revisionOf: (id) => scheduleRevision(temporal, id), dispatchSoon }),
    },
    { name: 'executions without a run', run: orphans },
    { name: 'rollouts of versions', run: () => checkRollouts({ db, tell: deps.tellMembers, dispatchSoon }) },
    { name: 'events behind the feed of webhooks', run: () => insertMissed(db) },
    { name: 'webhook endpoints that lack events', run: () => auditEndpoints(db) },
  ];
}

// Workflows make mail again that they had made when the database was set back; the reconciler starts those that are behind within this time.
const shortestHoldMs = 2 * 60_000;

function restoredChecks({ config, db, mailer, log }: ActivityDeps): ReconcileCheck[] {
  if (config.RESTORED_TO === null) return [];
  const waitMs = Math.max(shortestHoldMs, config.PROVIDER_LOOKUP_LAG_SECONDS * 1000);
  const restore = { db, mailer, log, chunk: config.SEND_CHUNK, waitMs };
  return [{ name: 'mail of a database that was set back', run: () => compareRestored(restore) }];
}

/** Returns the rules by which old rows are removed. Each subject whose rows need not be kept for ever adds its rule here. */
export function retentionRules({
  db,
  config,
  clock,
  log,
}: Pick<ActivityDeps, 'db' | 'config' | 'clock' | 'log'>): RetentionRule[] {
  const eventPace = { ...partPace, say: (line: string) => log.info(`parts of events: ${line}`) };
  const keptFor = (days: number | null) => ({ days, leastDays: config.CONTACT_HISTORY_DAYS });
  return [
    { name: 'email bodies', removeSome: (limit) => emptyOldBodies(db, bodiesFrom(config, clock()), limit) },
    { name: 'idempotency keys', removeSome: (limit) => removeExpiredKeys(db, limit) },
    { name: 'deleted contacts', removeSome: (limit) => removeOldLosses(db, limit) },
    {
      name: 'history of contacts',
      removeSome: (limit) => removeOldHistory(db, config.CONTACT_HISTORY_DAYS, limit),
    },
    { name: 'outbox', removeSome: (limit) => removeDone(db, config.OUTBOX_RETENTION_HOURS, limit) },
    {
      name: 'jobs',
      removeSome: (limit) => removeOldJobs(db, Math.max(keepJobsHours, 24 * config.CONTACT_HISTORY_DAYS), limit),
    },
    { name: 'reviews of campaigns', removeSome: (limit) => removeOldDryRuns(db, limit) },
    { name: 'trash of contacts', removeSome: (limit) => emptyTrash(db, limit) },
    { name: 'files of cut-off uploads', removeSome: (limit) => removeLostParts(db, limit) },
    { name: 'visits of recipient pages', removeSome: (limit) => removeOldVisits(db, limit) },
    { name: 'attempts', removeSome: (limit) => removeOldAttempts(db, limit) },
    { name: 'ended sessions', removeSome: (limit) => removeEndedSessions(db, limit) },
    { name: 'sessions', removeSome: (limit) => removeOldSessions(db, limit) },
    { name: 'account tokens', removeSome: (limit) => removeOldTokens(db, limit) },
    { name: 'wipes', removeSome: (limit) => removeOldWipes(db, limit) },
    { name: 'system mail', removeSome: (limit) => removeOldMails(db, limit) },
    { name: 'hand-overs', removeSome: (limit) => removeOldHandovers(db, limit) },
    { name: 'versions of automations', removeSome: (limit) => removeUnusedVersions(db, limit) },
    { name: 'usage', removeSome: (limit) => removeOldCounts(db, limit) },
    { name: 'daily usage', removeSome: (limit) => removeEarlierDays(db, limit) },
    { name: 'webhook receipts', removeSome: (limit) => removeOldReceipts(db, limit) },
    { name: 'audit log', removeSome: (limit) => removeOldAudit(db, limit) },
    { name: 'plans of language models', removeSome: (limit) => removeOldPlans(db, limit) },
    { name: 'webhook deliveries', removeSome: (limit) => removeOldDeliveries(db, keepDeliveriesDays, limit) },
    { name: 'restored mail', removeSome: (limit) => removeOldRestored(db, limit) },
    {
      name: 'events',
      removeSome: (limit) => removeOldEvents(db, keptFor(config.EVENT_RETENTION_DAYS), clock(), limit, eventPace),
    },
    {
      name: 'executions',
      removeSome: (limit) => removeByAge(db, 'runs', keptFor(config.RUN_RETENTION_DAYS), clock(), limit),
    },
    {
      name: 'mail',
      removeSome: (limit) => removeByAge(db, 'mail', keptFor(config.EMAIL_RETENTION_DAYS), clock(), limit),
    },
  ];
}

// Namespaces that the service registers keep closed executions for so long.
const executionsKeptDays = 7;

function retentionsOf(config: ActivityDeps['config']): Retentions {
  return {
    provider: config.mailProvider,
    providerDays: config.PROVIDER_RETENTION_DAYS,
    backupDays: config.BACKUP_RETENTION_DAYS,
    temporalDays: config.TEMPORAL_SHOW_EMAILS ? executionsKeptDays : 0,
  };
}

// Mail from before this instant keeps all but its content.
function bodiesFrom({ EMAIL_BODY_RETENTION_DAYS: days }: ActivityDeps['config'], now: Date): Date {
  return new Date(now.getTime() - days * 86_400_000);
}
