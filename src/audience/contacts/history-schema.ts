import { nameSchemas } from '@fernpost/openapi/names';
import { dayParameter, Instant, limitParameter } from '@fernpost/validation';
import * as v from 'valibot';
import { CursorParameter } from '../../core/lib/cursor.ts';
import { causeTypes } from './cause.ts';

/** `GET /contacts/{id}`. */
export const ReadContact = v.object({
  at: dayParameter('The contact as it was at this instant, such as `2026-11-01T12:00:00Z`; as it is when absent.'),
});

/** `GET /contacts/{id}/history`. */
export const ListHistory = v.object({ limit: limitParameter(50, 200), cursor: CursorParameter });
export type ListHistory = v.InferOutput<typeof ListHistory>;

/** Who asked for a change, as the API shows it. */
export const ChangeAuthor = v.pipe(
  v.nullable(
    v.object({
      kind: v.picklist(['user', 'key', 'mcp']),
      id: v.nullable(v.string()),
      name: v.nullable(v.string()),
    }),
  ),
  v.description('Who asked for it: a member by address, a key with scopes by name, or the secret key of the project.'),
);
export type ChangeAuthor = v.InferOutput<typeof ChangeAuthor>;

const ContactChangeBody = v.object({
  at: Instant,
  kind: v.pipe(
    v.picklist(['created', 'changed', 'deleted', 'restored']),
    v.description('What the change was. One that deleted or restored the contact has no fields.'),
  ),
  created: v.pipe(v.boolean(), v.description('The change created the contact: all of its data is in `after`.')),
  cause: v.object({
    type: v.picklist(causeTypes),
    id: v.pipe(
      v.nullable(v.string()),
      v.description(
        'Of the job, of the workflow, of the segment it was added to, or of the mail that led to the change.',
      ),
    ),
    by: ChangeAuthor,
  }),
  before: v.pipe(v.record(v.string(), v.unknown()), v.description('Fields that changed, as they were.')),
  after: v.pipe(v.record(v.string(), v.unknown()), v.description('Fields that changed, as they became.')),
  subscribed: v.nullable(v.object({ before: v.nullable(v.boolean()), after: v.boolean() })),
  email: v.nullable(v.object({ before: v.string(), after: v.string() })),
});
export type ContactChangeBody = v.InferOutput<typeof ContactChangeBody>;

/** A page of changes, the latest first. */
export const ContactHistoryPage = v.object({ data: v.array(ContactChangeBody), cursor: v.nullable(v.string()) });
export type ContactHistoryPage = v.InferOutput<typeof ContactHistoryPage>;

nameSchemas({ ContactChange: ContactChangeBody, ContactHistory: ContactHistoryPage });
