import { getContact } from '../../audience/contacts/index.ts';
import type { Config } from '../../core/config/config.ts';
import type { Sql } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import type { ProjectFacts } from '../../platform/projects/index.ts';
import { contentAsWritten, prepareContent } from '../rendering/index.ts';
import type { PreviewTemplate } from './schema.ts';
import { checkSources, withinLimits } from './service.ts';

/** A message as one recipient would see it. */
export interface Preview {
  subject: string;
  html: string;
  text: string | null;
}

// Whom values are shown to where no contact is named. The links of such a preview lead to nobody.
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
  sql: Sql,
  config: Pick<Config, 'DASHBOARD_URI' | 'API_URI' | 'LINK_SECRET'>,
  project: ProjectFacts,
  { subject, body, type, contactId, data }: PreviewTemplate,
): Promise<Preview> {
  checkSources({ subject, body });
  const requestData = data ?? null;
  const isForContact = contactId !== undefined && contactId !== null;
  if (!isForContact && requestData === null) {
    const written = withinLimits(() => contentAsWritten({ subject, body }));
    return { subject: written.subject, html: written.html, text: written.text };
  }
  const contact = isForContact ? await getContact(sql, project.id, contactId) : nobody;
  const { name, language, escapeContactData } = project;
  const prepared = prepareContent(
    { subject, body, messageClass: type, projectName: name, language, escapeContactData },
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
