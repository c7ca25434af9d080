import { createHash } from 'node:crypto';
import type { OutgoingMessage } from '../../src/domains/providers/mailer.ts';
import { newId } from '../../src/lib/ids.ts';
import { acceptMail, type ClaimedMail, type NewMail } from '../../src/mail/ledger/queries.ts';
import type { QueueDeps } from '../../src/mail/queue/queue-claim.ts';
import type { Database } from '../../src/store/sql.ts';
import type { FakeMailer } from './mailer.ts';

/** What a test project is made of; everything has a value that fits most tests. */
export interface ProjectChanges {
  name?: string;
  sendRate?: number | null;
  disabled?: boolean;
  tracking?: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';
  /** A domain of the project, verified; null for none. `birdwatch-<start of the id>.test` when absent. */
  domain?: string | null;
}

/** A project as a test uses it. */
export interface TestProject {
  id: string;
  /** An address below the project's domain. */
  sender: string;
}

/** Inserts a project with a verified sender domain. */
export async function aProject(sql: Database, changes: ProjectChanges = {}): Promise<TestProject> {
  const id = newId();
  const hash = (kind: string) => createHash('sha256').update(`${kind}${id}`).digest();
  await sql.count(
    `insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed, send_rate, disabled, tracking)
     values ($1, $2, $3, $4, '', '', $5, $6, $7)`,
    [
      id,
      changes.name ?? 'Birdwatch',
      hash('public'),
      hash('secret'),
      changes.sendRate ?? null,
      changes.disabled ?? false,
      changes.tracking ?? 'ENABLED',
    ],
  );
  const domain = changes.domain === undefined ? `birdwatch-${id.slice(-12)}.test` : changes.domain;
  if (domain !== null)
    await sql.count(
      `insert into domains (id, project_id, domain, verified, status) values ($1, $2, $3, true, 'Success')`,
      [newId(), id, domain],
    );
  return { id, sender: `hello@${domain ?? 'nowhere.test'}` };
}

/** Inserts a contact and answers its id. */
export async function aContact(
  sql: Database,
  projectId: string,
  email: string,
  changes: { subscribed?: boolean; data?: object } = {},
): Promise<string> {
  const id = newId();
  const subscribed = changes.subscribed ?? true;
  await sql.count(`insert into contacts (id, project_id, email, subscribed, data) values ($1, $2, $3, $4, $5)`, [
    id,
    projectId,
    email,
    subscribed,
    JSON.stringify(changes.data ?? {}),
  ]);
  return id;
}

/** Queues mail to a contact as an automation or the service itself would; answers its id. */
export async function queueMail(
  sql: Database,
  project: TestProject,
  contactId: string,
  toAddress: string,
  changes: Partial<NewMail> = {},
): Promise<string> {
  const id = changes.id ?? newId();
  await acceptMail(sql, [{ ...aMail(project, contactId, toAddress), ...changes, id }]);
  return id;
}

/** A mail with every field set. */
export function aMail(project: TestProject, contactId: string, toAddress: string): NewMail {
  return {
    id: newId(),
    projectId: project.id,
    contactId,
    toAddress,
    toName: null,
    from: project.sender,
    fromName: 'Birdwatch',
    replyTo: null,
    content: { subject: `A heron for ${toAddress}`, body: '<p>Look up.</p>' },
    headers: null,
    attachments: null,
    sourceType: 'TRANSACTIONAL',
    messageClass: 'TRANSACTIONAL',
    templateId: null,
    workflowExecutionId: null,
    workflowStepExecutionId: null,
    tracking: null,
  };
}

/** Queues so many mails to as many new contacts; answers their addresses. */
export async function queueMany(
  sql: Database,
  project: TestProject,
  count: number,
  changes: Partial<NewMail> = {},
): Promise<string[]> {
  const round = newId().slice(-8);
  const addresses = Array.from({ length: count }, (_, n) => `reader-${n}-${round}@example.com`);
  const rows = await sql.rows<{ id: string; email: string }>(
    `insert into contacts (id, project_id, email, subscribed)
     select id, $1, email, true from unnest($2::uuid[], $3::text[]) as c (id, email) returning id, email`,
    [project.id, addresses.map(() => newId()), addresses],
  );
  await acceptMail(
    sql,
    rows.map(({ id, email }) => ({ ...aMail(project, id, email), ...changes, id: newId() })),
  );
  return addresses;
}

/** The pipeline over a fake provider: no throttle, no indexing lag, and the plainest rendering there can be. */
export function deliveryDeps(db: Database, mailer: FakeMailer, changes: Partial<QueueDeps> = {}): QueueDeps {
  const silent = () => undefined;
  return { db, mailer, compose: plainly, log: { info: silent, warn: silent }, rate: 0, lagMs: 0, ...changes };
}

/** A mail's stored texts as they are. */
export function plainly(mail: ClaimedMail): OutgoingMessage {
  return {
    emailId: mail.id,
    projectId: mail.projectId,
    from: { address: mail.from, name: mail.fromName },
    to: { address: mail.toAddress, name: mail.toName },
    replyTo: mail.replyTo,
    subject: mail.subject ?? mail.render?.subject ?? '',
    html: mail.body ?? mail.render?.body ?? '',
    text: null,
    headers: [],
    attachments: [],
    tag: mail.sourceType,
    stream: mail.messageClass === 'MARKETING' ? 'broadcast' : 'transactional',
    tracking: mail.tracking ?? true,
  };
}
