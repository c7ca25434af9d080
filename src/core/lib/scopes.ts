/** What a key may be allowed to do (docs/contract/reach.md#3); a route names the one it needs. */
export const scopes = [
  'emails:send',
  'emails:read',
  'events:write',
  'contacts:read',
  'contacts:write',
  'contacts:erase',
  'templates',
  'campaigns:read',
  'campaigns:write',
  'campaigns:send',
  'workflows:read',
  'workflows:write',
  'webhooks',
  'explain',
  'audit',
] as const;
export type Scope = (typeof scopes)[number];
