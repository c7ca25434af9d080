import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../projects/index.ts';

const p = defineEntity.properties;

/**
 * Mail of a project in a month. `settled` and `failed` count what came to an end, for every project; `reserved` counts
 * what was let in since a limit holds, null while none does. No foreign key: mail of a project that is being deleted is
 * still settled.
 */
export const UsageCounter = defineEntity({
  name: 'UsageCounter',
  tableName: 'usage_counters',
  properties: {
    projectId: p.uuid().primary(),
    month: p.date().primary(),
    category: p.enum(['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND', 'TOTAL'] as const).primary(),
    settled: p.integer().default(0),
    failed: p.integer().default(0),
    reserved: p.integer().nullable(),
  },
  indexes: [{ name: 'usage_counters_limited', properties: ['month'], where: 'reserved IS NOT NULL' }],
});

/** Emails that a project with a daily limit was let send on a day. */
export const DailyUsage = defineEntity({
  name: 'DailyUsage',
  tableName: 'daily_usage',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    day: p.date().primary(),
    accepted: p.integer(),
  },
  indexes: [{ name: 'daily_usage_day', properties: ['day'] }],
});

/** A notice that a project reached a share of its limit, sent once. */
export const UsageNotice = defineEntity({
  name: 'UsageNotice',
  tableName: 'usage_notices',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    month: p.date().primary(),
    category: p.text().primary(),
    level: p.smallint().primary(),
    createdAt: baseColumns.createdAt,
  },
  checks: [{ name: 'usage_notices_level_check', expression: 'level in (80, 100)' }],
});

/** How far the mail of a project was reported to billing, in the order of its ids. */
export const UsageReport = defineEntity({
  name: 'UsageReport',
  tableName: 'usage_reports',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    reportedThrough: p.uuid(),
    updatedAt: baseColumns.updatedAt,
  },
});

/** Mail that had not come to an end when reporting passed it. */
export const UnreportedMail = defineEntity({
  name: 'UnreportedMail',
  tableName: 'usage_reports_waiting',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    emailId: p.uuid().primary(),
  },
});
