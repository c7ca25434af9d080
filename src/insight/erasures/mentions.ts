import { type Database, raw, sql } from '../../core/database/sql.ts';
import type { Mention } from './entity.ts';
import type { Subject } from './subject.ts';

/** What members write by hand, and data of other contacts: columns that are searched, and told in the certificate, but not changed. */
export const searched: Readonly<
  Record<string, { type: string; columns: readonly string[]; project?: string; id?: string }>
> = {
  templates: {
    type: 'template',
    columns: ['name', 'description', 'subject', 'body', 'from', 'from_name', 'reply_to', 'document'],
  },
  campaigns: {
    type: 'campaign',
    columns: ['name', 'description', 'subject', 'body', 'from', 'from_name', 'reply_to', 'document', 'audit_note'],
  },
  campaign_versions: {
    type: 'version of a campaign',
    columns: ['subject', 'body'],
    project: '(select c.project_id from campaigns c where c.id = campaign_id)',
    id: 'campaign_id',
  },
  saved_blocks: { type: 'block', columns: ['name', 'content'] },
  content_versions: { type: 'version', columns: ['content'], id: 'item_id' },
  brands: { type: 'brand', columns: ['kit'], id: 'project_id' },
  segments: { type: 'segment', columns: ['name', 'description'] },
  automations: { type: 'workflow', columns: ['name', 'description', 'trigger_config', 'event_name'] },
  automation_steps: {
    type: 'workflow step',
    columns: ['name', 'config', 'note'],
    project: '(select a.project_id from automations a where a.id = automation_id)',
  },
  automation_versions: {
    type: 'workflow version',
    columns: ['graph', 'notes'],
    project: '(select a.project_id from automations a where a.id = automation_id)',
  },
  suppression_rules: { type: 'suppression rule', columns: ['name', 'pattern'] },
  webhook_endpoints: { type: 'webhook endpoint', columns: ['url', 'description', 'disabled_reason'] },
  api_keys: { type: 'API key', columns: ['name'] },
  contact_views: { type: 'view of contacts', columns: ['name'] },
  contacts: { type: 'contact', columns: ['data'] },
};

const mostIds = 20;

/** Where the addresses still stand in what members wrote and in data of other contacts. */
export async function findMentions(db: Database, { projectId, pattern }: Subject): Promise<Mention[]> {
  if (pattern === null) return [];
  const mentions: Mention[] = [];
  for (const [table, { type, columns, project = 'project_id', id = 'id' }] of Object.entries(searched)) {
    const text = raw(`concat_ws(' ', ${columns.map((name) => `"${name}"`).join(', ')})`);
    const row = await db.row<{ count: number; ids: string[] }>(sql`
      select count(*)::int as count, coalesce((array_agg(${raw(id)}::text))[1:${raw(mostIds)}], '{}') as ids
      from ${raw(table)} where ${raw(project)} = ${projectId} and ${text} ~* ${pattern}`);
    if (row !== null && row.count > 0) mentions.push({ type, ...row });
  }
  return mentions;
}
