import { field, nameSchemas } from '@fernpost/openapi/names';
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
      kind: field(
        '`user`: a member. `key`: an API key. `mcp`: a language model that uses a key.',
        v.picklist(['user', 'key', 'mcp']),
      ),
      id: field(
        'ID of the user or of the key with scopes; null for the secret key of the project.',
        v.nullable(v.string()),
      ),
      name: field(
        'Email address of the user, or name of the key; null for the secret key of the project.',
        v.nullable(v.string()),
      ),
    }),
  ),
  v.description('Who asked for it: a member by address, a key with scopes by name, or the secret key of the project.'),
);
export type ChangeAuthor = v.InferOutput<typeof ChangeAuthor>;

const ContactChangeBody = v.object({
  at: field('Time of the change.', Instant),
  kind: field(
    'What the change was. One that deleted or restored the contact has no fields.',
    v.picklist(['created', 'changed', 'deleted', 'restored']),
  ),
  created: field('The change created the contact: all of its data is in `after`.', v.boolean()),
  cause: field(
    'What made the change.',
    v.object({
      type: field('Type of the cause.', v.picklist(causeTypes)),
      id: field(
        'Of the job, of the workflow, of the segment it was added to, or of the mail that led to the change.',
        v.nullable(v.string()),
      ),
      by: ChangeAuthor,
    }),
  ),
  before: field('Fields that changed, as they were.', v.record(v.string(), v.unknown())),
  after: field('Fields that changed, as they became.', v.record(v.string(), v.unknown())),
  subscribed: field(
    'The change of the subscription; null when it did not change.',
    v.nullable(
      v.object({
        before: field('Whether the contact was subscribed before; null for a new contact.', v.nullable(v.boolean())),
        after: field('Whether the contact was subscribed afterwards.', v.boolean()),
      }),
    ),
  ),
  email: field(
    'The change of the email address; null when it did not change.',
    v.nullable(
      v.object({
        before: field('Email address before the change.', v.string()),
        after: field('Email address after the change.', v.string()),
      }),
    ),
  ),
});
export type ContactChangeBody = v.InferOutput<typeof ContactChangeBody>;

/** A page of changes, the latest first. */
export const ContactHistoryPage = v.object({
  data: field('Changes of the contact, newest first.', v.array(ContactChangeBody)),
  cursor: field('Cursor of the next page; null on the last page.', v.nullable(v.string())),
});
export type ContactHistoryPage = v.InferOutput<typeof ContactHistoryPage>;

nameSchemas({ ContactChange: ContactChangeBody, ContactHistory: ContactHistoryPage });
