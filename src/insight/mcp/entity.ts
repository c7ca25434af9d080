import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';
import type { ReviewFacts } from '../../sending/campaigns/index.ts';

const p = defineEntity.properties;

/** What a language model has planned, and by `facts` what its sentence stands for. It is carried out once, in the transaction that stores its `result`. */
export const McpPlan = defineEntity({
  name: 'McpPlan',
  tableName: 'mcp_plans',
  properties: {
    id: baseColumns.id,
    projectId: ofProject(),
    keyId: p.uuid(),
    action: p.text(),
    operation: p.text(),
    input: p.json(),
    sentence: p.text(),
    affects: p.integer(),
    samples: p.array(),
    contentHash: p.blob().nullable(),
    facts: p.json<ReviewFacts>().nullable(),
    again: p.boolean(),
    needsApproval: p.boolean(),
    approvedAt: p.datetime(3).nullable(),
    approvedBy: p.uuid().nullable(),
    refusedAt: p.datetime(3).nullable(),
    refusedBy: p.uuid().nullable(),
    committedAt: p.datetime(3).nullable(),
    result: p.json().nullable(),
    expiresAt: p.datetime(3),
    createdAt: baseColumns.createdAt,
  },
  indexes: [
    { name: 'mcp_plans_project', properties: ['projectId', 'createdAt'] },
    { name: 'mcp_plans_content', properties: ['projectId', 'contentHash', 'committedAt'] },
    {
      name: 'mcp_plans_open',
      properties: ['keyId', 'expiresAt'],
      where: 'committed_at IS NULL AND refused_at IS NULL',
    },
  ],
});
