import type { Mailer, OutgoingMessage } from '@fernpost/mail-providers';
import { contentAsWritten, prepareContent } from '@fernpost/message-content';
import {
  checkSender,
  findTemplate,
  type SenderDomains,
  type TemplateRow,
  withinLimits,
} from '../../content/templates/index.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { AppError, forbidden, notFound } from '../../core/lib/errors.ts';
import { newId } from '../../core/lib/ids.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { ProjectFacts } from '../../platform/projects/index.ts';
import type { ComposerSettings } from '../engine/index.ts';
import { systemProjectId } from '../providers/index.ts';
import { load } from './service.ts';

/** What a test is sent with. */
export interface TestDeps {
  db: Database;
  mailer: Mailer;
  config: Pick<ComposerSettings, 'DASHBOARD_URI' | 'API_URI' | 'LINK_SECRET'>;
  senderDomains: SenderDomains;
}

/** `sendTest` with a campaign. @throws 404 CAMPAIGN_NOT_FOUND, and as `sendTest` */
export async function sendCampaignTest(deps: TestDeps, project: ProjectFacts, id: string, address: string) {
  const campaign = await load(deps.db, project.id, id);
  const { fromName = null, replyTo = null } = campaign;
  await sendTest(deps, project, { ...campaign, fromName, replyTo }, address);
}

/** `sendTest` with a template. @throws 404 TEMPLATE_NOT_FOUND, and as `sendTest` */
export async function sendTemplateTest(deps: TestDeps, project: ProjectFacts, id: string, address: string) {
  const template = await findTemplate(deps.db, project.id, id);
  if (template === null) throw notFound('template', id);
  await sendTest(deps, project, template, address);
}

type Content = Omit<TemplateRow, 'id'>;

/**
 * Hands a message to one member of the project, at once: `[TEST]` before its subject, without footer, tracking
 * and List-Unsubscribe, and without a row, an event or a count (contract page 2, 2.5). It is filled in for the contact of
 * that address; without one it goes out as it is written.
 * @throws 403 for an address that is no member's and for the domain; 500 EXTERNAL_SERVICE_ERROR when the provider
 * does not take it
 */
async function sendTest(deps: TestDeps, project: ProjectFacts, content: Content, address: string): Promise<void> {
  const member = await deps.db.row(sql`
    select 1 as found from memberships m join users u on u.id = m.user_id
    where m.project_id = ${project.id} and lower(u.email) = ${address}`);
  if (member === null)
    throw forbidden(
      'A test can only be sent to a member of the project',
      { email: address },
      'Members are listed by GET /projects/{id}/members; the dashboard adds them.',
    );
  await checkSender(deps.senderDomains, project.id, content.from);
  const message = await testMessage(deps, project, content, address);
  const [verdict] = await deps.mailer.send(`test-${message.emailId}`, [message]);
  if (verdict?.kind === 'accepted') return;
  throw new AppError(
    500,
    'EXTERNAL_SERVICE_ERROR',
    `The mail provider did not take the test: ${verdict?.reason ?? 'it gave no answer'}`,
    { suggestion: 'Try again; if the provider refuses it for good, its reason says what to change.' },
  );
}

async function testMessage(
  { db, config }: TestDeps,
  project: ProjectFacts,
  content: Content,
  address: string,
): Promise<OutgoingMessage> {
  const { subject, html, text } = await contentFor(db, config, project, content, address);
  return {
    emailId: newId(),
    // There is no row that reports about it could change.
    projectId: systemProjectId,
    from: { address: content.from, name: content.fromName ?? project.name },
    to: { address, name: null },
    replyTo: content.replyTo ?? null,
    subject: `[TEST] ${subject}`,
    html,
    text,
    headers: [{ name: 'X-Fernpost-Test', value: 'true' }],
    attachments: [],
    tag: 'TEST',
    stream: 'transactional',
    tracking: false,
  };
}

async function contentFor(
  db: Database,
  config: TestDeps['config'],
  project: ProjectFacts,
  content: Content,
  address: string,
) {
  const contact = await db.row<{ id: string; email: string; subscribed: boolean; data: JsonObjectValue }>(sql`
    select id, email, subscribed, data from contacts where project_id = ${project.id} and email = ${address}`);
  if (contact === null) return withinLimits(() => contentAsWritten(content));
  const prepared = prepareContent(
    {
      subject: content.subject,
      body: content.body,
      messageClass: content.type,
      projectName: project.name,
      language: project.language,
      escapeContactData: project.escapeContactData,
      isTest: true,
    },
    { pagesUrl: config.DASHBOARD_URI, apiUrl: config.API_URI, secret: config.LINK_SECRET },
  );
  return withinLimits(() => prepared.renderFor({ emailId: null, contact, isCampaign: true }));
}
