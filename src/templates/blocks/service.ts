import * as v from 'valibot';
import { badRequest, conflict, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { field, Instant, nameSchemas, textField, Uuid } from '../../lib/validation/fields.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
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

const mostBlocks = 200;
const columns = raw(
  `id, name, content, ${isoText('created_at')} as "createdAt", ${isoText('updated_at')} as "updatedAt"`,
);

/** Every saved block of a project, by name. */
export async function listBlocks(db: Database, projectId: string): Promise<{ data: SavedBlockBody[] }> {
  return {
    data: await db.rows<SavedBlockBody>(
      sql`select ${columns} from saved_blocks where project_id = ${projectId} order by name`,
    ),
  };
}

/** Saves blocks under a name. @throws 400 for blocks that are none and where the project has 200, 409 for a name that is taken */
export function createBlock(db: Database, projectId: string, body: CreateSavedBlock): Promise<SavedBlockBody> {
  const content = JSON.stringify(checkBlocks(body.content));
  return db.transaction(async (tx) => {
    const { rows } = (await tx.row<{ rows: number }>(
      sql`select count(*)::int as rows from saved_blocks where project_id = ${projectId}`,
    )) ?? { rows: 0 };
    if (rows >= mostBlocks) throw badRequest(`A project can have at most ${mostBlocks} saved blocks`);
    await refuseTaken(tx, projectId, null, body.name);
    const created = await tx.row<SavedBlockBody>(sql`
      insert into saved_blocks (id, project_id, name, content)
      values (${newId()}, ${projectId}, ${body.name}, ${content}::jsonb) returning ${columns}`);
    return recorded(tx, projectId, 'block.created', created);
  });
}

/** Changes name or content; emails keep the copies that they have. @throws 404, 400 and 409 as on creation */
export function patchBlock(
  db: Database,
  projectId: string,
  id: string,
  { name, content }: PatchSavedBlock,
): Promise<SavedBlockBody> {
  const given = content === undefined ? null : JSON.stringify(checkBlocks(content));
  return db.transaction(async (tx) => {
    if (name !== undefined) await refuseTaken(tx, projectId, id, name);
    const changed = await tx.row<SavedBlockBody>(sql`
      update saved_blocks set name = coalesce(${name ?? null}, name), content = coalesce(${given}::jsonb, content), updated_at = now()
      where project_id = ${projectId} and id = ${id} returning ${columns}`);
    if (changed === null) throw notFound('saved block', id);
    return recorded(tx, projectId, 'block.updated', changed);
  });
}

/** Deletes saved blocks; emails keep the copies that they have. @throws 404 */
export function deleteBlock(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const gone = await tx.row<{ name: string }>(
      sql`delete from saved_blocks where project_id = ${projectId} and id = ${id} returning name`,
    );
    if (gone === null) throw notFound('saved block', id);
    await recordChange(tx, projectId, { action: 'block.deleted', target: id, before: gone });
  });
}

async function recorded(tx: Database, projectId: string, action: string, block: SavedBlockBody | null) {
  if (block === null) throw new Error('The block was not written');
  await recordChange(tx, projectId, { action, target: block.id, after: { name: block.name } });
  return block;
}

// Whoever saves at the same moment waits, and finds the name taken.
async function refuseTaken(tx: Database, projectId: string, id: string | null, name: string): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(hashtextextended('blocks ' || ${projectId}, 0))`);
  const taken = await tx.row(sql`
    select 1 as found from saved_blocks where project_id = ${projectId} and name = ${name} and id is distinct from ${id}::uuid`);
  if (taken !== null) throw conflict(`A saved block with the name “${name}” exists`, { field: 'name' });
}
