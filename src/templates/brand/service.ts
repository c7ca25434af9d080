import { readFile } from 'node:fs/promises';
import { Brand, compileEmail, EmailDocument, networks, plainBrand } from '@fernpost/email-document';
import { parseTemplate, TemplateSyntaxError } from '@fernpost/renderer';
import { defineEntity } from '@mikro-orm/core';
import * as v from 'valibot';
import { editableStatuses } from '../../lib/enums.ts';
import { AppError, bareNotFound, beyondRecipients } from '../../lib/errors.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns } from '../../store/columns.ts';
import { type Database, limitingKey, type Query, raw, sql } from '../../store/sql.ts';

const p = defineEntity.properties;

/** The brand kit that somebody has set for a project. */
export const BrandKit = defineEntity({
  name: 'BrandKit',
  tableName: 'brands',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    kit: p.json<Brand>(),
    updatedAt: baseColumns.updatedAt,
  },
});

/** Where the icons of social links are served, by the setting API_URI. */
export const iconsUrlOf = ({ API_URI }: { API_URI: string }) => `${API_URI}/brand/icons`;

const iconFolder = new URL('../../../packages/email-document/icons/', import.meta.url);

/** The icon of a network as PNG, 96 pixels wide; `file` is its name in lower case with `.png`. @throws 404 */
export async function socialIcon(file: string): Promise<Buffer> {
  if (!networks.some((network) => `${network.toLowerCase()}.png` === file)) throw bareNotFound('No such icon');
  return readFile(new URL(file, iconFolder));
}

/** The brand kit of a project. */
export async function getBrand(db: Database, projectId: string): Promise<Brand> {
  return (await findBrand(db, projectId)) ?? plainBrand;
}

/** The brand kit that somebody has set for a project, or null. */
export async function findBrand(db: Database, projectId: string): Promise<Brand | null> {
  const row = await db.session().em.findOne(BrandKit, { projectId }, { disableIdentityMap: true });
  return row && v.parse(Brand, row.kit);
}

/**
 * Replaces the brand kit, and compiles anew what follows it: the templates that are documents, and the campaigns that are not
 * being sent.
 * @throws 400 where a document does not fit the new kit, 403 for a key with limits
 */
export async function putBrand(db: Database, iconsUrl: string, projectId: string, kit: Brand): Promise<Brand> {
  if (limitingKey(db) !== null) throw beyondRecipients('cannot change the brand kit, which emails to everybody follow');
  checkLiquid(kit.footer, 'footer');
  checkLiquid(kit.postalAddress, 'postalAddress');
  return db.transaction(async (tx) => {
    await tx.em.upsert(BrandKit, { projectId, kit, updatedAt: new Date() });
    const project = { projectId, iconsUrl, kit };
    await recompile(tx, project, raw('templates'), raw('true'));
    await recompile(tx, project, raw('campaigns'), raw(`status in ${editableStatuses.sql}`));
    return kit;
  });
}

// One after another: a project may have thousands, and each may be large.
async function recompile(
  tx: Database,
  { projectId, iconsUrl, kit }: { projectId: string; iconsUrl: string; kit: Brand },
  table: Query,
  isOpen: Query,
): Promise<void> {
  const found = await tx.rows<{ id: string }>(
    sql`select id from ${table} where project_id = ${projectId} and document is not null and ${isOpen} order by id for update`,
  );
  for (const { id } of found) {
    const row = await tx.row<{ document: unknown }>(sql`select document from ${table} where id = ${id}`);
    const body = compiled(v.parse(EmailDocument, row?.document), kit, iconsUrl);
    await tx.count(
      sql`update ${table} set body = ${body}, revision = revision + 1, updated_at = now() where id = ${id} and body <> ${body}`,
    );
  }
}

/**
 * Checks a document and compiles it with the project's brand kit.
 * @throws 400 VALIDATION_ERROR with the place in the document, or where a text of it holds Liquid that does not parse
 */
export async function compileDocument(
  db: Database,
  iconsUrl: string,
  projectId: string,
  document: unknown,
): Promise<{ document: EmailDocument; body: string }> {
  const parsed = checkedDocument(document, 'document');
  return { document: parsed, body: compiled(parsed, await getBrand(db, projectId), iconsUrl) };
}

/** Checks blocks that are no email yet. @throws 400 as `compileDocument` */
export function checkBlocks(content: unknown): EmailDocument['content'] {
  const parsed = checkedDocument({ version: 1, content }, '');
  checkLiquid(compileEmail(parsed, plainBrand), 'content');
  return parsed.content;
}

function checkedDocument(document: unknown, field: string): EmailDocument {
  const parsed = v.safeParse(EmailDocument, document);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const path = [field, v.getDotPath(issue)].filter(Boolean).join('.');
  throw refused(`"${path}" is invalid: ${issue.message}`, path);
}

const longestBody = 2_000_000;

function compiled(document: EmailDocument, kit: Brand, iconsUrl: string): string {
  const body = compileEmail(document, kit, iconsUrl);
  if (body.length > longestBody)
    throw refused('The HTML of the document has more than 2,000,000 characters', 'document');
  checkLiquid(body, 'document');
  return body;
}

function checkLiquid(source: string, field: string): void {
  try {
    parseTemplate(source, { mode: 'html' });
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    throw refused(`A text of "${field}" holds Liquid that does not parse: ${error.message}`, field);
  }
}

function refused(message: string, field: string): AppError {
  return new AppError(400, 'VALIDATION_ERROR', message, {
    details: { field },
    suggestion: 'Correct the block or text at the place named in "details".',
  });
}
