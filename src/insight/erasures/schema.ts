import * as v from 'valibot';
import { ContactBody } from '../../contacts/schema.ts';
import { CursorParameter } from '../../lib/pages.ts';
import { field, Instant, Integer, limitParameter, nameSchemas, Uuid } from '../../lib/validation/fields.ts';

/** `POST /contacts/{id}/erase`. */
export const EraseContact = v.object({
  reference: field(
    'Your reason, for your own records, such as a ticket number; up to 200 characters. It is stored and signed, so leave personal data out.',
    v.nullish(v.pipe(v.string(), v.trim(), v.maxLength(200))),
  ),
  keepSuppressed: field(
    'Whether requests are refused to store the address or send to it again. Imports never bring it back either way.',
    v.optional(v.boolean(), true),
  ),
});
export type EraseContact = v.InferOutput<typeof EraseContact>;

/** `POST /erasures/{id}/lift`. */
export const LiftSuppression = v.object({
  reason: field(
    'Reason for the audit log, such as when the owner asked for emails again; 1 to 500 characters. Leave personal data out.',
    v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), v.maxLength(500)),
  ),
});
export type LiftSuppression = v.InferOutput<typeof LiftSuppression>;

/** `GET /erasures`. */
export const ListErasures = v.object({ limit: limitParameter(20, 100), cursor: CursorParameter });
export type ListErasures = v.InferOutput<typeof ListErasures>;

const ErasureStep = v.object({
  system: field(
    'System that was erased from: Postgres, the mail sandbox, the mail provider, backups or Temporal.',
    v.string(),
  ),
  what: field('What was emptied or deleted, or is waited for.', v.string()),
  rows: field('Number of rows or messages; null where they cannot be counted.', v.nullable(Integer)),
  state: field(
    '`running`, `done`, or `waiting` while another system still keeps the data, until the time in `until`.',
    v.picklist(['running', 'done', 'waiting']),
  ),
  at: field('When the step was done; null before.', v.nullable(Instant)),
  until: field('When the other system deletes the data; null if nothing is waited for.', v.nullable(Instant)),
});
export type ErasureStepBody = v.InferOutput<typeof ErasureStep>;

const ChangedLedger = v.object({
  campaignId: field('ID of the campaign.', Uuid),
  sendSeq: field('Number of the send of the campaign, counting from 1.', Integer),
  hashBefore: field('SHA-256 of the ledger’s CSV file before the erasure, in hex.', v.string()),
  hashAfter: field('SHA-256 of the ledger’s CSV file after the erasure, in hex.', v.string()),
});

const ErasureMention = v.object({
  type: field('What names the address, such as a template, a campaign or another contact.', v.string()),
  count: field('Number of items of this type that name the address.', Integer),
  ids: field('IDs of these items; up to 20.', v.array(v.string())),
});

const Certificate = v.object({
  json: field('Signed text. Verify it as it is, byte for byte.', v.string()),
  signature: field('Ed25519 signature of the text, in base64.', v.string()),
  publicKey: field(
    'Public key that verifies the signature, as PEM. It is the same for all erasures of the project.',
    v.string(),
  ),
});

/** An erasure and its certificate. */
export const ErasureBody = v.object({
  id: field('ID of the erasure.', Uuid),
  contactId: field('ID that the erased contact had.', Uuid),
  subject: field('HMAC-SHA-256 of the address, with a key of the project.', v.string()),
  reference: field('Reference given in the request; null if there was none.', v.nullable(v.string())),
  keepSuppressed: field('Whether the request asked to refuse the address from now on.', v.boolean()),
  suppressed: field('Whether the address is refused now. An owner can lift that.', v.boolean()),
  status: field(
    '`RUNNING`, `WAITING` while another system still keeps data although nothing is left here, or `DONE` once the certificate is final.',
    v.picklist(['RUNNING', 'WAITING', 'DONE']),
  ),
  requestedAt: field('When the erasure was requested.', Instant),
  erasedAt: field('When nothing was left here; null before.', v.nullable(Instant)),
  steps: field('What was erased, system by system.', v.array(ErasureStep)),
  ledgersChanged: field('Final ledgers of campaigns whose hash the erasure changed.', v.array(ChangedLedger)),
  mentions: field(
    'Content and other contacts’ data that names the address. It was not changed: edit it yourself.',
    v.array(ErasureMention),
  ),
  certificate: field('Signed record of the erasure; null until nothing is left here.', v.nullable(Certificate)),
});
export type ErasureBody = v.InferOutput<typeof ErasureBody>;

/** A page of erasures, the latest first. */
export const ErasurePage = v.object({
  data: field('Erasures on this page, newest first.', v.array(ErasureBody)),
  cursor: field('Pass it as `cursor` to get the next page; null on the last page.', v.nullable(v.string())),
});

/** `GET /erasures/{id}/verify`. */
export const ErasureVerification = v.object({
  valid: field('Whether the certificate was signed with the project’s key, and nothing is left.', v.boolean()),
  signed: field('Whether the signature matches the text.', v.boolean()),
  keyOfProject: field('Whether the key is the project’s key.', v.boolean()),
  left: field(
    'What is found now under the ID of the contact; empty if nothing is.',
    v.array(
      v.object({
        what: field('What was found.', v.string()),
        rows: field('Number of rows found.', Integer),
      }),
    ),
  ),
});
export type ErasureVerification = v.InferOutput<typeof ErasureVerification>;

const Items = (what: string) => field(what, v.array(v.record(v.string(), v.unknown())));

/** `GET /contacts/{id}/export`. */
export const ContactExport = v.object({
  format: field('Format of the file: `fernpost-contact/1`.', v.literal('fernpost-contact/1')),
  exportedAt: field('When the file was created.', Instant),
  contact: field('The contact.', ContactBody),
  segments: Items('Static segments the contact was added to, and dynamic segments it has entered.'),
  emails: Items('Emails to and from the contact, with tags and stored content.'),
  events: Items('Events of the contact and of its emails.'),
  history: Items('Changes of the contact, with their causes.'),
  workflowExecutions: Items('Workflow executions, with their steps.'),
  imports: Items('Imports and bulk jobs that changed the contact.'),
});

nameSchemas({ ContactExport, Erasure: ErasureBody, ErasurePage, ErasureVerification });
