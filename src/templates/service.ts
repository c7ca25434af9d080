import { parseTemplate, StepLimitError, TemplateSyntaxError } from '@fernpost/renderer';
import { LockMode, type RequiredEntityData } from '@mikro-orm/core';
import { checkKeySender, checkSenderDomain } from '../domains/service.ts';
import { AppError, badRequest, beyondRecipients, conflict, notFound } from '../lib/errors.ts';
import { checkSeen } from '../lib/ids.ts';
import { offsetAnswer, offsetPage } from '../lib/pages.ts';
import { cutText, likeText } from '../lib/text.ts';
import { domainOf } from '../lib/validation/email-address.ts';
import { recordChange } from '../projects/audit/record.ts';
import type { VerifiedDomains } from '../projects/directory.ts';
import { type Database, limitingKey, sql } from '../store/sql.ts';
import { stepsOfTemplate, Template, usesOfTemplates } from './queries.ts';
import {
  type BulkUpdateTemplates,
  type CreateTemplate,
  type ListTemplates,
  type PatchTemplate,
  type TemplateBody,
  templateSorts,
  templateTypes,
} from './schema.ts';
import { assignContent, copiedContent, newContent } from './source.ts';
import {
  contentVersion,
  contentVersions,
  forgetVersions,
  keepAuthor,
  keepFirstVersion,
  keepVersion,
  restoredContent,
} from './versions.ts';

/** The verified domains of a project. */
export type SenderDomains = (projectId: string) => Promise<VerifiedDomains>;

/** The facts that saving content needs beside the database. */
export interface ContentDeps {
  senderDomains: SenderDomains;
  /** Where the icons of social links are served. */
  iconsUrl: string;
}

/** A page of templates, newest first unless asked otherwise. @throws 400 for an unknown type */
export async function listTemplates(db: Database, projectId: string, query: ListTemplates) {
  const page = offsetPage(query, 100);
  const type = query.type ? templateTypes.find((known) => known === query.type) : undefined;
  if (query.type && !type) throw badRequest(`"type" must be one of ${templateTypes.join(', ')}`);
  const search = query.search?.trim();
  // No stored text has this character, and Postgres takes none.
  if (search?.includes('\u0000')) return offsetAnswer([], page, 0);
  const pattern = search ? `%${likeText(search)}%` : null;
  const sort = templateSorts.find((known) => known === query.sort) ?? 'createdAt';
  const dir = query.dir === 'asc' ? 'asc' : 'desc';
  const [templates, total] = await db.em.findAndCount(
    Template,
    {
      projectId,
      ...(type ? { type } : {}),
      ...(pattern
        ? {
            $or: [
              { name: { $ilike: pattern } },
              { description: { $ilike: pattern } },
              { subject: { $ilike: pattern } },
            ],
          }
        : {}),
    },
    { orderBy: [{ [sort]: dir }, { id: dir }], limit: page.pageSize, offset: page.offset },
  );
  return offsetAnswer(templates.map(templateBody), page, total);
}

/** Creates a template. @throws 400 for a template that does not parse, 403 for its sender's domain */
export async function createTemplate(
  db: Database,
  { senderDomains, iconsUrl }: ContentDeps,
  projectId: string,
  body: CreateTemplate,
): Promise<TemplateBody> {
  checkSources(body);
  checkKeySender(db.author, domainOf(body.from));
  await checkSender(senderDomains, projectId, body.from);
  return db.transaction(async (tx) => saved(tx, await newContent(tx, iconsUrl, projectId, body)));
}

async function saved(tx: Database, parts: RequiredEntityData<Template>): Promise<TemplateBody> {
  const template = tx.em.create(Template, parts);
  await tx.em.flush();
  await keepVersion(tx, template);
  return templateBody(template);
}

/** One template. @throws 404 TEMPLATE_NOT_FOUND */
export async function getTemplate(db: Database, projectId: string, id: string): Promise<TemplateBody> {
  return templateBody(await load(db, projectId, id));
}

/**
 * Changes a template; parts that are absent stay.
 * @throws 404, 400, 403 as on creation, also for the domain that its mail has until now, and for a key with limits
 * where others wrote or send it, 412 where `ifMatch` names another revision
 */
export async function patchTemplate(
  db: Database,
  { senderDomains, iconsUrl }: ContentDeps,
  projectId: string,
  id: string,
  body: PatchTemplate,
  ifMatch = '',
  restoredFrom: number | null = null,
): Promise<TemplateBody> {
  return db.transaction(async (tx) => {
    const template = await load(tx, projectId, id, LockMode.PESSIMISTIC_WRITE);
    checkSeen('template', '/templates/{id}', template, ifMatch);
    checkKeySender(tx.author, domainOf(template.from));
    await keepLimits(tx, template);
    await keepFirstVersion(tx, template);
    checkSources(body);
    if (body.from !== undefined) {
      checkKeySender(tx.author, domainOf(body.from));
      await checkSender(senderDomains, projectId, body.from);
    }
    await assignContent(tx, iconsUrl, template, body);
    await tx.em.flush();
    await keepVersion(tx, template, restoredFrom);
    return templateBody(template);
  });
}

// Mail that others send by a template has the content that it has then.
async function keepLimits(tx: Database, template: Pick<Template, 'id' | 'projectId'>): Promise<void> {
  const key = limitingKey(tx);
  if (key === null) return;
  await keepAuthor(tx, 'template', template);
  const { id, projectId } = template;
  const sent = await tx.row(sql`
    select 1 as sent from templates t where t.id = ${id} and (t.removed_mails > 0 or exists (
      select from emails where template_id = t.id and limited_by is distinct from ${key}::uuid))`);
  if (sent !== null || (await usesOfTemplates(tx, projectId, [id], key)) !== null)
    throw beyondRecipients('cannot change a template that others send');
}

/** The versions of a template, newest first. @throws 404 */
export async function templateVersions(db: Database, projectId: string, id: string) {
  await load(db, projectId, id);
  return { data: await contentVersions(db, projectId, id) };
}

/** A version of a template with its content. @throws 404 */
export async function templateVersion(db: Database, iconsUrl: string, projectId: string, id: string, version: string) {
  await load(db, projectId, id);
  return contentVersion(db, iconsUrl, projectId, id, version);
}

/** Saves a version of a template as its newest one. @throws as `patchTemplate`, 404 for the version */
export async function restoreTemplate(
  db: Database,
  deps: ContentDeps,
  projectId: string,
  { id, version }: { id: string; version: string },
  ifMatch: string,
): Promise<TemplateBody> {
  return db.transaction(async (tx) => {
    const found = await templateVersion(tx, deps.iconsUrl, projectId, id, version);
    const restored = await patchTemplate(tx, deps, projectId, id, restoredContent(found), ifMatch, found.version);
    await recordChange(tx, projectId, { action: 'template.restored', target: id, after: { version: found.version } });
    return restored;
  });
}

/**
 * Deletes a template; sent mail keeps its content and loses the reference.
 * @throws 404, 409 while a step of a workflow needs it, 403 as `patchTemplate` for a key with limits
 */
export async function deleteTemplate(db: Database, projectId: string, id: string): Promise<void> {
  await removeTemplates(db, projectId, [id]);
}

/** Copies a template under the name `<name> (Copy)`. @throws 404, 403 for a sender that the key may not use */
export async function duplicateTemplate(db: Database, projectId: string, id: string): Promise<TemplateBody> {
  const original = await load(db, projectId, id);
  checkKeySender(db.author, domainOf(original.from));
  const suffix = ' (Copy)';
  const name = `${cutText(original.name, 255 - suffix.length)}${suffix}`;
  return db.transaction((tx) => saved(tx, { ...copiedContent(original), name }));
}

/** Counts the steps and emails that refer to a template. @throws 404 */
export async function templateUsage(db: Database, projectId: string, id: string) {
  await load(db, projectId, id);
  const steps = await stepsOfTemplate(db, projectId, id);
  const row = await db.row<{ sent: number }>(sql`
    select t.removed_mails + (select count(*) from emails where template_id = t.id)::int as sent from templates t where t.id = ${id}`);
  return { workflowSteps: steps.length, emailsSent: row?.sent ?? 0, steps, campaigns: [] };
}

/**
 * Deletes several templates, all or none.
 * @throws 404 naming the first unknown id, 409 while a step of a workflow needs one of them
 */
export async function bulkUpdateTemplates(db: Database, projectId: string, body: BulkUpdateTemplates) {
  const ids = [...new Set(body.ids)];
  if (body.delete === true) return { deleted: await removeTemplates(db, projectId, ids) };
  const found = await db.em.find(Template, { projectId, id: ids }, { fields: ['id'] });
  requireAll(ids, new Set(found.map(({ id }) => id)));
  return { updated: 0 };
}

// The rows are locked first: whoever is about to use one of them in a step waits, and is seen or finds it gone.
async function removeTemplates(db: Database, projectId: string, ids: readonly string[]): Promise<number> {
  return db.transaction(async (tx) => {
    const lock = { fields: ['id'], orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const found = await tx.em.find(Template, { projectId, id: [...ids] }, lock);
    requireAll(ids, new Set(found.map(({ id }) => id)));
    for (const id of ids) await keepLimits(tx, { id, projectId });
    const use = await usesOfTemplates(tx, projectId, ids);
    if (use !== null)
      throw conflict(
        `Template ${use.template} is used by workflows, or by contacts still inside one: ${use.steps} steps need it`,
        { steps: use.steps },
      );
    await tx.count(sql`update emails set template_id = null where template_id = any(${ids}::uuid[])`);
    const deleted = await tx.em.nativeDelete(Template, { projectId, id: [...ids] });
    await forgetVersions(tx, projectId, ids);
    for (const id of ids) await recordChange(tx, projectId, { action: 'template.deleted', target: id });
    return deleted;
  });
}

function requireAll(ids: readonly string[], found: ReadonlySet<string>): void {
  const unknown = ids.find((id) => !found.has(id));
  if (unknown !== undefined) throw notFound('template', unknown);
}

async function load(db: Database, projectId: string, id: string, lockMode?: LockMode): Promise<Template> {
  const template = await db.em.findOne(Template, { projectId, id }, lockMode === undefined ? {} : { lockMode });
  if (template === null) throw notFound('template', id);
  return template;
}

/**
 * Refuses a subject or body that does not parse, naming the place (docs/contract/operations.md#template-errors).
 * @throws 400 VALIDATION_ERROR with `details: { field, line, column }`
 */
export function checkSources(sources: { subject?: string | undefined; body?: string | undefined }): void {
  for (const field of ['subject', 'body'] as const) {
    const source = sources[field];
    if (source === undefined) continue;
    try {
      parseTemplate(source, { mode: field === 'body' ? 'html' : 'text' });
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      const { line, column } = error;
      throw new AppError(
        400,
        'VALIDATION_ERROR',
        `"${field}" does not parse at line ${line}, column ${column}: ${error.message}`,
        {
          details: { field, line, column },
          suggestion: 'Correct the template at the place named in "details".',
        },
      );
    }
  }
}

/** Runs a rendering for a response. @throws 400 VALIDATION_ERROR where it takes more steps than one message may */
export function withinLimits<T>(render: () => T): T {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof StepLimitError)) throw error;
    throw new AppError(400, 'VALIDATION_ERROR', error.message, {
      details: { field: 'body' },
      suggestion: 'Make the template smaller, or loop over fewer items: its mail would fail for this reason.',
    });
  }
}

/** Refuses a sender whose domain the project has not verified, or that waits for the operator. @throws 403 */
export async function checkSender(senderDomains: SenderDomains, projectId: string, from: string): Promise<void> {
  checkSenderDomain(await senderDomains(projectId), domainOf(from));
}

function templateBody(template: Template): TemplateBody {
  return {
    id: template.id,
    name: template.name,
    description: template.description ?? null,
    subject: template.subject,
    body: template.body,
    document: template.document ?? null,
    from: template.from,
    fromName: template.fromName ?? null,
    replyTo: template.replyTo ?? null,
    type: template.type,
    revision: template.revision,
    projectId: template.projectId,
    createdAt: template.createdAt.toISOString(),
    updatedAt: template.updatedAt.toISOString(),
  };
}
