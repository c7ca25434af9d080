import type { EmailDocument } from '@fernpost/email-document';
import * as v from 'valibot';
import { badRequest } from '../lib/errors.ts';
import { JsonObject } from '../lib/validation/fields.ts';
import type { Database } from '../store/sql.ts';
import { compileDocument } from './brand/service.ts';
import type { Template } from './queries.ts';
import type { ContentItem } from './versions.ts';

interface GivenContent {
  body?: string | undefined;
  document?: Record<string, unknown> | null | undefined;
  description?: string | null | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
}

/** Returns the columns of a new template or campaign; absent parts get their defaults. @throws as `storedContent` */
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

/** Copies the content of a template or campaign, without its name. */
export function copiedContent(
  item: Pick<Template, 'projectId' | 'subject' | 'body' | 'from' | 'type'> &
    Partial<Pick<Template, 'description' | 'document' | 'fromName' | 'replyTo'>>,
) {
  const { projectId, description, subject, body, document, from, fromName, replyTo, type } = item;
  return { projectId, description, subject, body, document, from, fromName, replyTo, type };
}

/** The blocks that content was written as, in a request. Its grammar is checked when it is compiled. */
export const DocumentSource = v.nullish(JsonObject);

/** The blocks that content was written as, in an answer; null for content written as HTML. */
export const DocumentBody = v.nullable(v.record(v.string(), v.unknown()));

interface Given {
  body?: string | undefined;
  document?: Record<string, unknown> | null | undefined;
}

/** Refuses new content that has neither body nor document, in the words of a missing body. */
export function needsContent<Input extends Given>() {
  return v.rawCheck<Input>(({ dataset, addIssue }) => {
    const input: Record<string, unknown> & Given = { ...(dataset.value as Given | undefined) };
    if (input.body !== undefined || (input.document !== undefined && input.document !== null)) return;
    const message = 'invalid_type\u0000is required';
    addIssue({ message, path: [{ type: 'object', origin: 'value', input, key: 'body', value: undefined }] });
  });
}

/**
 * Returns the columns for given content: HTML written as HTML has no document, and a document has the HTML compiled from it.
 * Empty where neither was given.
 * @throws 400 for both, and for a document that is none
 */
export async function storedContent(
  db: Database,
  iconsUrl: string,
  projectId: string,
  { body, document }: Given,
): Promise<{ body?: string; document?: EmailDocument | null }> {
  if (document) {
    if (body !== undefined)
      throw badRequest('Give either "body" or "document": the body is compiled from the document');
    return compileDocument(db, iconsUrl, projectId, document);
  }
  if (body !== undefined) return { body, document: null };
  return document === null ? { document: null } : {};
}
