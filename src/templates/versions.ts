import { defineEntity } from '@mikro-orm/core';
import * as v from 'valibot';
import { beyondRecipients, notFound } from '../lib/errors.ts';
import { field, Instant, Integer, nameSchemas } from '../lib/validation/fields.ts';
import { Actor, actorName } from '../projects/audit/queries.ts';
import { ofProject } from '../projects/queries.ts';
import { baseColumns, isoText } from '../store/columns.ts';
import { type Database, limitingKey, raw, sql } from '../store/sql.ts';
import { compileDocument } from './brand/service.ts';
import { contentEntries } from './schema.ts';

const { name, subject } = contentEntries;

/** A version of a template or campaign, as lists show it. */
export const VersionBody = v.object({
  version: field('Version number, counting from 1. Versions that are no longer kept leave gaps.', Integer),
  createdAt: field('When the version was saved.', Instant),
  author: field('Author of the version; null for content saved before versions were kept.', v.nullable(Actor)),
  restoredFrom: field('Number of the version that was restored to make this one; null otherwise.', v.nullable(Integer)),
  name: field('Internal name of the template or campaign in this version.', name),
  subject: field('Subject line in this version, with Liquid variables.', subject),
});
export type VersionBody = v.InferOutput<typeof VersionBody>;

/** A version with what it holds. */
export const VersionWithContent = v.object({ ...VersionBody.entries, ...contentEntries });
export type VersionWithContent = v.InferOutput<typeof VersionWithContent>;

export const versionsAbout =
  'Newest first. Every save that changes something makes one; of more than 100, those that their author replaced within ten minutes go first, then the oldest.';
export const restoreAbout =
  'Saves its content as a new version, with blocks compiled by the brand kit as it is now. Nothing is lost: what was there before is the version below.';

/** The versions of one template or campaign, newest first. */
export const VersionList = v.object({ data: field('Versions, newest first; up to 100.', v.array(VersionBody)) });

nameSchemas({
  ContentVersion: VersionBody,
  ContentVersionWithContent: VersionWithContent,
  ContentVersionList: VersionList,
});

const VersionedContent = v.object({ ...contentEntries, body: v.nullable(v.string()) });
/** The content of a version. The body is null where it is compiled from the document. */
type VersionedContent = v.InferOutput<typeof VersionedContent>;

type Optional = 'description' | 'document' | 'fromName' | 'replyTo';
/** A template, or a campaign that is not sent yet. */
export type ContentItem = Omit<VersionedContent, 'body' | Optional> & {
  [Part in Optional]?: VersionedContent[Part] | undefined;
} & { id: string; projectId: string; body: string; updatedAt: Date };

const p = defineEntity.properties;

/** What a save made of a template or campaign. */
export const ContentVersion = defineEntity({
  name: 'ContentVersion',
  tableName: 'content_versions',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    itemId: p.uuid().primary(),
    version: p.integer().primary(),
    authorKind: p.enum(['user', 'key', 'mcp', 'system'] as const).nullable(),
    authorId: p.text().nullable(),
    restoredFrom: p.integer().nullable(),
    content: p.json<VersionedContent>(),
    createdAt: baseColumns.createdAt,
  },
});

const mostVersions = 100;

const facts = raw(`version, restored_from as "restoredFrom", ${isoText('created_at')} as "createdAt",
  case when author_kind is not null then json_build_object('kind', author_kind, 'id', author_id,
    'name', ${actorName('author_kind', 'author_id', 'content_versions.project_id').text}) end as author`);

/**
 * Checks that a key with limits changes nothing that somebody else has written, who may send it to everybody now or later.
 * @throws 403 for an item with a version of another author, or of nobody known
 */
export async function keepAuthor(
  tx: Database,
  kind: 'template' | 'campaign',
  { projectId, id: itemId }: Pick<ContentItem, 'projectId' | 'id'>,
): Promise<void> {
  const key = limitingKey(tx);
  if (key === null) return;
  const versions = { projectId, itemId };
  const others = { ...versions, $or: [{ authorId: null }, { authorId: { $ne: key } }] };
  const isItsOwn =
    (await tx.em.count(ContentVersion, versions)) > 0 && (await tx.em.count(ContentVersion, others)) === 0;
  if (!isItsOwn) throw beyondRecipients(`can only change a ${kind} that nobody else has edited`);
}

/**
 * Keeps what an item is before its first edit that is kept, where no version of it is there: what was saved by older releases has
 * no history. The item must be locked.
 */
export async function keepFirstVersion(tx: Database, item: ContentItem): Promise<void> {
  const { projectId, id: itemId, updatedAt: createdAt } = item;
  if ((await tx.em.count(ContentVersion, { projectId, itemId })) > 0) return;
  await tx.em.insert(ContentVersion, { projectId, itemId, version: 1, content: contentOf(item), createdAt });
}

/**
 * Keeps what a save made of an item as its newest version, in the transaction of the save and by its author; a save that changed
 * nothing of it makes none. Of more than 100 the oldest goes that its author replaced within ten minutes, or else the oldest.
 */
export async function keepVersion(tx: Database, item: ContentItem, restoredFrom: number | null = null): Promise<void> {
  const { projectId, id } = item;
  const { author } = tx;
  const made = await tx.count(sql`
    insert into content_versions (project_id, item_id, version, author_kind, author_id, restored_from, content)
    select ${projectId}, ${id}, coalesce(newest.version, 0) + 1, ${author?.kind ?? 'system'}, ${author?.id ?? null},
        ${restoredFrom}::int, given.content
      from (select ${contentOf(item)}::jsonb as content) as given
        left join lateral (select version, content from content_versions
          where project_id = ${projectId} and item_id = ${id} order by version desc limit 1) as newest on true
      where newest.content is distinct from given.content`);
  if (made === 0) return;
  await tx.count(sql`
    delete from content_versions where project_id = ${projectId} and item_id = ${id} and version in (
      select version from (
        select version, row_number() over newest as place, count(*) over () as kept,
          (author_kind, author_id) is not distinct from (lag(author_kind) over newest, lag(author_id) over newest)
            and lag(created_at) over newest < created_at + interval '10 minutes' as is_replaced
        from content_versions where project_id = ${projectId} and item_id = ${id} window newest as (order by version desc)) as each
      where place > 1 and kept > ${mostVersions}
      order by is_replaced desc, version limit 1)`);
}

/** The versions of an item, newest first. The caller has seen that the project has it. */
export function contentVersions(db: Database, projectId: string, itemId: string): Promise<VersionBody[]> {
  return db.rows<VersionBody>(sql`
    select ${facts}, content ->> 'name' as name, content ->> 'subject' as subject
    from content_versions where project_id = ${projectId} and item_id = ${itemId} order by version desc`);
}

/**
 * A version of an item, its document compiled with the brand kit as it is now. The caller has seen that the project has the item.
 * @throws 404
 */
export async function contentVersion(
  db: Database,
  iconsUrl: string,
  projectId: string,
  itemId: string,
  version: string,
): Promise<VersionWithContent> {
  const row = /^[1-9]\d{0,8}$/.test(version)
    ? await db.row<Omit<VersionBody, 'name' | 'subject'> & { content: VersionedContent }>(sql`
        select ${facts}, content from content_versions
        where project_id = ${projectId} and item_id = ${itemId} and version = ${Number(version)}`)
    : null;
  if (row === null) throw notFound('version', version);
  const { content, ...rest } = row;
  const html = content.body ?? (await compileDocument(db, iconsUrl, projectId, content.document)).body;
  return { ...rest, ...content, body: html };
}

/** Returns the content with which a version is restored. */
export function restoredContent(version: VersionWithContent) {
  const { body: html, document: blocks, ...content } = v.parse(v.object(contentEntries), version);
  return { ...content, ...(blocks === null ? { body: html } : { document: blocks }) };
}

/** Forgets the versions of items that are deleted. */
export async function forgetVersions(tx: Database, projectId: string, itemIds: readonly string[]): Promise<void> {
  await tx.em.nativeDelete(ContentVersion, { projectId, itemId: [...itemIds] });
}

function contentOf(item: ContentItem): VersionedContent {
  const parts = Object.keys(contentEntries) as (keyof typeof contentEntries)[];
  const content = Object.fromEntries(parts.map((part) => [part, item[part] ?? null]));
  return { ...(content as VersionedContent), ...(item.document ? { body: null } : {}) };
}
