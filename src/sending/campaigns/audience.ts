import { compileCondition } from '../../audience/conditions/index.ts';
import { type Definition, storedDefinition } from '../../audience/segments/index.ts';
import type { TemplateType } from '../../content/templates/index.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import type { AudienceType } from './schema.ts';
import { isMissed } from './verdicts.ts';

/** Who a campaign goes to. */
export interface Audience {
  projectId: string;
  type: TemplateType;
  audienceType: AudienceType;
  audienceCondition?: unknown;
  segmentId?: string | null | undefined;
  /** Set on a campaign that goes to whom this send of another one missed; then nothing else chooses the audience. */
  resendOf?: string | null | undefined;
  resendSeq?: number | null | undefined;
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
 * The condition that a contact `c` belongs to the base audience. Parameters of every statement that uses it: $1 the
 * project, $2 whether only subscribed contacts count.
 */
export const baseAudience = 'c.project_id = $1::uuid and (c.subscribed or not $2::boolean)';

/** What chooses among the base audience: a condition over the contact `c` and the values of its placeholders. */
export interface AudienceRule {
  sql: string;
  params: readonly unknown[];
  /** Whether the rule leaves nobody out. */
  isWhole: boolean;
}

const whole: AudienceRule = { sql: 'true', params: [], isWhole: true };
const nobody: AudienceRule = { sql: 'false', params: [], isWhole: false };

/**
 * Compiles what chooses the audience, to stand in a statement whose own parameters end before `firstParameter`. A segment
 * that is gone has no members. `now` is the instant that windows of time count back from.
 * @throws 400 for a stored condition that can no longer be read
 */
export async function audienceRule(
  sql: Sql,
  audience: Audience,
  now: Date,
  firstParameter: number,
): Promise<AudienceRule> {
  const { projectId, audienceType, resendOf, resendSeq } = audience;
  if (resendOf) {
    const rows = `e.campaign_id = $${firstParameter}::uuid and e.send_seq = $${firstParameter + 1}::int and ${isMissed('e')}`;
    return {
      sql: `c.id in (select e.contact_id from emails e where ${rows})`,
      params: [resendOf, resendSeq],
      isWhole: false,
    };
  }
  if (audienceType === 'ALL') return whole;
  if (audienceType === 'SEGMENT') return segmentRule(sql, audience, now, firstParameter);
  if (!audience.audienceCondition) return nobody;
  const definition = await storedDefinition(sql, projectId, audience.audienceCondition);
  return compiled(projectId, definition, now, firstParameter);
}

const findSegment = statement(
  'campaigns.segment',
  'select type, condition from segments where project_id = $1 and id = $2',
);

// A DYNAMIC segment is asked live, tracked or not: its membership rows may trail by some seconds (contract page 2, 2.3).
async function segmentRule(sql: Sql, { projectId, segmentId }: Audience, now: Date, first: number) {
  const segment = segmentId
    ? await sql.row<{ type: string; condition: unknown }>(findSegment, [projectId, segmentId])
    : null;
  if (segment === null) return nobody;
  if (segment.type === 'DYNAMIC')
    return compiled(projectId, await storedDefinition(sql, projectId, segment.condition), now, first);
  const members = `select m.contact_id from segment_memberships m where m.segment_id = $${first}::uuid and m.exited_at is null`;
  return { sql: `c.id in (${members})`, params: [segmentId], isWhole: false };
}

function compiled(projectId: string, { condition, segments }: Definition, now: Date, firstParameter: number) {
  const expression = compileCondition(condition, { projectId, now, segments, reach: 'all', firstParameter });
  return { sql: `(${expression.sql})`, params: expression.params, isWhole: false };
}

const countWhole = statement(
  'campaigns.audience_size',
  `select count(*)::int as size from contacts c where ${baseAudience}`,
);

/** How many contacts the audience has now. @throws 400 for a stored condition that can no longer be read */
export async function audienceSize(sql: Sql, audience: Audience, now: Date): Promise<number> {
  const rule = await audienceRule(sql, audience, now, 3);
  const text = rule.isWhole
    ? countWhole
    : `select count(*)::int as size from contacts c where ${baseAudience} and ${rule.sql}`;
  const values = [audience.projectId, needsSubscription(audience.type), ...rule.params];
  return (await sql.row<{ size: number }>(text, values))?.size ?? 0;
}
