import type { Config } from '../config.ts';
import { getContact } from '../contacts/service.ts';
import type { Sql } from '../db/sql.ts';
import { contentAsWritten, prepareContent } from '../delivery/content/prepare.ts';
import type { JsonObjectValue } from '../lib/json.ts';
import type { ProjectFacts } from '../projects/directory.ts';
import type { PreviewTemplate } from './schema.ts';
import { checkSources } from './service.ts';

/** A message as one recipient would see it. */
export interface Preview {
  subject: string;
  html: string;
  text: string | null;
}

/**
 * Renders content that need not be saved, for one contact of the project or, without one, as it is written. Nothing is sent
 * or stored.
 * @throws 400 with field, line and column for content that does not parse; 404 CONTACT_NOT_FOUND
 */
export async function previewTemplate(
  sql: Sql,
  config: Pick<Config, 'DASHBOARD_URI' | 'API_URI' | 'LINK_SECRET'>,
  project: ProjectFacts,
  { subject, body, type, contactId }: PreviewTemplate,
): Promise<Preview> {
  checkSources({ subject, body });
  if (contactId === undefined || contactId === null) {
    const written = contentAsWritten({ subject, body });
    return { subject: written.subject, html: written.html, text: written.text };
  }
  const contact = await getContact(sql, project.id, contactId);
  const { name, language, escapeContactData } = project;
  const rendered = prepareContent(
    { subject, body, messageClass: type, projectName: name, language, escapeContactData },
    { pagesUrl: config.DASHBOARD_URI, apiUrl: config.API_URI, secret: config.LINK_SECRET },
  ).renderFor({
    emailId: null,
    contact: { ...contact, data: contact.data as JsonObjectValue },
    isCampaign: true,
  });
  return { subject: rendered.subject, html: rendered.html, text: rendered.text };
}
