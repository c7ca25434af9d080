import { field, nameSchemas } from '@fernpost/openapi/names';
import { Instant, textField, Uuid } from '@fernpost/validation';
import * as v from 'valibot';

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
