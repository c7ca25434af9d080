import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, limitParameter, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { ContactBody } from '../../audience/contacts/index.ts';
import { CursorParameter } from '../../core/lib/cursor.ts';

/** `POST /contacts/{id}/erase`. */
export const EraseContact = v.object({
  reference: v.pipe(
    v.nullish(v.pipe(v.string(), v.trim(), v.maxLength(200))),
    v.description(
      'Why, for your own records, such as a ticket number. It is kept and signed, so leave personal data out.',
    ),
  ),
  keepSuppressed: v.pipe(
    v.optional(v.boolean(), true),
    v.description(
      'Whether requests may never store the address or send to it again. Imports never bring it back either way.',
    ),
  ),
});
export type EraseContact = v.InferOutput<typeof EraseContact>;

/** `POST /erasures/{id}/lift`. */
export const LiftSuppression = v.object({
  reason: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(500),
    v.description('Why, for the audit log, such as when its owner asked for email again. Leave personal data out.'),
  ),
});
export type LiftSuppression = v.InferOutput<typeof LiftSuppression>;

/** `GET /erasures`. */
export const ListErasures = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListErasures = v.InferOutput<typeof ListErasures>;

const ErasureStep = v.object({
  system: v.pipe(
    v.string(),
    v.description('Where: Postgres, the mail sandbox, the mail provider, backups or Temporal.'),
  ),
  what: v.pipe(v.string(), v.description('What was emptied, deleted or is waited for.')),
  rows: v.pipe(v.nullable(v.number()), v.description('How many rows or messages; null where they can’t be counted.')),
  state: v.pipe(
    v.picklist(['running', 'done', 'waiting']),
    v.description('`waiting`: another system still keeps it, until the instant in `until`.'),
  ),
  at: v.pipe(v.nullable(Instant), v.description('When it was done.')),
  until: v.pipe(v.nullable(Instant), v.description('Until when it is waited for.')),
});
export type ErasureStepBody = v.InferOutput<typeof ErasureStep>;

const ChangedLedger = v.object({
  campaignId: Uuid,
  sendSeq: v.pipe(v.number(), v.description('Counts the sends of the campaign.')),
  hashBefore: v.pipe(v.string(), v.description('SHA-256 of the CSV file of the ledger before the erasure, in hex.')),
  hashAfter: v.pipe(v.string(), v.description('The same afterwards.')),
});

const ErasureMention = v.object({
  type: v.pipe(v.string(), v.description('What names the address: a template, a campaign, another contact and so on.')),
  count: v.pipe(v.number(), v.description('How many of them.')),
  ids: v.pipe(v.array(v.string()), v.description('Their IDs, 20 at most.')),
});

const Certificate = v.object({
  json: v.pipe(v.string(), v.description('The text that was signed. Verify it as it is, byte for byte.')),
  signature: v.pipe(v.string(), v.description('Ed25519 signature of the text, in base64.')),
  publicKey: v.pipe(
    v.string(),
    v.description('What verifies it: PEM. It is the same for every erasure of the project.'),
  ),
});

/** An erasure and its certificate. */
export const ErasureBody = v.object({
  id: Uuid,
  contactId: Uuid,
  subject: v.pipe(v.string(), v.description('HMAC-SHA-256 of the address, by a key of the project.')),
  reference: v.pipe(v.nullable(v.string()), v.description('The reference of the request.')),
  keepSuppressed: v.pipe(v.boolean(), v.description('Whether requests were to refuse the address.')),
  suppressed: v.pipe(v.boolean(), v.description('Whether they refuse it now: an owner may have lifted that.')),
  status: v.pipe(
    v.picklist(['RUNNING', 'WAITING', 'DONE']),
    v.description(
      '`WAITING`: nothing is left here, but another system still keeps something. `DONE`: the certificate is final.',
    ),
  ),
  requestedAt: v.pipe(Instant, v.description('When it was asked for.')),
  erasedAt: v.pipe(v.nullable(Instant), v.description('When nothing was left here.')),
  steps: v.array(ErasureStep),
  ledgersChanged: v.pipe(
    v.array(ChangedLedger),
    v.description('Final ledgers of campaigns whose hash the erasure changed.'),
  ),
  mentions: v.pipe(
    v.array(ErasureMention),
    v.description(
      'What members wrote, and data of other contacts, that names the address. It was not changed: edit it yourself.',
    ),
  ),
  certificate: v.pipe(v.nullable(Certificate), v.description('Null until nothing is left here.')),
});
export type ErasureBody = v.InferOutput<typeof ErasureBody>;

/** A page of erasures, the latest first. */
export const ErasurePage = v.object({ data: v.array(ErasureBody), cursor: v.nullable(v.string()) });

/** `GET /erasures/{id}/verify`. */
export const ErasureVerification = v.object({
  valid: v.pipe(
    v.boolean(),
    v.description('The certificate is what was signed, by the key of the project, and nothing is left.'),
  ),
  signed: v.pipe(v.boolean(), v.description('The signature belongs to the text.')),
  keyOfProject: v.pipe(v.boolean(), v.description('The key is that of the project.')),
  left: v.pipe(
    v.array(
      v.object({
        what: v.pipe(v.string(), v.description('What it is.')),
        rows: v.pipe(v.number(), v.description('How many rows.')),
      }),
    ),
    v.description('What is found now under the ID of the contact; empty when nothing is.'),
  ),
});
export type ErasureVerification = v.InferOutput<typeof ErasureVerification>;

const Items = (what: string) => v.pipe(v.array(v.record(v.string(), v.unknown())), v.description(what));

/** `GET /contacts/{id}/export`. */
export const ContactExport = v.object({
  format: v.literal('fernpost-contact/1'),
  exportedAt: v.pipe(Instant, v.description('When the file was made.')),
  contact: ContactBody,
  segments: Items('Segments it was added to, or has entered.'),
  emails: Items('Mail to it and from it, with tags and what is stored of the content.'),
  events: Items('What it did, and what became of its mail.'),
  history: Items('Changes of the contact with their causes.'),
  workflowExecutions: Items('Executions of workflows with their steps.'),
  imports: Items('Imports and bulk changes that changed it.'),
});

nameSchemas({ ContactExport, Erasure: ErasureBody, ErasurePage, ErasureVerification });
