import { defineEntity } from '@mikro-orm/core';
import type { EmailDocument } from '@posthorn/email-document';
import { templateTypes } from '../../content/templates/index.ts';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import { audienceTypes, campaignStatuses } from './schema.ts';

const p = defineEntity.properties;

const CampaignSchema = defineEntity({
  name: 'Campaign',
  tableName: 'campaigns',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    description: p.text().nullable(),
    subject: p.text(),
    body: p.text(),
    document: p.json<EmailDocument>().nullable(),
    from: p.text(),
    fromName: p.text().nullable(),
    replyTo: p.text().nullable(),
    type: p.enum(templateTypes).default('MARKETING'),
    status: p.enum(campaignStatuses).default('DRAFT'),
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
    skippedCount: p.integer().default(0),
    resendOf: p.uuid().nullable(),
    resendSeq: p.integer().nullable(),
    revision: p.integer().default(1).version(),
  },
  uniques: [{ name: 'campaigns_resend', properties: ['resendOf', 'resendSeq'], where: 'resend_of IS NOT NULL' }],
  indexes: [
    {
      name: 'campaigns_project',
      columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id' }],
    },
    { name: 'campaigns_scheduled', properties: ['projectId', 'scheduledFor', 'id'], where: "status = 'SCHEDULED'" },
    { name: 'campaigns_segment', properties: ['segmentId'], where: 'segment_id IS NOT NULL' },
    { name: 'campaigns_sent', properties: ['projectId', 'sentAt', 'id'], where: 'sent_at IS NOT NULL' },
  ],
  checks: [{ name: 'campaigns_check', expression: '(resend_of IS NULL) = (resend_seq IS NULL)' }],
});

/**
 * One mailing to an audience. Its status and counters are moved by guarded SQL only (`state.ts`, `ledger.ts`), never
 * through the unit of work, so that a request which read it earlier cannot undo what happened since.
 */
export class Campaign extends CampaignSchema.class {}
CampaignSchema.setClass(Campaign);

const CampaignSendSchema = defineEntity({
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
    closed: p.boolean().default(false),
    createdAt: baseColumns.createdAt,
    updatedAt: baseColumns.updatedAt,
  },
  indexes: [{ name: 'campaign_sends_open', properties: ['updatedAt'], where: 'NOT closed' }],
});

/** A send of a campaign: how far its audience is frozen and how far it is claimed. */
export class CampaignSend extends CampaignSendSchema.class {}
CampaignSendSchema.setClass(CampaignSend);

const CampaignClaimSchema = defineEntity({
  name: 'CampaignClaim',
  tableName: 'campaign_claims',
  properties: {
    send: p
      .manyToOne(CampaignSend)
      .joinColumns('campaign_id', 'send_seq')
      .mapToPk()
      .updateRule('no action')
      .deleteRule('cascade'),
    id: p.text().primary(),
    afterContact: p.uuid().nullable(),
    throughContact: p.uuid(),
    size: p.integer(),
    settled: p.boolean().default(false),
    claimedAt: p.datetime(3).defaultRaw('now()'),
    holder: p.text().nullable(),
    takenAt: p.datetime(3).defaultRaw('now()'),
    handedAt: p.datetime(3).nullable(),
    attempts: p.integer().default(0),
    dueAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'campaign_claims_open', properties: ['send', 'id'], where: 'NOT settled' }],
});

/**
 * A range of recipients that one attempt hands over. `holder` is the attempt that works on it, `handedAt` when its
 * messages may last have reached the provider unconfirmed.
 */
export class CampaignClaim extends CampaignClaimSchema.class {}
CampaignClaimSchema.setClass(CampaignClaim);
