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
    returns: 'The page of contacts that match, in the order of `sort`, with the `cursor` of the next page.',
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
    returns: 'The CSV file, with one row for each contact that matches.',
    textReply: 'text/csv',
    handle: async ({ app, db, project, body }) =>
      csvReply(await exportContacts(db, project.id, body, app.clock()), 'contacts.csv'),
  }),
  route.get('/contacts/views', {
    ...views,
    scope: 'contacts:read',
    summary: 'List saved views of contacts',
    operationId: 'listContactViews',
    returns: 'All saved views of the project, sorted by name.',
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
    returns: 'The new view.',
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
    returns: 'The view with its changes.',
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
    returns: 'The view is deleted.',
    handle: ({ db, project, params }) => deleteView(db, project.id, params.viewId),
  }),
];
