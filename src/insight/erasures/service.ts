import { LockMode } from '@mikro-orm/core';
import { ensureErasureKey, findErasureKey } from '../../contacts/erased.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { clampLimit, decodeId, pageOf } from '../../lib/pages.ts';
import { seal } from '../../lib/seal.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { lockProject } from '../../projects/queries.ts';
import { enqueue, type OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, sql } from '../../store/sql.ts';
import { changedLedgers, erasureSteps, isSigned } from './certificate.ts';
import { ErasedAddress, Erasure } from './entity.ts';
import { subjectOf } from './export.ts';
import type { EraseContact, ErasureBody, ErasureVerification, LiftSuppression, ListErasures } from './schema.ts';
import { added, findErasure, startOfErasure } from './work.ts';

/** An erasure that was asked for, and the ticket that starts it after the commit; null when it had been asked for before. */
export interface RequestedErasure {
  erasure: ErasureBody;
  ticket: OutboxTicket | null;
}

/**
 * Begins to erase a contact: from the commit on its address is known by its hash, and refused. Asking again answers the same erasure,
 * and keeps another `reference` in the audit log.
 * @throws 404 CONTACT_NOT_FOUND
 */
export function requestErasure(
  db: Database,
  projectId: string,
  contactId: string,
  { reference, keepSuppressed }: EraseContact,
  encryptionKeys: readonly string[],
): Promise<RequestedErasure> {
  return db.transaction(async (tx) => {
    // The key's row is the project's: requests to erase wait for each other.
    const key = await ensureErasureKey(tx, projectId, encryptionKeys);
    await lockProject(tx, projectId);
    const earlier = await tx.em.findOne(Erasure, { projectId, contactId });
    if (earlier !== null) {
      // Whoever asks again has a request of their own to prove; the first one's is in the certificate.
      if (reference && reference !== earlier.reference)
        await recordChange(tx, projectId, {
          action: 'contact.erasure_repeated',
          target: contactId,
          after: { erasureId: earlier.id, reference },
        });
      return { erasure: await bodyOf(tx, earlier), ticket: null };
    }
    const emails = await addressesOfContact(tx, projectId, contactId);
    const [current] = emails;
    if (current === undefined) throw notFound('contact', contactId);
    const id = newId();
    const erasure = tx.em.create(Erasure, {
      id,
      projectId,
      contactId,
      subject: key.subjectOf(current),
      reference: reference || null,
      keepSuppressed,
      phase: 'SETTLING',
      counts: {},
      ledgers: [],
      mentions: [],
      createdAt: new Date(),
      addressesSealed: seal(JSON.stringify(emails), encryptionKeys[0] ?? ''),
    });
    const addresses = emails.map((email) => ({ projectId, subject: key.subjectOf(email), suppressed: keepSuppressed }));
    await tx.em.upsertMany(ErasedAddress, addresses, { onConflictMergeFields: ['suppressed'] });
    const ticket = await enqueue(tx, startOfErasure(id, projectId));
    const after = { erasureId: id, reference: reference || null, keepSuppressed };
    await recordChange(tx, projectId, { action: 'contact.erased', target: contactId, after });
    return { erasure: erasureBody(erasure, keepSuppressed), ticket };
  });
}

// The address it has comes first. One that it had before counts too, unless it is another contact's now. A contact that can be restored
// can be erased as well.
async function addressesOfContact(tx: Database, projectId: string, contactId: string): Promise<string[]> {
  const rows = await tx.rows<{ email: string }>(sql`
    with own as (
      select email from contacts where project_id = ${projectId} and id = ${contactId}
      union all select email from contacts_trash where project_id = ${projectId} and id = ${contactId}),
    former as (
      select to_address as email from emails where contact_id = ${contactId} and project_id = ${projectId} and source_type <> 'INBOUND'
      union select email_before from contact_history where contact_id = ${contactId} and project_id = ${projectId}
      union select email_before from contact_changes where contact_id = ${contactId} and project_id = ${projectId})
    select email from own
    union all
    select email from former f where exists (select from own) and email is not null and email not in (select email from own)
      and not exists (select from contacts c where c.project_id = ${projectId} and c.email = f.email)`);
  return rows.map(({ email }) => email);
}

/** An erasure of the project. @throws 404 */
export async function getErasure(db: Database, projectId: string, id: string): Promise<ErasureBody> {
  return bodyOf(db, await load(db, projectId, id));
}

/**
 * Lets requests store the address of an erased contact again and send to it, as an owner of the project decides.
 * Imports go on refusing it. Safe to repeat.
 * @throws 404; 409 while the erasure runs
 */
export function liftSuppression(
  db: Database,
  projectId: string,
  id: string,
  { reason }: LiftSuppression,
): Promise<ErasureBody> {
  return db.transaction(async (tx) => {
    const erasure = await load(tx, projectId, id);
    if (!erasure.erasedAt)
      throw conflict('The erasure is not finished: lift the suppression once it is', { status: 'RUNNING' });
    const suppressed = { projectId, subject: erasure.subject, suppressed: true };
    const lifted = await tx.em.nativeUpdate(ErasedAddress, suppressed, { suppressed: false });
    if (lifted > 0)
      await recordChange(tx, projectId, { action: 'erasure.suppression_lifted', target: id, after: { reason } });
    return bodyOf(tx, erasure);
  });
}

async function load(db: Database, projectId: string, id: string): Promise<Erasure> {
  const erasure = await db.em.findOne(Erasure, { projectId, id });
  if (erasure === null) throw notFound('erasure', id);
  return erasure;
}

/** The erasures of a project, the latest first. @throws 400 for a cursor of another list */
export async function listErasures(db: Database, projectId: string, query: ListErasures) {
  const limit = clampLimit(query.limit, 20, 100);
  const after = query.cursor === undefined ? null : decodeId(query.cursor);
  const rows = await db.em.find(
    Erasure,
    { projectId, ...(after === null ? {} : { id: { $lt: after } }) },
    { orderBy: { id: 'desc' }, limit: limit + 1 },
  );
  const { page, cursor } = pageOf(rows, limit, (last) => [last.id]);
  const suppressed = await suppressedSubjects(db, projectId, page);
  return { data: page.map((row) => erasureBody(row, suppressed.has(row.subject))), cursor };
}

async function bodyOf(db: Database, row: Erasure): Promise<ErasureBody> {
  const suppressed = await suppressedSubjects(db, row.projectId, [row]);
  return erasureBody(row, suppressed.has(row.subject));
}

async function suppressedSubjects(db: Database, projectId: string, rows: readonly Erasure[]): Promise<Set<string>> {
  const subject = { $in: rows.map(({ subject }) => subject) };
  const found = await db.em.find(ErasedAddress, { projectId, subject, suppressed: true }, { disableIdentityMap: true });
  return new Set(found.map(({ subject }) => subject));
}

function erasureBody(row: Erasure, suppressed: boolean): ErasureBody {
  const { certificate, signature, publicKey } = row;
  const signed = !certificate ? null : (JSON.parse(certificate) as Pick<ErasureBody, 'steps'>);
  return {
    id: row.id,
    contactId: row.contactId,
    subject: row.subject,
    reference: row.reference ?? null,
    keepSuppressed: row.keepSuppressed,
    suppressed,
    status: row.phase === 'DONE' ? 'DONE' : row.erasedAt ? 'WAITING' : 'RUNNING',
    requestedAt: row.createdAt.toISOString(),
    erasedAt: row.erasedAt?.toISOString() ?? null,
    steps: signed?.steps ?? erasureSteps(row, null, null, new Date()),
    ledgersChanged: changedLedgers(row),
    mentions: row.mentions,
    certificate: certificate && signature && publicKey ? { json: certificate, signature, publicKey } : null,
  };
}

/** Counts the rows that are left under the ID of a contact, by their kind. */
async function remains(db: Database, contactId: string): Promise<ErasureVerification['left']> {
  const row = await db.row<Record<string, number>>(sql`
    select (select count(*) from contacts where id = c.id)::int as contact,
      (select count(*) from contacts_trash where id = c.id)::int as trash,
      (select count(*) from emails where contact_id = c.id
        and (coalesce(to_name, nullif(subject, '(erased)'), render::text, headers::text, attachments::text) is not null or body <> ''
          or reason ? 'words' or source_type <> 'INBOUND' and to_address not like 'erased-%@erased.invalid'))::int as "mail with content",
      (select count(*) from events where contact_id = c.id and data is not null)::int as "events with data",
      (select count(*) from contact_history where contact_id = c.id)::int as history,
      (select count(*) from automation_runs where contact_id = c.id)::int as executions,
      (select count(*) from segment_memberships where contact_id = c.id)::int as memberships
    from (values (${contactId}::uuid)) c (id)`);
  return Object.entries(row ?? {}).flatMap(([what, rows]) => (rows > 0 ? [{ what, rows }] : []));
}

/** Whether a certificate is genuine, and whether anything is left of the contact now. @throws 404 */
export async function verifyErasure(
  db: Database,
  projectId: string,
  id: string,
  encryptionKeys: readonly string[],
): Promise<ErasureVerification> {
  const erasure = await load(db, projectId, id);
  const key = await findErasureKey(db, projectId, encryptionKeys);
  const signed = isSigned(erasure);
  const keyOfProject = key !== null && key.publicKey === erasure.publicKey;
  const left = await remains(db, erasure.contactId);
  return { valid: signed && keyOfProject && left.length === 0, signed, keyOfProject, left };
}

/** The addresses that an erasure looks for; none once its certificate was issued. */
export async function addressesOf(
  db: Database,
  erasureId: string,
  encryptionKeys: readonly string[],
): Promise<string[]> {
  const erasure = await findErasure(db, erasureId);
  return erasure === null ? [] : [...subjectOf(erasure, encryptionKeys).addresses];
}

/** Notes how many messages the provider has deleted; a repetition, which finds none, leaves the number. */
export async function noteProvider(db: Database, erasureId: string, messages: number): Promise<void> {
  await db.transaction(async (tx) => {
    const open = { id: erasureId, finishedAt: null };
    const erasure = await tx.em.findOne(Erasure, open, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (erasure !== null) erasure.counts = added(erasure.counts, { sandbox: messages });
  });
}
