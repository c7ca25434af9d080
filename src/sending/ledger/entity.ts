import { defineEntity } from '@mikro-orm/core';
import { templateTypes } from '../../content/templates/index.ts';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import { mailSources } from './newest-mail.ts';
import type { Reason } from './reasons.ts';

const p = defineEntity.properties;

/** Every status that a mail can have. */
export const mailStatuses = [
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'RECEIVED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
  'SUPPRESSED',
  'CANCELLED',
] as const;
export type MailStatus = (typeof mailStatuses)[number];

// Lists of emails find a status by the condition of an index: one that named the status would make each change of it write all indexes.
const listIndexes = Object.entries({
  failed: 'reason IS NOT NULL AND bounced_at IS NULL',
  cancelled: `reason = '{"code": "cancelled"}'::jsonb`,
  suppressed: 'suppression IS NOT NULL',
  bounced: 'bounced_at IS NOT NULL',
  complained: 'complained_at IS NOT NULL',
  opened: 'opened_at IS NOT NULL',
  clicked: 'clicked_at IS NOT NULL',
}).map(([status, where]) => ({
  name: `emails_list_${status}`,
  properties: ['projectId', 'id'] as ('projectId' | 'id')[],
  where,
}));

/**
 * A message in the ledger. Written and settled by SQL only. Its contact is no foreign key: freezing an audience locks
 * its contacts, and a trigger looks at all other mail.
 */
export const Email = defineEntity({
  name: 'Email',
  tableName: 'emails',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    contactId: p.uuid(),
    toAddress: p.text(),
    toName: p.text().nullable(),
    from: p.text(),
    fromName: p.text().nullable(),
    replyTo: p.text().nullable(),
    subject: p.text().nullable(),
    body: p.text().nullable(),
    render: p.json<unknown>().nullable(),
    headers: p.json<unknown>().nullable(),
    attachments: p.json<unknown>().nullable(),
    sourceType: p.enum(mailSources),
    messageClass: p.enum(templateTypes),
    templateId: p.uuid().nullable(),
    campaignId: p.uuid().nullable(),
    sendSeq: p.integer().nullable(),
    workflowExecutionId: p.uuid().nullable(),
    workflowStepExecutionId: p.uuid().nullable(),
    status: p.enum(mailStatuses).default('PENDING'),
    messageId: p.text().nullable(),
    provider: p.text().nullable(),
    stream: p.text().nullable(),
    tracking: p.boolean().nullable(),
    simulated: p.boolean().default(false),
    suppression: p.json<unknown>().nullable(),
    reason: p.json<Reason>().nullable(),
    opens: p.integer().default(0),
    clicks: p.integer().default(0),
    contentVersion: p.integer().nullable(),
    scheduledFor: p.datetime(3).nullable(),
    heldUntil: p.datetime(3).nullable(),
    sentAt: p.datetime(3).nullable(),
    deliveredAt: p.datetime(3).nullable(),
    openedAt: p.datetime(3).nullable(),
    clickedAt: p.datetime(3).nullable(),
    bouncedAt: p.datetime(3).nullable(),
    complainedAt: p.datetime(3).nullable(),
  },
  uniques: [
    { name: 'emails_campaign', properties: ['campaignId', 'sendSeq', 'contactId'], where: 'campaign_id IS NOT NULL' },
    { name: 'emails_step', properties: ['workflowStepExecutionId'], where: 'workflow_step_execution_id IS NOT NULL' },
  ],
  indexes: [
    { name: 'emails_bounced', properties: ['projectId', 'bouncedAt', 'contactId'], where: 'bounced_at IS NOT NULL' },
    { name: 'emails_clicked', properties: ['projectId', 'clickedAt', 'contactId'], where: 'clicked_at IS NOT NULL' },
    {
      name: 'emails_complained',
      properties: ['projectId', 'complainedAt', 'contactId'],
      where: 'complained_at IS NOT NULL',
    },
    { name: 'emails_contact', properties: ['contactId', 'id'] },
    ...listIndexes,
    { name: 'emails_opened', properties: ['projectId', 'openedAt', 'contactId'], where: 'opened_at IS NOT NULL' },
    { name: 'emails_project', properties: ['projectId', 'sourceType', 'id'] },
    { name: 'emails_suppressed', properties: ['projectId', 'createdAt', 'id'], where: 'suppression IS NOT NULL' },
    { name: 'emails_template', properties: ['templateId'], where: 'template_id IS NOT NULL' },
  ],
});

/** A tag of a mail that was sent with some. */
export const EmailTag = defineEntity({
  name: 'EmailTag',
  tableName: 'email_tags',
  properties: {
    emailId: p.manyToOne(Email).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    name: p.text().primary(),
    value: p.text(),
    projectId: p.uuid(),
  },
  indexes: [{ name: 'email_tags_value', properties: ['projectId', 'name', 'value', 'emailId'] }],
});

/** A mail that repeats one that failed. */
export const EmailResend = defineEntity({
  name: 'EmailResend',
  tableName: 'email_resends',
  properties: {
    emailId: p.manyToOne(Email).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    resendOf: p.uuid(),
    projectId: p.uuid(),
  },
  indexes: [{ name: 'email_resends_first', properties: ['resendOf'] }],
});

/** Failed mail that keeps its attachments, with the bytes of its content. */
export const FailedAttachments = defineEntity({
  name: 'FailedAttachments',
  tableName: 'failed_attachments',
  properties: {
    emailId: p.manyToOne(Email).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    projectId: p.uuid(),
    bytes: p.integer(),
  },
  indexes: [{ name: 'failed_attachments_project', properties: ['projectId'] }],
});

/** Mail by the hour it was created in, and what became of it. `rated` columns are what reputation is judged by. */
export const MailCount = defineEntity({
  name: 'MailCount',
  tableName: 'mail_counts',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    hour: p.datetime(3).primary(),
    outgoing: p.integer().default(0),
    incoming: p.integer().default(0),
    delivered: p.integer().default(0),
    opened: p.integer().default(0),
    clicked: p.integer().default(0),
    bounced: p.integer().default(0),
    rated: p.integer().default(0),
    ratedBounced: p.integer().default(0),
    ratedComplained: p.integer().default(0),
    runsStarted: p.integer().default(0),
    runsCompleted: p.integer().default(0),
  },
});

/**
 * Changes to fold into the counts: append-only, without a key, so that writers do not wait for each other. Both are read
 * together.
 */
export const MailCountChange = defineEntity({
  name: 'MailCountChange',
  tableName: 'mail_count_changes',
  properties: {
    projectId: p.uuid().primary(),
    hour: p.datetime(3).primary(),
    outgoing: p.integer(),
    incoming: p.integer(),
    delivered: p.integer(),
    opened: p.integer(),
    clicked: p.integer(),
    bounced: p.integer(),
    rated: p.integer(),
    ratedBounced: p.integer(),
    ratedComplained: p.integer(),
    runsStarted: p.integer().default(0),
    runsCompleted: p.integer().default(0),
  },
  indexes: [{ name: 'mail_count_changes_project', properties: ['projectId'] }],
});

/** How far a retention rule has walked a table, in the order of its ids. */
export const RetentionCursor = defineEntity({
  name: 'RetentionCursor',
  tableName: 'retention_cursors',
  properties: {
    rule: p.text().primary(),
    through: p.uuid(),
  },
});

/** A webhook that was handled, so that a repeated delivery changes nothing. */
export const WebhookReceipt = defineEntity({
  name: 'WebhookReceipt',
  tableName: 'webhook_receipts',
  properties: {
    source: p.text().primary(),
    key: p.text().primary(),
    createdAt: baseColumns.createdAt,
  },
  indexes: [{ name: 'webhook_receipts_age', properties: ['createdAt'] }],
});
