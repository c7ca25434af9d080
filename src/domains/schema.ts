import { parse } from 'tldts';
import * as v from 'valibot';
import { coded, field, Instant, Integer, nameSchemas, Uuid } from '../lib/validation/fields.ts';

/** States of the check of a domain. */
export const domainStatuses = ['NotStarted', 'Pending', 'Success', 'Failed', 'TemporaryFailure'] as const;
export type DomainStatus = (typeof domainStatuses)[number];

/** A DNS record to set (docs/contract/platform.md#3-2). Only DKIM decides whether a domain is verified. */
export const DnsRecord = v.object({
  purpose: field('What the record is for.', v.picklist(['DKIM', 'RETURN_PATH', 'SPF', 'DMARC', 'INBOUND_MX'])),
  type: field('Type of the DNS record.', v.picklist(['TXT', 'CNAME', 'MX'])),
  name: field('Name of the DNS record.', v.string()),
  value: field('Value of the DNS record.', v.string()),
  priority: field('Priority of an `MX` record; null for other types.', v.nullable(Integer)),
  required: field('Whether the domain needs the record to be verified.', v.boolean()),
  status: field('Result of the last check of the record.', v.picklist(['pending', 'verified', 'failed'])),
  finding: field(
    'What the last check found, for people; null when the record is right or was not checked.',
    v.nullable(v.string()),
  ),
});
export type DnsRecord = v.InferOutput<typeof DnsRecord>;

/** A sender domain in an answer. */
export const DomainBody = v.object({
  id: field('ID of the domain.', Uuid),
  domain: field('Name of the domain, in lower case.', v.string()),
  verified: field('Whether the domain is verified.', v.boolean()),
  approved: field(
    'Whether it may send once it is verified; false while it waits for the operator of the service.',
    v.boolean(),
  ),
  status: field('Status of the verification.', v.picklist(domainStatuses)),
  dkimTokens: field('Selectors of the DKIM records.', v.array(v.string())),
  records: field('DNS records to set.', v.array(DnsRecord)),
  projectId: field('ID of the project.', Uuid),
  project: field(
    'The project; only where domains of several projects are listed.',
    v.optional(v.object({ name: field('Name of the project.', v.string()) })),
  ),
  createdAt: field('Time at which the domain was added.', Instant),
  updatedAt: field('Time of the last change of the domain.', Instant),
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
  domain: field('Name of the domain, such as `example.com`; stored in lower case.', DomainName),
  projectId: field('ID of the project; that of the request when absent.', v.optional(Uuid)),
});
export type CreateDomain = v.InferOutput<typeof CreateDomain>;

/** The answer of a check. */
export const DomainCheck = v.object({
  ...v.pick(DomainBody, ['domain', 'status', 'verified', 'records']).entries,
  tokens: field('Selectors of the DKIM records.', v.array(v.string())),
});
export type DomainCheck = v.InferOutput<typeof DomainCheck>;

/** The effect of the DMARC record of a domain. */
export const DmarcCheck = v.object({
  state: field(
    '`unanswered` while name servers fail, `skipped` with the mail sandbox, which asks no DNS.',
    v.picklist(['found', 'missing', 'unanswered', 'skipped']),
  ),
  name: field('Where the record stands, or belongs.', v.string()),
  record: field('As the DNS has it now.', v.nullable(v.string())),
  inheritedFrom: field('The domain above whose record counts.', v.nullable(v.string())),
  policy: field('What counts for this domain.', v.nullable(v.picklist(['none', 'quarantine', 'reject']))),
  advice: field(
    'The most urgent first.',
    v.array(
      v.object({
        code: field('Such as `MISSING`, `NONE` or `NO_REPORTS`.', v.string()),
        level: field('How urgent it is.', v.picklist(['bad', 'warn', 'info', 'good'])),
        text: field('What is so, and what to do.', v.string()),
        value: field('The whole record with the change, to copy.', v.nullable(v.string())),
      }),
    ),
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
