import { describedBy, nameSchemas } from '@fernpost/openapi/names';
import { choice, GivenUuid, Instant, textField, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';
import { ConditionShape } from '../conditions/index.ts';
import { contactSorts } from '../contacts/index.ts';

/** Which contacts of a project are meant: all of the parts must hold. */
export const FilterBody = v.object(
  {
    search: v.pipe(
      v.optional(v.pipe(v.string('must be a string'), v.maxLength(255, 'must have at most 255 characters'))),
      v.description('Text in the address, in any letter case.'),
    ),
    subscribed: v.pipe(v.optional(v.boolean('must be true or false')), v.description('All when absent.')),
    condition: v.nullish(describedBy(v.unknown(), ConditionShape)),
  },
  'must be an object',
);
export type FilterBody = v.InferOutput<typeof FilterBody>;

const Sort = choice(contactSorts);
const Direction = v.picklist(['asc', 'desc'], 'must be "asc" or "desc"');

/** `POST /contacts/search`. */
export const SearchContacts = v.object({
  filter: v.optional(FilterBody),
  sort: v.pipe(v.optional(Sort, 'createdAt'), v.description('What to sort by.')),
  dir: v.pipe(v.optional(Direction, 'desc'), v.description('Direction of the sort.')),
  limit: v.pipe(
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 20),
    v.description('Items of a page; 20 when absent.'),
  ),
  cursor: CursorParameter,
});
export type SearchContacts = v.InferOutput<typeof SearchContacts>;

// `data.` and a key, or a field that every contact has.
const builtIn = ['email', 'subscribed', 'createdAt', 'updatedAt', 'id'] as const;
const Column = v.pipe(
  v.string('must be a string'),
  v.maxLength(300, 'must have at most 300 characters'),
  v.check(
    (name) => (builtIn as readonly string[]).includes(name) || /^data\../s.test(name),
    `must be one of ${builtIn.join(', ')}, or data.<key>`,
  ),
);
const Columns = v.pipe(
  v.array(Column, 'must be an array of field names'),
  v.minLength(1, 'must name at least one column'),
  v.maxLength(100, 'must name at most 100 columns'),
);

const ContactIds = v.array(GivenUuid, 'must be an array of contact ids');

/** `POST /contacts/export`. */
export const ExportContacts = v.pipe(
  v.object({
    filter: v.optional(FilterBody),
    contactIds: v.pipe(
      v.optional(
        v.pipe(
          ContactIds,
          v.minLength(1, 'must have at least one contact id'),
          v.maxLength(1_000, 'must have at most 1000 contact ids'),
        ),
      ),
      v.description('Only these contacts, of those that the filter leaves.'),
    ),
    excludeIds: v.pipe(
      v.optional(v.pipe(ContactIds, v.maxLength(10_000, 'must have at most 10000 contact ids')), []),
      v.description('Contacts to leave out.'),
    ),
    columns: v.pipe(
      v.optional(Columns, ['email', 'subscribed', 'createdAt']),
      v.description('`email`, `subscribed`, `createdAt`, `updatedAt`, `id` or `data.<key>`, in the order of the file.'),
    ),
  }),
);
export type ExportContacts = v.InferOutput<typeof ExportContacts>;

const viewParts = {
  name: v.pipe(textField('name', 1, 100), v.trim(), v.nonEmpty('must not be empty')),
  filter: v.optional(FilterBody, {}),
  sort: v.pipe(v.optional(Sort, 'createdAt'), v.description('What to sort by.')),
  dir: v.pipe(v.optional(Direction, 'desc'), v.description('Direction of the sort.')),
  columns: v.pipe(
    v.optional(v.nullable(Columns), null),
    v.description('Columns of the list in their order; null keeps each person’s own choice.'),
  ),
};

/** `POST /contacts/views`. */
export const CreateView = v.object(viewParts);
export type CreateView = v.InferOutput<typeof CreateView>;

/** `PATCH /contacts/views/{viewId}`: what is absent stays. */
export const PatchView = v.object({
  name: v.optional(viewParts.name),
  filter: v.optional(FilterBody),
  sort: v.pipe(v.optional(Sort), v.description('What to sort by.')),
  dir: v.pipe(v.optional(Direction), v.description('Direction of the sort.')),
  columns: v.pipe(v.optional(v.nullable(Columns)), v.description('Columns of the list in their order, or null.')),
});
export type PatchView = v.InferOutput<typeof PatchView>;

/** A saved view of the list of contacts. */
export const ViewBody = v.object({
  id: Uuid,
  name: v.string(),
  filter: v.object({
    search: v.optional(v.string()),
    subscribed: v.optional(v.boolean()),
    condition: v.nullish(describedBy(v.record(v.string(), v.unknown()), ConditionShape)),
  }),
  sort: v.pipe(v.picklist(contactSorts), v.description('What the list is sorted by.')),
  dir: v.pipe(v.picklist(['asc', 'desc']), v.description('Direction of the sort.')),
  columns: v.pipe(v.nullable(v.array(v.string())), v.description('Columns of the list in their order, or null.')),
  createdAt: Instant,
  updatedAt: Instant,
});
export type ViewBody = v.InferOutput<typeof ViewBody>;

/** All saved views of a project, by name. */
export const ViewList = v.object({ data: v.array(ViewBody) });

nameSchemas({ ContactFilter: FilterBody, ContactView: ViewBody, ContactViewList: ViewList });
