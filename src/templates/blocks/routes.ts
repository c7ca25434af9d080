import { route } from '../../http/route.ts';
import {
  CreateSavedBlock,
  createBlock,
  deleteBlock,
  listBlocks,
  PatchSavedBlock,
  patchBlock,
  SavedBlockBody,
  SavedBlockList,
} from './service.ts';

const shared = { scope: 'templates', access: 'dashboard', tag: 'saved blocks' } as const;
const ids = { id: 'saved block' };

/** Blocks that the project keeps for its emails. */
export const blockRoutes = [
  route.get('/blocks', {
    ...shared,
    summary: 'List saved blocks',
    operationId: 'listSavedBlocks',
    returns: 'All saved blocks of the project, sorted by name.',
    reply: SavedBlockList,
    handle: ({ db, project }) => listBlocks(db, project.id),
  }),
  route.post('/blocks', {
    ...shared,
    refusals: [409],
    summary: 'Save blocks under a name',
    operationId: 'createSavedBlock',
    description: 'The editor offers them in its menus and copies them into an email.',
    status: 201,
    body: CreateSavedBlock,
    example: {
      name: 'Signature',
      content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Your friends at Acme' }] }],
    },
    bodyLimit: 'document',
    returns: 'The new saved block.',
    reply: SavedBlockBody,
    handle: ({ db, project, body }) => createBlock(db, project.id, body),
  }),
  route.patch('/blocks/:id', {
    ...shared,
    summary: 'Rename or replace saved blocks',
    operationId: 'updateSavedBlock',
    description: 'Emails keep their copies.',
    ids,
    body: PatchSavedBlock,
    example: { name: 'Signature of the team' },
    bodyLimit: 'document',
    returns: 'The saved block with its changes.',
    reply: SavedBlockBody,
    handle: ({ db, project, params, body }) => patchBlock(db, project.id, params.id, body),
  }),
  route.delete('/blocks/:id', {
    ...shared,
    summary: 'Delete saved blocks',
    operationId: 'deleteSavedBlock',
    description: 'Emails keep their copies.',
    ids,
    status: 204,
    returns: 'The saved block is deleted.',
    handle: ({ db, project, params }) => deleteBlock(db, project.id, params.id),
  }),
];
