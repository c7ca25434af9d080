import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns } from '../../store/columns.ts';

const p = defineEntity.properties;

/** Where an erasure stands, in order; each is left by the transaction that finishes it. */
export const phases = ['SETTLING', 'LEDGERS', 'ROWS', 'CERTIFYING', 'WAITING', 'DONE'] as const;

/** A ledger that an erasure changes, by the hash of its CSV file. */
export interface ChangedLedger {
  campaignId: string;
  sendSeq: number;
  hashBefore: string | null;
  hashAfter: string | null;
}

/** Something that a member wrote and that names the address; it is reported, not changed. */
export interface Mention {
  type: string;
  count: number;
  ids: string[];
}

/**
 * The erasure of a contact and how far it is. `addressesSealed` holds the addresses to look for, until the certificate is issued;
 * `counts` rows by step; `certificate` is the text that was signed.
 */
export const Erasure = defineEntity({
  name: 'Erasure',
  tableName: 'erasures',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    contactId: p.uuid(),
    subject: p.text(),
    reference: p.text().nullable(),
    keepSuppressed: p.boolean(),
    addressesSealed: p.text().nullable(),
    phase: p.enum(phases).default('SETTLING'),
    place: p.integer().default(0),
    after: p.uuid().nullable(),
    foundInPass: p.integer().default(0),
    counts: p.json<Record<string, number>>().defaultRaw("'{}'::jsonb"),
    ledgers: p.json<ChangedLedger[]>().defaultRaw("'[]'::jsonb"),
    mentions: p.json<Mention[]>().defaultRaw("'[]'::jsonb"),
    certificate: p.text().nullable(),
    signature: p.text().nullable(),
    publicKey: p.text().nullable(),
    dueAt: p.datetime(3).nullable(),
    erasedAt: p.datetime(3).nullable(),
    finishedAt: p.datetime(3).nullable(),
  },
  uniques: [{ name: 'erasures_contact', properties: ['contactId'] }],
  indexes: [
    { name: 'erasures_project', properties: ['projectId', 'id'] },
    { name: 'erasures_open', properties: ['updatedAt', 'id'], where: 'finished_at IS NULL' },
  ],
});
export type Erasure = InferEntity<typeof Erasure>;

/** An address that was erased, by its hash. `suppressed`: the project may neither store it nor send to it. */
export const ErasedAddress = defineEntity({
  name: 'ErasedAddress',
  tableName: 'erased_addresses',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    subject: p.text().primary(),
    suppressed: p.boolean(),
    createdAt: baseColumns.createdAt,
  },
});
