import * as v from 'valibot';
import { inProject, reply, route } from '../http/route.ts';
import { bareBadRequest, bareInvalid } from '../lib/errors.ts';
import { field } from '../lib/validation/fields.ts';
import { refuseErased } from './erased.ts';
import { ContactHistoryPage, getContactAt, ListHistory, listHistory, ReadContact } from './history-service.ts';
import {
  ContactBody,
  ContactHoldout,
  ContactPage,
  DeleteContact,
  ListContacts,
  LookupContacts,
  LookupResult,
  PatchContact,
  UpsertContact,
} from './schema.ts';
import {
  contactHoldout,
  deleteContact,
  listContacts,
  lookupContacts,
  patchContact,
  restoreContact,
  upsertContact,
} from './service.ts';

/** The contacts of a project. */
export const contactRoutes = [
  route.get('/contacts', {
    ...inProject('contacts:read'),
    summary: 'List contacts',
    query: ListContacts,
    returns: 'The page of contacts, newest first unless `sort` or `dir` says otherwise.',
    reply: ContactPage,
    handle: ({ db, project, query }) => listContacts(db, project.id, query),
  }),
  route.post('/contacts', {
    ...inProject('contacts:write'),
    summary: 'Create or update a contact by address',
    operationId: 'upsertContact',
    description: '201 when the contact is new, 200 when it existed.',
    body: UpsertContact,
    example: { email: 'ada@example.com', subscribed: true, data: { firstName: 'Ada', plan: 'pro' } },
    bodyLimit: 'data',
    bodyError: (_, body) => {
      const { email } = body as { email?: unknown };
      return email === undefined || email === null || email === '' ? bareBadRequest('Email is required') : null;
    },
    returns: {
      200: 'The existing contact with its changes; `_meta.isUpdate` is true.',
      201: 'The new contact; `_meta.isNew` is true.',
    },
    reply: v.object({
      ...ContactBody.entries,
      _meta: field(
        'Whether the request created or updated the contact.',
        v.object({
          isNew: field('Whether the request created the contact.', v.boolean()),
          isUpdate: field('Whether the contact existed before the request.', v.boolean()),
        }),
      ),
    }),
    async handle({ app, db, project, body }) {
      await refuseErased(app.erasedAddresses, project.id, [{ field: 'email', email: body.email }]);
      const { isNew, ...contact } = await upsertContact(db, project.id, body);
      return reply(isNew ? 201 : 200, { ...contact, _meta: { isNew, isUpdate: !isNew } });
    },
  }),
  route.post('/contacts/lookup', {
    ...inProject('contacts:read'),
    summary: 'Look up which addresses are contacts',
    operationId: 'lookupContacts',
    description: 'Takes 1 to 500 addresses and returns them in the spelling and order of the request.',
    body: LookupContacts,
    example: { emails: ['ada@example.com', 'grace@example.com'] },
    bodyLimit: 'data',
    bodyError: bareInvalid,
    returns: 'The addresses that are contacts in `found`, all others in `notFound`.',
    reply: LookupResult,
    handle: ({ db, project, body }) => lookupContacts(db, project.id, body),
  }),
  route.get('/contacts/:id', {
    ...inProject('contacts:read'),
    summary: 'Get a contact',
    description:
      'With `at` as it was then: 404 when it was created later, 410 `TOO_LATE` when that is older than CONTACT_HISTORY_DAYS.',
    ids: { id: 'contact' },
    query: ReadContact,
    returns: 'The contact, with its data and subscription; with `at`, as it was then.',
    reply: ContactBody,
    handle: ({ app, db, project, params, query }) =>
      getContactAt(db, project.id, params.id, query.at, app.config.CONTACT_HISTORY_DAYS),
  }),
  route.get('/contacts/:id/history', {
    ...inProject('contacts:read'),
    summary: 'List changes of a contact',
    operationId: 'listContactHistory',
    description: 'Newest first, each with what changed and why. Kept for CONTACT_HISTORY_DAYS.',
    ids: { id: 'contact' },
    query: ListHistory,
    returns: 'The page of changes, newest first.',
    reply: ContactHistoryPage,
    handle: ({ db, project, params, query }) => listHistory(db, project.id, params.id, query),
  }),
  route.get('/contacts/:id/holdout', {
    ...inProject('contacts:read'),
    summary: 'Get whether a contact is in the control group',
    operationId: 'getContactHoldout',
    ids: { id: 'contact' },
    returns: 'Whether the contact gets no marketing email because of the control group (`PUT /projects/{id}/holdout`).',
    reply: ContactHoldout,
    handle: ({ db, project, params }) => contactHoldout(db, project.id, params.id),
  }),
  route.patch('/contacts/:id', {
    refusals: [409],
    ...inProject('contacts:write'),
    summary: 'Update a contact',
    ids: { id: 'contact' },
    body: PatchContact,
    example: { subscribed: true, data: { plan: 'team' } },
    bodyLimit: 'data',
    returns: 'The contact with its changes.',
    reply: ContactBody,
    async handle({ app, db, project, params, body }) {
      if (body.email) await refuseErased(app.erasedAddresses, project.id, [{ field: 'email', email: body.email }]);
      return patchContact(db, project.id, params.id, body);
    },
  }),
  route.delete('/contacts/:id', {
    ...inProject('contacts:write'),
    summary: 'Delete a contact with its events and emails',
    description: 'Permanently: at once, or with `restorable=true` after 7 days.',
    ids: { id: 'contact' },
    query: DeleteContact,
    status: 204,
    returns: 'The contact is deleted; with `restorable=true`, it can be restored for 7 days.',
    handle: ({ db, project, params, query }) =>
      deleteContact(db, project.id, params.id, { restorable: query.restorable === 'true' }),
  }),
  route.post('/contacts/:id/restore', {
    refusals: [409],
    ...inProject('contacts:write'),
    summary: 'Restore a deleted contact',
    description:
      'One that was deleted with `restorable=true`, by a bulk job or by an undo, within 7 days: under its id, with its segments, mail, events and history. 409 when another contact has its address now.',
    ids: { id: 'contact' },
    returns: 'The restored contact.',
    reply: ContactBody,
    handle: ({ db, project, params }) => restoreContact(db, project.id, params.id),
  }),
];
