import { parse } from 'tldts';
import * as v from 'valibot';
import { nameSchemas } from '../../core/lib/named-schemas.ts';
import { coded } from '../../core/lib/validation.ts';

/** States of the check of a domain. */
export const domainStatuses = ['NotStarted', 'Pending', 'Success', 'Failed', 'TemporaryFailure'] as const;
export type DomainStatus = (typeof domainStatuses)[number];

/** A DNS record to set (contract page 3, 3.2). Only DKIM decides whether a domain is verified. */
export const DnsRecord = v.object({
  purpose: v.picklist(['DKIM', 'RETURN_PATH', 'SPF', 'DMARC', 'INBOUND_MX']),
  type: v.picklist(['TXT', 'CNAME', 'MX']),
  name: v.string(),
  value: v.string(),
  priority: v.nullable(v.number()),
  required: v.boolean(),
  status: v.picklist(['pending', 'verified', 'failed']),
  /** What the last check of the DNS found, for people; null when the record is right or was not checked. */
  finding: v.nullable(v.string()),
});
export type DnsRecord = v.InferOutput<typeof DnsRecord>;

/** A sender domain in an answer. */
export const DomainBody = v.object({
  id: v.pipe(v.string(), v.uuid()),
  domain: v.string(),
  verified: v.boolean(),
  status: v.picklist(domainStatuses),
  dkimTokens: v.array(v.string()),
  records: v.array(DnsRecord),
  projectId: v.pipe(v.string(), v.uuid()),
  project: v.optional(v.object({ name: v.string() })),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  updatedAt: v.pipe(v.string(), v.isoTimestamp()),
});
export type DomainBody = v.InferOutput<typeof DomainBody>;

const DomainName = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.transform((name) => name.replace(/\.$/, '')),
  coded('invalid_string', isDomainName, 'must be a domain such as example.com'),
  coded('invalid_string', (name: string) => parse(name).publicSuffix !== name, 'must not be a public suffix itself'),
);

/** `POST /domains`. */
export const CreateDomain = v.object({
  domain: DomainName,
  projectId: v.optional(v.pipe(v.string(), v.uuid('must be a UUID'))),
});
export type CreateDomain = v.InferOutput<typeof CreateDomain>;

/** The answer of a check. */
export const DomainCheck = v.object({
  ...v.pick(DomainBody, ['domain', 'status', 'verified', 'records']).entries,
  tokens: v.array(v.string()),
});
export type DomainCheck = v.InferOutput<typeof DomainCheck>;

function isDomainName(name: string): boolean {
  return (
    name.length >= 3 &&
    name.length <= 253 &&
    /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)
  );
}

nameSchemas({ Domain: DomainBody, DomainCheck, DnsRecord });
