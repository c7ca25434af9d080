import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { baseColumns } from '../../../core/database/columns.ts';
import { User } from '../../../platform/accounts/index.ts';
import { ofProject } from '../../../platform/projects/index.ts';
import type { AskedSend } from './approval-queries.ts';
import type { ReviewFacts } from './facts.ts';
import type { Findings } from './tally.ts';

const p = defineEntity.properties;

/** A review of a campaign: what sending it would hand over. `through` moves in the transaction that counts what it passed. */
export const DryRun = defineEntity({
  name: 'DryRun',
  tableName: 'dry_runs',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    campaignId: p.uuid(),
    n: p.integer(),
    state: p.enum(['RUNNING', 'DONE', 'FAILED'] as const).default('RUNNING'),
    failedReason: p.text().nullable(),
    facts: p.json<ReviewFacts>(),
    expected: p.integer(),
    sample: p.integer().nullable(),
    rendered: p.integer().default(0),
    through: p.uuid().nullable(),
    audience: p.integer().default(0),
    wouldSend: p.integer().default(0),
    renderMs: p.double().defaultRaw('0'),
    chain: p.blob().defaultRaw(`''::bytea`),
    findings: p.json<Findings>().defaultRaw(`'{}'::jsonb`),
    fingerprint: p.text().nullable(),
    finishedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3),
    asked: p.json<AskedSend>().nullable(),
    askedAt: p.datetime(3).nullable(),
    approvedBy: p.manyToOne(User).mapToPk().deleteRule('set null').updateRule('no action').nullable(),
    approvedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'dry_runs_campaign', properties: ['campaignId', 'n'] }],
  checks: [{ name: 'dry_runs_sample', expression: 'sample > 0' }],
  indexes: [
    { name: 'dry_runs_expiry', properties: ['expiresAt'] },
    { name: 'dry_runs_project', properties: ['projectId'] },
    { name: 'dry_runs_running', properties: ['updatedAt'], where: `state = 'RUNNING'` },
  ],
});

export type DryRun = InferEntity<typeof DryRun>;

/**
 * One contact of a reviewed audience: the hash of what they would get, or why they would get nothing. Without a foreign key to the dry run,
 * whose checks cost more than the row; rows go with it by the trigger `forget_dry_runs`.
 */
export const DryRunRow = defineEntity({
  name: 'DryRunRow',
  tableName: 'dry_run_rows',
  properties: {
    dryRunId: p.uuid().primary(),
    contactId: p.uuid().primary(),
    bodyHash: p.blob().nullable(),
    bytes: p.integer().nullable(),
    leftOut: p.text().nullable(),
  },
});
