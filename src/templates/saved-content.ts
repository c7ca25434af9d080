import type { Database } from '../store/sql.ts';
import type { Template } from './entity.ts';
import { storedContent } from './source.ts';
import type { ContentItem } from './versions.ts';

interface GivenContent {
  body?: string | undefined;
  document?: Record<string, unknown> | null | undefined;
  description?: string | null | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
}

/** What a new template or campaign holds of content that may leave parts out. @throws as `storedContent` */
export async function newContent<Given extends GivenContent>(
  db: Database,
  iconsUrl: string,
  projectId: string,
  given: Given,
) {
  const { body = '', document = null } = await storedContent(db, iconsUrl, projectId, given);
  const { description = null, fromName, replyTo = null } = given;
  return { ...given, projectId, body, document, description, fromName: fromName || null, replyTo };
}

/** Changes a locked template or campaign; what is absent stays. @throws as `storedContent` */
export async function assignContent<Item extends ContentItem>(
  tx: Database,
  iconsUrl: string,
  item: Item,
  change: GivenContent,
): Promise<void> {
  const content = await storedContent(tx, iconsUrl, item.projectId, change);
  const given = Object.entries({ ...change, ...content }).filter(([, value]) => value !== undefined);
  Object.assign(item, Object.fromEntries(given));
  if (item.fromName === '') item.fromName = null;
}

/** What a copy has of a template or campaign: its content without the name. */
export function copiedContent(
  item: Pick<Template, 'projectId' | 'subject' | 'body' | 'from' | 'type'> &
    Partial<Pick<Template, 'description' | 'document' | 'fromName' | 'replyTo'>>,
) {
  const { projectId, description, subject, body, document, from, fromName, replyTo, type } = item;
  return { projectId, description, subject, body, document, from, fromName, replyTo, type };
}
