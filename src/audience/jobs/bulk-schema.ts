import * as v from 'valibot';
import { codedAt } from '../../core/lib/validation.ts';

/** What a bulk job does to contacts. */
export const bulkOperations = ['subscribe', 'unsubscribe', 'delete'] as const;
/** What a bulk job does to contacts. */
export type BulkOperation = (typeof bulkOperations)[number];

const Id = v.pipe(v.string('must be a UUID'), v.uuid('must be a UUID'), v.toLowerCase());

/** `POST /contacts/bulk-*`: the contacts with these ids, or all that a filter leaves. */
export const BulkBody = v.pipe(
  v.object({
    mode: v.optional(v.picklist(['ids', 'query'], 'must be "ids" or "query"'), 'ids'),
    contactIds: v.optional(
      v.pipe(
        v.array(Id, 'must be an array of contact ids'),
        v.minLength(1, 'must have at least one contact id'),
        v.maxLength(1_000, 'must have at most 1000 contact ids'),
      ),
    ),
    filter: v.optional(
      v.object(
        {
          search: v.optional(
            v.pipe(v.string('must be a string'), v.maxLength(255, 'must have at most 255 characters')),
          ),
          subscribed: v.optional(v.boolean('must be true or false')),
        },
        'must be an object',
      ),
    ),
    excludeIds: v.optional(
      v.pipe(
        v.array(Id, 'must be an array of contact ids'),
        v.maxLength(10_000, 'must have at most 10000 contact ids'),
      ),
    ),
  }),
  codedAt(
    'invalid_type',
    'contactIds',
    ({ mode, contactIds }) => mode === 'query' || contactIds !== undefined,
    'is required: an array of 1 to 1000 contact ids',
  ),
);
export type BulkBody = v.InferOutput<typeof BulkBody>;

/** Which contacts a bulk job means, as its row keeps it. */
export type BulkSelector =
  | { mode: 'ids'; contactIds: string[] }
  | { mode: 'query'; filter: { search?: string; subscribed?: boolean }; excludeIds: string[] };
