import { type Sql, statement } from '../db/sql.ts';
import { badRequest } from '../lib/errors.ts';
import type { TemplateType } from '../templates/queries.ts';
import type { AudienceType } from './schema.ts';

/** Who a campaign goes to. */
export interface Audience {
  projectId: string;
  type: TemplateType;
  audienceType: AudienceType;
}

/**
 * Whether an unsubscribed contact is left out: a TRANSACTIONAL campaign goes to everybody, the others to subscribed
 * contacts only, whatever else chooses the audience (contract page 2, 2.3).
 */
export function needsSubscription(type: TemplateType): boolean {
  return type !== 'TRANSACTIONAL';
}

/** What a campaign's ledger rows call their `source_type`: one of type TRANSACTIONAL counts as such mail (page 2, 1.2). */
export function sourceTypeOf(type: TemplateType): 'TRANSACTIONAL' | 'CAMPAIGN' {
  return type === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : 'CAMPAIGN';
}

/**
 * The condition that a contact `ct` belongs to the base audience. Parameters of every statement that uses it: $1 the
 * project, $2 whether only subscribed contacts count.
 */
export const baseAudience = 'ct.project_id = $1::uuid and (ct.subscribed or not $2::boolean)';

/** @throws 400 for an audience that this version cannot choose yet */
export function checkAudience(audienceType: AudienceType): void {
  if (audienceType === 'ALL') return;
  throw badRequest(`"audienceType" ${audienceType} is not available yet: this version sends campaigns to ALL`, {
    available: ['ALL'],
  });
}

const count = statement(
  'campaigns.audience_size',
  `select count(*)::int as size from contacts ct where ${baseAudience}`,
);

/** How many contacts the audience has now. */
export async function audienceSize(sql: Sql, audience: Audience): Promise<number> {
  const row = await sql.row<{ size: number }>(count, [audience.projectId, needsSubscription(audience.type)]);
  return row?.size ?? 0;
}
