import { ContactPage } from '../../contacts/schema.ts';
import { csvReply, inProject, route } from '../../http/route.ts';
import { CreateView, ExportContacts, PatchView, SearchContacts, ViewBody, ViewList } from './schema.ts';
import { createView, deleteView, exportContacts, listViews, patchView, searchContacts } from './views.ts';

const pros = {
  logic: 'AND' as const,
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
};
const views = { access: 'dashboard', tag: 'contacts' } as const;
const ids = { viewId: 'saved view' };

/** Lists of contacts by any field: pages, files, and views that are kept. */
export const contactListRoutes = [
  route.post('/contacts/search', {
    bareRefusals: [400],
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'Search contacts by any field',
    operationId: 'searchContacts',
    description: 'A page of the contacts that match a filter, whose condition is a tree as segments have it.',
    body: SearchContacts,
    example: { filter: { subscribed: true, condition: pros }, sort: 'email', dir: 'asc' },
    bodyLimit: 'data',
    reply: ContactPage,
    handle: ({ app, db, project, body }) => searchContacts(db, project.id, body, app.clock()),
  }),
  route.post('/contacts/export', {
    bareRefusals: [400],
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'Export contacts as CSV',
    operationId: 'exportContacts',
    description: 'A file of the contacts that a filter leaves, with the columns you name. The audit log notes it.',
    body: ExportContacts,
    example: { filter: { condition: pros }, columns: ['email', 'data.plan', 'createdAt'] },
    bodyLimit: 'data',
    textReply: 'text/csv',
    handle: async ({ app, db, project, body }) =>
      csvReply(await exportContacts(db, project.id, body, app.clock()), 'contacts.csv'),
  }),
  route.get('/contacts/views', {
    ...views,
    scope: 'contacts:read',
    summary: 'List saved views of contacts',
    operationId: 'listContactViews',
    reply: ViewList,
    handle: ({ db, project }) => listViews(db, project.id),
  }),
  route.post('/contacts/views', {
    bareRefusals: [400],
    ...views,
    scope: 'contacts:write',
    refusals: [409],
    summary: 'Save a view of contacts',
    operationId: 'createContactView',
    description: 'A filter, a sort and columns under a name that everyone in the project sees.',
    status: 201,
    body: CreateView,
    example: { name: 'Pro customers', filter: { condition: pros }, columns: ['email', 'data.plan'] },
    bodyLimit: 'data',
    reply: ViewBody,
    handle: ({ app, db, project, body }) => createView(db, project.id, body, app.clock()),
  }),
  route.patch('/contacts/views/:viewId', {
    bareRefusals: [400],
    ...views,
    scope: 'contacts:write',
    refusals: [409],
    summary: 'Update a saved view',
    operationId: 'updateContactView',
    ids,
    body: PatchView,
    example: { name: 'Customers on Pro' },
    bodyLimit: 'data',
    reply: ViewBody,
    handle: ({ app, db, project, params, body }) => patchView(db, project.id, params.viewId, body, app.clock()),
  }),
  route.delete('/contacts/views/:viewId', {
    ...views,
    scope: 'contacts:write',
    summary: 'Delete a saved view',
    operationId: 'deleteContactView',
    ids,
    status: 204,
    handle: ({ db, project, params }) => deleteView(db, project.id, params.viewId),
  }),
];
