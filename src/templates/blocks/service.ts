import { defineEntity, type InferEntity, LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import * as v from 'valibot';
import { badRequest, beyondRecipients, conflict, notFound } from '../../lib/errors.ts';
import { field, Instant, nameSchemas, textField, Uuid } from '../../lib/validation/fields.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns } from '../../store/columns.ts';
import { type Database, limitingKey } from '../../store/sql.ts';
import { checkBlocks } from '../brand/service.ts';

const AnyBlock = v.record(v.string(), v.unknown());

/** Saved blocks in an answer. */
export const SavedBlockBody = v.object({
  id: field('ID of the saved block.', Uuid),
  name: field('Name of the saved block, unique within the project.', v.string()),
  content: field('The blocks, in the format of `content` in a `document`.', v.array(AnyBlock)),
  createdAt: field('When the block was saved.', Instant),
  updatedAt: field('When its name or content last changed.', Instant),
});
export type SavedBlockBody = v.InferOutput<typeof SavedBlockBody>;

/** All saved blocks of a project, by name. */
export const SavedBlockList = v.object({
  data: field('All saved blocks of the project, sorted by name.', v.array(SavedBlockBody)),
});

const parts = {
  name: field(
    'Name of the saved block, 1 to 100 characters. It must be unique within the project.',
    v.pipe(textField('name', 1, 100), v.trim(), v.nonEmpty('must not be empty')),
  ),
  content: field(
    'One or more blocks, in the format of `content` in a `document`.',
    v.pipe(v.array(AnyBlock, 'must be a list of blocks'), v.minLength(1, 'must have at least one block')),
  ),
};

/** `POST /blocks`. */
export const CreateSavedBlock = v.object(parts);
export type CreateSavedBlock = v.InferOutput<typeof CreateSavedBlock>;

/** `PATCH /blocks/{id}`: what is absent stays. */
export const PatchSavedBlock = v.partial(v.object(parts));
export type PatchSavedBlock = v.InferOutput<typeof PatchSavedBlock>;

nameSchemas({ SavedBlock: SavedBlockBody, SavedBlockList });

const p = defineEntity.properties;

/** Blocks that are copied into emails: a mail keeps its own copy when they change. */
export const SavedBlock = defineEntity({
  name: 'SavedBlock',
  tableName: 'saved_blocks',
  properties: { ...baseColumns, projectId: ofProject(), name: p.text(), content: p.json<SavedBlockBody['content']>() },
  uniques: [{ name: 'saved_blocks_name', properties: ['projectId', 'name'] }],
});
type SavedBlock = InferEntity<typeof SavedBlock>;

const mostBlocks = 200;

/** Returns every saved block of a project, by name. */
export async function listBlocks(db: Database, projectId: string): Promise<{ data: SavedBlockBody[] }> {
  const blocks = await db.em.find(SavedBlock, { projectId }, { orderBy: { name: 'asc' } });
  return { data: blocks.map(bodyOf) };
}

/** Saves blocks under a name. @throws 400 for blocks that are none and where the project has 200, 409 for a name that is taken */
export function createBlock(db: Database, projectId: string, body: CreateSavedBlock): Promise<SavedBlockBody> {
  const content = checkBlocks(body.content);
  return db.transaction(async (tx) => {
    if ((await tx.em.count(SavedBlock, { projectId })) >= mostBlocks)
      throw badRequest(`A project can have at most ${mostBlocks} saved blocks`);
    return saved(tx, 'block.created', tx.em.create(SavedBlock, { projectId, name: body.name, content }));
  });
}

/** Changes name or content; emails keep the copies that they have. @throws 404, 400 and 409 as on creation, 403 for a key with limits */
export function patchBlock(
  db: Database,
  projectId: string,
  id: string,
  { name, content }: PatchSavedBlock,
): Promise<SavedBlockBody> {
  const given = content && checkBlocks(content);
  return db.transaction(async (tx) => {
    const block = await load(tx, projectId, id);
    tx.em.assign(block, { ...(name && { name }), ...(given && { content: given }), updatedAt: new Date() });
    return saved(tx, 'block.updated', block);
  });
}

/** Deletes saved blocks; emails keep the copies that they have. @throws 404, 403 for a key with limits */
export function deleteBlock(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const { name } = await load(tx, projectId, id);
    await tx.em.nativeDelete(SavedBlock, { projectId, id });
    await recordChange(tx, projectId, { action: 'block.deleted', target: id, before: { name } });
  });
}

async function load(tx: Database, projectId: string, id: string): Promise<SavedBlock> {
  if (limitingKey(tx) !== null)
    throw beyondRecipients('cannot change saved blocks, which are copied into emails to everybody');
  const block = await tx.em.findOne(SavedBlock, { projectId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (block === null) throw notFound('saved block', id);
  return block;
}

async function saved(tx: Database, action: string, block: SavedBlock): Promise<SavedBlockBody> {
  const { id, projectId, name } = block;
  await tx.em.flush().catch((error: unknown) => {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw conflict(`A saved block with the name “${name}” exists`, { field: 'name' });
  });
  await recordChange(tx, projectId, { action, target: id, after: { name } });
  return bodyOf(block);
}

function bodyOf({ id, name, content, createdAt, updatedAt }: SavedBlock): SavedBlockBody {
  return { id, name, content, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
