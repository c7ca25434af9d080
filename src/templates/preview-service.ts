import { getContact } from '../contacts/service.ts';
import type { Config } from '../lib/config/config.ts';
import type { JsonObjectValue } from '../lib/contact-data.ts';
import type { ProjectFacts } from '../projects/directory.ts';
import type { Database } from '../store/sql.ts';
import { contentAsWritten, prepareContent } from './content/prepare.ts';
import type { PreviewBody, PreviewTemplate } from './schema.ts';
import { checkSources, withinLimits } from './service.ts';

// The recipient of a preview that names no contact. Links of such a preview belong to no contact.
const nobody = {
  id: '00000000-0000-0000-0000-000000000000',
  email: 'recipient@example.com',
  subscribed: true,
  data: {},
};

/**
 * Renders content that need not be saved, for one contact of the project, with the values of a request's `data`, or both;
 * with neither, as it is written. Nothing is sent or stored.
 * @throws 400 with field, line and column for content that does not parse; 404 CONTACT_NOT_FOUND
 */
export async function previewTemplate(
  db: Database,
  config: Pick<Config, 'DASHBOARD_URI' | 'API_URI' | 'LINK_SECRET'>,
  project: ProjectFacts,
  { subject, body, type, contactId, data }: PreviewTemplate,
): Promise<PreviewBody> {
  checkSources({ subject, body });
  const requestData = data ?? null;
  const isForContact = contactId !== undefined && contactId !== null;
  if (!isForContact && requestData === null) return withinLimits(() => contentAsWritten({ subject, body }));
  const contact = isForContact ? await getContact(db, project.id, contactId) : nobody;
  const { name, language, escapeContactData } = project;
  const prepared = prepareContent(
    { subject, body, messageClass: type, projectName: name, language, escapeContactData, findsSimilarFields: true },
    { pagesUrl: config.DASHBOARD_URI, apiUrl: config.API_URI, secret: config.LINK_SECRET },
  );
  const rendered = withinLimits(() =>
    prepared.renderFor({
      emailId: null,
      contact: { ...contact, data: contact.data as JsonObjectValue },
      requestData,
      isCampaign: true,
    }),
  );
  return { subject: rendered.subject, html: rendered.html, text: rendered.text };
}
