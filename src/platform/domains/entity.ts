import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { type DnsRecord, domainStatuses } from './schema.ts';

const p = defineEntity.properties;

const DomainSchema = defineEntity({
  name: 'Domain',
  tableName: 'domains',
  properties: {
    ...baseColumns,
    projectId: p.uuid(),
    domain: p.text(),
    verified: p.boolean().default(false),
    status: p.enum(domainStatuses).default('Pending'),
    dkimTokens: p.json<string[]>(),
    records: p.json<DnsRecord[]>(),
    providerId: p.text().nullable(),
    dkimKeySealed: p.text().nullable().lazy(),
    checkedAt: p.datetime(3).nullable(),
    verifiedAt: p.datetime(3).nullable(),
    misses: p.smallint().default(0),
  },
});

/** A domain from which a project sends, once it is verified. */
export class Domain extends DomainSchema.class {}
DomainSchema.setClass(Domain);
