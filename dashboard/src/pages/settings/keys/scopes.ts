import type { components } from '../../../api/schema.d.ts';

/** A key with scopes, as the list of keys answers it. */
export type ApiKey = components['schemas']['UpdateProjectApiKeyResult'];
export type Scope = ApiKey['scopes'][number];

/** The permissions of each area of the API, by column of the matrix. */
export const scopeAreas: readonly { name: string; read?: Scope; write?: Scope; send?: Scope }[] = [
  { name: 'Emails', read: 'emails:read', send: 'emails:send' },
  { name: 'Events', write: 'events:write' },
  { name: 'Contacts and segments', read: 'contacts:read', write: 'contacts:write' },
  { name: 'Erasure of contacts', write: 'contacts:erase' },
  { name: 'Templates and images', write: 'templates' },
  { name: 'Campaigns', read: 'campaigns:read', write: 'campaigns:write', send: 'campaigns:send' },
  { name: 'Workflows', read: 'workflows:read', write: 'workflows:write' },
  { name: 'Webhooks', write: 'webhooks' },
  { name: 'Explanations', read: 'explain' },
  { name: 'Audit log', read: 'audit' },
];

/** The columns of the matrix. */
export const columns = { read: 'Read', write: 'Write', send: 'Send' } as const;

const every = scopeAreas.flatMap(({ read, write, send }) => [read, write, send].filter((scope) => scope !== undefined));

/** Choices of scopes that most keys have. */
export const presets: Record<string, { name: string; scopes: readonly Scope[] }> = {
  send: { name: 'Send emails', scopes: ['emails:send', 'emails:read'] },
  track: { name: 'Track contacts and events', scopes: ['events:write', 'contacts:read', 'contacts:write'] },
  read: {
    name: 'Read everything',
    scopes: every.filter((scope) => scope.endsWith(':read') || scope === 'explain' || scope === 'audit'),
  },
  all: { name: 'Everything', scopes: every },
};
