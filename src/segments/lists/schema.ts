import * as v from 'valibot';
import { ConditionShape } from '../../contacts/conditions.ts';
import { contactSorts } from '../../contacts/list-queries.ts';
import { CursorParameter } from '../../lib/pages.ts';
import {
  choice,
  describedBy,
  field,
  GivenUuid,
  Instant,
  nameSchemas,
  textField,
  Uuid,
} from '../../lib/validation/fields.ts';

/** Which contacts of a project are meant: all of the parts must hold. */
export const FilterBody = v.object(
  {
    search: field(
      'Text in the address, in any letter case.',
      v.optional(v.pipe(v.string('must be a string'), v.maxLength(255, 'must have at most 255 characters'))),
    ),
    subscribed: field('All when absent.', v.optional(v.boolean('must be true or false'))),
    condition: field(
      'Condition that the contacts must match; null or absent for any contact.',
      v.nullish(describedBy(v.unknown(), ConditionShape)),
    ),
  },
  'must be an object',
);
export type FilterBody = v.InferOutput<typeof FilterBody>;

const Sort = choice(contactSorts);
const Direction = v.picklist(['asc', 'desc'], 'must be "asc" or "desc"');

/** `POST /contacts/search`. */
export const SearchContacts = v.object({
  filter: field('The contacts to list; all when absent.', v.optional(FilterBody)),
  sort: field('What to sort by.', v.optional(Sort, 'createdAt')),
  dir: field('Direction of the sort.', v.optional(Direction, 'desc')),
  limit: field(
    'Items of a page; 20 when absent.',
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 20),
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
    filter: field('The contacts to export; all when absent.', v.optional(FilterBody)),
    contactIds: field(
      'Only these contacts, of those that the filter leaves.',
      v.optional(
        v.pipe(
          ContactIds,
          v.minLength(1, 'must have at least one contact id'),
          v.maxLength(1_000, 'must have at most 1000 contact ids'),
        ),
      ),
    ),
    excludeIds: field(
      'Contacts to leave out.',
      v.optional(v.pipe(ContactIds, v.maxLength(10_000, 'must have at most 10000 contact ids')), []),
    ),
    columns: field(
      '`email`, `subscribed`, `createdAt`, `updatedAt`, `id` or `data.<key>`, in the order of the file.',
      v.optional(Columns, ['email', 'subscribed', 'createdAt']),
    ),
  }),
);
export type ExportContacts = v.InferOutput<typeof ExportContacts>;

const viewParts = {
  name: field(
    'Name of the view, 1 to 100 characters.',
    v.pipe(textField('name', 1, 100), v.trim(), v.nonEmpty('must not be empty')),
  ),
  filter: field('The contacts that the view shows.', v.optional(FilterBody, {})),
  sort: field('What to sort by.', v.optional(Sort, 'createdAt')),
  dir: field('Direction of the sort.', v.optional(Direction, 'desc')),
  columns: field(
    'Columns of the list in their order; null keeps each person’s own choice.',
    v.optional(v.nullable(Columns), null),
  ),
};

/** `POST /contacts/views`. */
export const CreateView = v.object(viewParts);
export type CreateView = v.InferOutput<typeof CreateView>;

/** `PATCH /contacts/views/{viewId}`: what is absent stays. */
export const PatchView = v.object({
  name: field('New name of the view.', v.optional(viewParts.name)),
  filter: field('The contacts that the view shows.', v.optional(FilterBody)),
  sort: field('What to sort by.', v.optional(Sort)),
  dir: field('Direction of the sort.', v.optional(Direction)),
  columns: field('Columns of the list in their order, or null.', v.optional(v.nullable(Columns))),
});
export type PatchView = v.InferOutput<typeof PatchView>;

/** A saved view of the list of contacts. */
export const ViewBody = v.object({
  id: field('ID of the view.', Uuid),
  name: field('Name of the view.', v.string()),
  filter: field(
    'The contacts that the view shows.',
    v.object({
      search: field('Text in the email address; absent when the view does not search.', v.optional(v.string())),
      subscribed: field('Subscription state of the contacts; absent for both.', v.optional(v.boolean())),
      condition: field(
        'Condition that the contacts match; null or absent for any contact.',
        v.nullish(describedBy(v.record(v.string(), v.unknown()), ConditionShape)),
      ),
    }),
  ),
  sort: field('What the list is sorted by.', v.picklist(contactSorts)),
  dir: field('Direction of the sort.', v.picklist(['asc', 'desc'])),
  columns: field('Columns of the list in their order, or null.', v.nullable(v.array(v.string()))),
  createdAt: field('Time at which the view was created.', Instant),
  updatedAt: field('Time of the last change of the view.', Instant),
});
export type ViewBody = v.InferOutput<typeof ViewBody>;

/** All saved views of a project, by name. */
export const ViewList = v.object({ data: field('Saved views of the project, by name.', v.array(ViewBody)) });

nameSchemas({ ContactFilter: FilterBody, ContactView: ViewBody, ContactViewList: ViewList });
