import { nameSchemas } from '@fernpost/openapi/names';
import { coded, Instant, Uuid } from '@fernpost/validation';
import { parse } from 'tldts';
import * as v from 'valibot';

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
  id: Uuid,
  domain: v.string(),
  verified: v.boolean(),
  approved: v.pipe(
    v.boolean(),
    v.description('Whether it may send once it is verified; false while it waits for the operator of the service.'),
  ),
  status: v.picklist(domainStatuses),
  dkimTokens: v.array(v.string()),
  records: v.array(DnsRecord),
  projectId: Uuid,
  project: v.optional(v.object({ name: v.string() })),
  createdAt: Instant,
  updatedAt: Instant,
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
  projectId: v.optional(Uuid),
});
export type CreateDomain = v.InferOutput<typeof CreateDomain>;

/** The answer of a check. */
export const DomainCheck = v.object({
  ...v.pick(DomainBody, ['domain', 'status', 'verified', 'records']).entries,
  tokens: v.array(v.string()),
});
export type DomainCheck = v.InferOutput<typeof DomainCheck>;

/** What the DMARC record of a domain does. */
export const DmarcCheck = v.object({
  state: v.pipe(
    v.picklist(['found', 'missing', 'unanswered', 'skipped']),
    v.description('`unanswered` while name servers fail, `skipped` with the mail sandbox, which asks no DNS.'),
  ),
  name: v.pipe(v.string(), v.description('Where the record stands, or belongs.')),
  record: v.pipe(v.nullable(v.string()), v.description('As the DNS has it now.')),
  inheritedFrom: v.pipe(v.nullable(v.string()), v.description('The domain above whose record counts.')),
  policy: v.pipe(
    v.nullable(v.picklist(['none', 'quarantine', 'reject'])),
    v.description('What counts for this domain.'),
  ),
  advice: v.pipe(
    v.array(
      v.object({
        code: v.pipe(v.string(), v.description('Such as `MISSING`, `NONE` or `NO_REPORTS`.')),
        level: v.pipe(v.picklist(['bad', 'warn', 'info', 'good']), v.description('How urgent it is.')),
        text: v.pipe(v.string(), v.description('What is so, and what to do.')),
        value: v.pipe(v.nullable(v.string()), v.description('The whole record with the change, to copy.')),
      }),
    ),
    v.description('The most urgent first.'),
  ),
});
export type DmarcCheck = v.InferOutput<typeof DmarcCheck>;

function isDomainName(name: string): boolean {
  return (
    name.length >= 3 &&
    name.length <= 253 &&
    /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)
  );
}

nameSchemas({ Domain: DomainBody, DomainCheck, DmarcCheck, DnsRecord });
