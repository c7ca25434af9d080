import type { components } from '../../../api/schema.d.ts';

/** One change, as the log answers it. */
export type Change = components['schemas']['GetProjectAuditLogResult']['data'][number];

/** Who may have made a change. */
export const kinds: Record<Change['actor']['kind'], string> = {
  user: 'People',
  key: 'API keys',
  mcp: 'AI assistants',
  system: 'Fernpost',
};

/** The subjects of changes, by the beginning of their action. */
export const areas: Record<string, string> = {
  api_key: 'API keys',
  campaign: 'Campaigns',
  contact: 'Contacts',
  domain: 'Domains',
  email: 'Emails',
  contact_field: 'Fields',
  import: 'Imports',
  mcp: 'AI plans',
  member: 'Members',
  project: 'Project',
  segment: 'Segments',
  suppression_rule: 'Suppression rules',
  template: 'Templates',
  webhook_endpoint: 'Webhook endpoints',
  workflow: 'Workflows',
};

/** An action as words: `api_key.rotated` becomes `API key rotated`. */
export function actionText(action: string): string {
  const words = action
    .replaceAll(/[._]/g, ' ')
    .replace(/^api\b/, 'API')
    .replace(/^mcp\b/, 'AI plan')
    .replace(/\bcancelled\b/, 'canceled')
    .replace(/\bcanary ended\b/, 'continued to everyone else');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Who made a change, by name where there is one. */
export function actorText({ kind, id, name }: Change['actor']): string {
  if (kind === 'system') return 'Fernpost';
  if (kind === 'user') return name ?? 'Deleted account';
  if (id === null) return 'Secret key';
  return kind === 'mcp' ? `AI assistant with ${name ?? 'a deleted key'}` : `Key ${name ?? 'that was deleted'}`;
}

/** The fields that a change touched, each as it was and as it became. */
export function differences({ before, after }: Change): { field: string; before: string; after: string }[] {
  return [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].map((field) => ({
    field,
    before: valueText(before?.[field]),
    after: valueText(after?.[field]),
  }));
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
