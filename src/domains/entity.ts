import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { ofProject } from '../projects/entity.ts';
import { baseColumns } from '../store/columns.ts';
import { type DnsRecord, domainStatuses } from './schema.ts';

const p = defineEntity.properties;

/** A domain from which a project sends, once it is verified. */
export const Domain = defineEntity({
  name: 'Domain',
  tableName: 'domains',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    domain: p.text().unique(),
    verified: p.boolean().default(false),
    approved: p.boolean().default(true),
    status: p.enum(domainStatuses).default('Pending'),
    dkimTokens: p.json<string[]>().defaultRaw("'[]'::jsonb"),
    records: p.json<DnsRecord[]>().defaultRaw("'[]'::jsonb"),
    providerId: p.text().nullable(),
    checkedAt: p.datetime(3).nullable(),
    dkimKeySealed: p.text().nullable().lazy(),
    verifiedAt: p.datetime(3).nullable(),
    misses: p.smallint().default(0),
    pendingSince: p.datetime(3).defaultRaw('now()').lazy(),
    dueAt: p.datetime(3).defaultRaw('now()').lazy(),
    verifiedToldAt: p.datetime(3).nullable().lazy(),
    failedToldAt: p.datetime(3).nullable().lazy(),
  },
  indexes: [
    { name: 'domains_due', properties: ['dueAt', 'id'] },
    { name: 'domains_project', columns: [{ name: 'project_id' }, { name: 'created_at', sort: 'desc' }] },
  ],
});
export type Domain = InferEntity<typeof Domain>;

/** A domain that the provider must forget. */
export const DomainRemoval = defineEntity({
  name: 'DomainRemoval',
  tableName: 'domain_removals',
  properties: {
    providerId: p.text().primary(),
    domain: p.text(),
    dueAt: p.datetime(3).defaultRaw('now()'),
    createdAt: baseColumns.createdAt,
  },
  indexes: [{ name: 'domain_removals_due', properties: ['dueAt'] }],
});
