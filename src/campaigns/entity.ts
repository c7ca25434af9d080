import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { CampaignStatus, campaignStatuses } from '../lib/enums.ts';
import { ofProject } from '../projects/queries.ts';
import { baseColumns } from '../store/columns.ts';
import { contentColumns } from '../templates/queries.ts';
import { type CanaryBody, type CanaryCounts, type CanaryStop, canaryStates } from './launch.ts';
import { audienceTypes, type EarlierRecipients } from './schema.ts';

const p = defineEntity.properties;

/**
 * One mailing to an audience. Its status and counters are moved by guarded SQL only (`state.ts`, `ledger.ts`), never
 * through the unit of work, so that a request which read it earlier cannot undo what happened since.
 */
export const Campaign = defineEntity({
  name: 'Campaign',
  tableName: 'campaigns',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    ...contentColumns,
    status: p.enum(campaignStatuses).default(CampaignStatus.DRAFT),
    audienceType: p.enum(audienceTypes),
    audienceCondition: p.json<Record<string, unknown>>().nullable(),
    segmentId: p.uuid().nullable(),
    scheduledFor: p.datetime(3).nullable(),
    totalRecipients: p.integer().default(0),
    sentCount: p.integer().default(0),
    deliveredCount: p.integer().default(0),
    openedCount: p.integer().default(0),
    clickedCount: p.integer().default(0),
    bouncedCount: p.integer().default(0),
    complainedCount: p.integer().default(0),
    unsubscribedCount: p.integer().default(0),
    failedCount: p.integer().default(0),
    archived: p.boolean().default(false),
    sendSeq: p.integer().default(0),
    sentAt: p.datetime(3).nullable(),
    cancelledAt: p.datetime(3).nullable(),
    auditNote: p.text().nullable(),
    pausedAt: p.datetime(3).nullable(),
    pauseReason: p.text().nullable(),
    skippedCount: p.integer().default(0),
    resendOf: p.uuid().nullable(),
    resendSeq: p.integer().nullable(),
    correction: p.json<EarlierRecipients>().nullable(),
    contentVersion: p.integer().default(1),
    revision: p.integer().default(1).version(),
  },
  uniques: [
    {
      name: 'campaigns_resend',
      properties: ['resendOf', 'resendSeq'],
      where: 'resend_of IS NOT NULL AND correction IS NULL',
    },
  ],
  indexes: [
    {
      name: 'campaigns_project',
      columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id' }],
    },
    { name: 'campaigns_scheduled', properties: ['projectId', 'scheduledFor', 'id'], where: "status = 'SCHEDULED'" },
    { name: 'campaigns_segment', properties: ['segmentId'], where: 'segment_id IS NOT NULL' },
    { name: 'campaigns_sending', properties: ['projectId'], where: "status = 'SENDING'" },
    { name: 'campaigns_sent', properties: ['projectId', 'sentAt', 'id'], where: 'sent_at IS NOT NULL' },
  ],
  checks: [
    { name: 'campaigns_check', expression: '(resend_of IS NULL) = (resend_seq IS NULL)' },
    { name: 'campaigns_correction_check', expression: 'correction IS NULL OR resend_of IS NOT NULL' },
  ],
});
export type Campaign = InferEntity<typeof Campaign>;

/**
 * A send of a campaign: how far its audience is frozen and how far it is claimed. `reviewId` is the dry run it goes by, and `drift`
 * how far the audience may have changed since. `limitedBy` is the key whose limits hold, where one with limits began it.
 */
export const CampaignSend = defineEntity({
  name: 'CampaignSend',
  tableName: 'campaign_sends',
  properties: {
    campaignId: p.manyToOne(Campaign).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    sendSeq: p.integer().primary(),
    projectId: p.uuid(),
    expandedThrough: p.uuid().nullable(),
    expandedCount: p.integer().default(0),
    expanded: p.boolean().default(false),
    claimedThrough: p.uuid().nullable(),
    reviewId: p.uuid().nullable(),
    drift: p.text().nullable(),
    mostUnapproved: p.integer().nullable(),
    limitedBy: p.uuid().nullable(),
    closed: p.boolean().default(false),
    canary: p.boolean().default(false),
    createdAt: baseColumns.createdAt,
    updatedAt: baseColumns.updatedAt,
  },
  indexes: [{ name: 'campaign_sends_open', properties: ['updatedAt'], where: 'NOT closed' }],
});

/** The canary of a send: the first slice of its audience, and what its reports say. `counts` are kept once it has ended. */
export const CampaignCanary = defineEntity({
  name: 'CampaignCanary',
  tableName: 'campaign_canaries',
  properties: {
    send: p
      .manyToOne(CampaignSend)
      .mapToPk()
      .joinColumns('campaign_id', 'send_seq')
      .deleteRule('cascade')
      .primary()
      .updateRule('no action'),
    recipients: p.integer(),
    holdSeconds: p.integer(),
    stopIf: p.json<Partial<CanaryBody['stopIf']>>(),
    minDelivered: p.integer(),
    state: p.enum(canaryStates).default('WAITING'),
    chosen: p.integer().nullable(),
    heldUntil: p.datetime(3).nullable(),
    releasedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    stopped: p.json<CanaryStop>().nullable(),
    counts: p.json<CanaryCounts>().nullable(),
    createdAt: baseColumns.createdAt,
    updatedAt: baseColumns.updatedAt,
  },
});

/** The content of a send before a revision replaced it, and how many got it. */
export const CampaignVersion = defineEntity({
  name: 'CampaignVersion',
  tableName: 'campaign_versions',
  properties: {
    campaignId: p.manyToOne(Campaign).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    sendSeq: p.integer().primary(),
    version: p.integer().primary(),
    subject: p.text(),
    body: p.text(),
    sent: p.integer(),
    replacedAt: baseColumns.createdAt,
  },
});

/** What the rows of a send's ledger came to that retention has removed, by verdict and reason ('' for none). */
export const CampaignLedgerSum = defineEntity({
  name: 'CampaignLedgerSum',
  tableName: 'campaign_ledger_sums',
  properties: {
    campaignId: p.manyToOne(Campaign).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    sendSeq: p.integer().primary(),
    verdict: p.enum(['handed_over', 'skipped', 'failed'] as const).primary(),
    reason: p.text().primary(),
    recipients: p.integer(),
  },
});
