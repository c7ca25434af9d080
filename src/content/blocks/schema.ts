import { nameSchemas } from '@fernpost/openapi/names';
import { Instant, textField, Uuid } from '@fernpost/validation';
import * as v from 'valibot';

const AnyBlock = v.record(v.string(), v.unknown());

/** Saved blocks in an answer. */
export const SavedBlockBody = v.object({
  id: Uuid,
  name: v.string(),
  /** Blocks as a document holds them in `content`. */
  content: v.array(AnyBlock),
  createdAt: Instant,
  updatedAt: Instant,
});
export type SavedBlockBody = v.InferOutput<typeof SavedBlockBody>;

/** All saved blocks of a project, by name. */
export const SavedBlockList = v.object({ data: v.array(SavedBlockBody) });

const parts = {
  name: v.pipe(textField('name', 1, 100), v.trim(), v.nonEmpty('must not be empty')),
  content: v.pipe(v.array(AnyBlock, 'must be a list of blocks'), v.minLength(1, 'must have at least one block')),
};

/** `POST /blocks`. */
export const CreateSavedBlock = v.object(parts);
export type CreateSavedBlock = v.InferOutput<typeof CreateSavedBlock>;

/** `PATCH /blocks/{id}`: what is absent stays. */
export const PatchSavedBlock = v.partial(v.object(parts));
export type PatchSavedBlock = v.InferOutput<typeof PatchSavedBlock>;

nameSchemas({ SavedBlock: SavedBlockBody, SavedBlockList });
