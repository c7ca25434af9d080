import { type BillingSettings, takeUnrecorded } from '../billing/service.ts';
import { Contact } from '../contacts/entity.ts';
import type { Mailer, OutgoingMessage } from '../domains/providers/mailer.ts';
import type { ScopedKey } from '../http/context.ts';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import { AppError, forbidden, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { checkStoredMail } from '../mail/emails/schedule.ts';
import type { ComposerSettings } from '../mail/engine/compose.ts';
import { systemProjectId } from '../mail/providers/journal.ts';
import type { ProjectFacts } from '../projects/directory.ts';
import { type Database, sql } from '../store/sql.ts';
import { contentAsWritten, prepareContent, type RenderedContent } from '../templates/content/prepare.ts';
import { findTemplate, type TemplateRow } from '../templates/queries.ts';
import { checkSender, type SenderDomains, withinLimits } from '../templates/service.ts';
import type { TestCampaign } from './schema.ts';
import { load } from './service.ts';

/** The parts that sending a test needs. */
export interface TestDeps {
  db: Database;
  mailer: Mailer;
  config: ComposerSettings;
  senderDomains: SenderDomains;
  billing: BillingSettings;
  /** The key of the request, where it has scopes and limits. */
  key: ScopedKey | null;
}

/** `sendTest` with a campaign. @throws 404 CAMPAIGN_NOT_FOUND, and as `sendTest` */
export async function sendCampaignTest(deps: TestDeps, project: ProjectFacts, id: string, test: TestCampaign) {
  const campaign = await load(deps.db, project.id, id);
  const { fromName = null, replyTo = null } = campaign;
  await sendTest(deps, project, { ...campaign, fromName, replyTo }, test, 'CAMPAIGN');
}

/** `sendTest` with a template. @throws 404 TEMPLATE_NOT_FOUND, and as `sendTest` */
export async function sendTemplateTest(deps: TestDeps, project: ProjectFacts, id: string, test: TestCampaign) {
  const template = await findTemplate(deps.db, project.id, id);
  if (template === null) throw notFound('template', id);
  await sendTest(deps, project, template, test, 'WORKFLOW');
}

type Content = Omit<TemplateRow, 'id'>;
/** The kind of mail that the content is sent as. */
type Source = 'CAMPAIGN' | 'WORKFLOW';

/**
 * Hands a message to one member of the project or one of its test addresses, at once: `[TEST]` before its subject, without tracking,
 * and without a row, an event or a count (docs/contract/campaigns-and-workflows.md#2-5). It is filled in for `previewContactId`,
 * or for the contact of that address; without one it goes out as it is written. With `asSent` it has the footer, headers and
 * links that recipients get, and is filled in for a contact without data where there is none.
 * @throws 403 for any other address and for the domain; 404 for a `previewContactId` that is none of the project; 402 beyond
 * a daily limit; 500 EXTERNAL_SERVICE_ERROR when the provider does not take it
 */
async function sendTest(
  deps: TestDeps,
  project: ProjectFacts,
  content: Content,
  test: TestCampaign,
  source: Source,
): Promise<void> {
  await checkRecipient(deps.db, project.id, test.email);
  checkStoredMail(deps.key, { from: content.from, to: test.email });
  await checkSender(deps.senderDomains, project.id, content.from);
  const message = await testMessage(deps, project, content, test, source);
  await takeUnrecorded(deps.db, deps.billing, project);
  const [verdict] = await deps.mailer.send(`test-${message.emailId}`, [message]);
  if (verdict?.kind === 'accepted') return;
  throw new AppError(
    500,
    'EXTERNAL_SERVICE_ERROR',
    `The mail provider did not take the test: ${verdict?.reason ?? 'it gave no answer'}`,
    { suggestion: 'Try again; if the provider refuses it for good, its reason says what to change.' },
  );
}

async function checkRecipient(db: Database, projectId: string, email: string): Promise<void> {
  const known = await db.row(sql`
    select 1 as found from projects p where p.id = ${projectId} and (${email} = any (p.test_addresses) or exists (
      select from memberships m join users u on u.id = m.user_id where m.project_id = p.id and lower(u.email) = ${email}))`);
  if (known === null)
    throw forbidden(
      'A test can only be sent to a member of the project or to one of its test addresses',
      { email },
      'Members are listed by GET /projects/{id}/members. An admin adds test addresses in the settings of the project.',
    );
}

async function testMessage(
  { db, config }: TestDeps,
  project: ProjectFacts,
  content: Content,
  test: TestCampaign,
  source: Source,
): Promise<OutgoingMessage> {
  const { subject, html, text, headers = [] } = await contentFor(db, config, project, content, test, source);
  return {
    emailId: newId(),
    // There is no row that reports about it could change.
    projectId: systemProjectId,
    from: { address: content.from, name: content.fromName ?? project.name },
    to: { address: test.email, name: null },
    replyTo: content.replyTo ?? null,
    subject: `[TEST] ${subject}`,
    html,
    text,
    headers: [...headers, { name: 'X-Fernpost-Test', value: 'true' }],
    attachments: [],
    tag: 'TEST',
    stream: test.asSent && content.type !== 'TRANSACTIONAL' ? 'broadcast' : 'transactional',
    tracking: false,
  };
}

// Links of tests act on nobody: whoever presses "Unsubscribe" in a test tries the link, and must not unsubscribe the contact it shows.
const nobody = '00000000-0000-0000-0000-000000000000';

async function contentFor(
  db: Database,
  config: TestDeps['config'],
  project: ProjectFacts,
  content: Content,
  { email, previewContactId, asSent }: TestCampaign,
  source: Source,
): Promise<Pick<RenderedContent, 'subject' | 'html' | 'text'> & { headers?: RenderedContent['headers'] }> {
  const chosen = previewContactId == null ? { email } : { id: previewContactId };
  const found = await db.em.findOne(Contact, { projectId: project.id, ...chosen });
  if (found === null && previewContactId != null) throw notFound('contact', previewContactId);
  if (found === null && !asSent) return withinLimits(() => contentAsWritten(content));
  const contact = {
    ...(found ?? { id: nobody, email, subscribed: true }),
    data: (found?.data ?? {}) as JsonObjectValue,
  };
  const prepared = prepareContent(
    {
      subject: content.subject,
      body: content.body,
      messageClass: content.type,
      projectName: project.name,
      language: project.language,
      escapeContactData: project.escapeContactData,
      findsSimilarFields: true,
      isTest: !asSent,
    },
    { pagesUrl: config.DASHBOARD_URI, apiUrl: config.API_URI, secret: config.LINK_SECRET },
  );
  return withinLimits(() => {
    const { headers, ...filled } = prepared.renderFor({
      emailId: null,
      contact,
      linkContactId: asSent || previewContactId != null ? nobody : contact.id,
      isCampaign: !asSent || source === 'CAMPAIGN',
      ownUnsubscribeHeaders: config.POSTMARK_UNSUBSCRIBES !== 'postmark',
    });
    return asSent ? { ...filled, headers } : filled;
  });
}
