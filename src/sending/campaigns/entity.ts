import { defineEntity } from '@mikro-orm/core';
import { templateTypes } from '../../content/templates/index.ts';
import { baseColumns } from '../../core/database/columns.ts';
import { audienceTypes, campaignStatuses } from './schema.ts';

const p = defineEntity.properties;

const CampaignSchema = defineEntity({
  name: 'Campaign',
  tableName: 'campaigns',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    name: p.text(),
    description: p.text().nullable(),
    subject: p.text(),
    body: p.text(),
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
    skippedCount: p.integer().default(0),
    failedCount: p.integer().default(0),
    archived: p.boolean().default(false),
    sendSeq: p.integer().default(0),
    sentAt: p.datetime(3).nullable(),
    pausedAt: p.datetime(3).nullable(),
    cancelledAt: p.datetime(3).nullable(),
    auditNote: p.text().nullable(),
    resendOf: p.uuid().nullable(),
    resendSeq: p.integer().nullable(),
  },
});

/**
 * One mailing to an audience. Its status and counters are moved by guarded SQL only (`state.ts`, `ledger.ts`), never
 * through the unit of work, so that a request which read it earlier cannot undo what happened since.
 */
export class Campaign extends CampaignSchema.class {}
CampaignSchema.setClass(Campaign);
