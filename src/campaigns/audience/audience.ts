import { conditionQuery } from '../../contacts/conditions.ts';
import { countFitting } from '../../contacts/list-queries.ts';
import { maxLevels } from '../../lib/conditions/condition.ts';
import { conflict, invalid } from '../../lib/errors.ts';
import { type FieldProblem, jsonType } from '../../lib/validation/problems.ts';
import { Segment, storedDefinition } from '../../segments/definition.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import type { TemplateType } from '../../templates/queries.ts';
import { CampaignLedgerSum } from '../entity.ts';
import { gotVersion, isMissed } from '../results/verdicts.ts';
import type { AudienceType, EarlierRecipients } from '../schema.ts';

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
  /** Set where it goes to those who got certain versions instead. */
  correction?: EarlierRecipients | null | undefined;
}

/**
 * Whether an unsubscribed contact is left out: a TRANSACTIONAL campaign goes to everybody, the others to subscribed
 * contacts only, whatever else chooses the audience (docs/contract/campaigns-and-workflows.md#2-3).
 */
export function needsSubscription(type: TemplateType): boolean {
  return type !== 'TRANSACTIONAL';
}

/**
 * Returns the `source_type` of a campaign's ledger rows: a campaign of type TRANSACTIONAL counts as such mail
 * (docs/contract/campaigns-and-workflows.md#1-2).
 */
export function sourceTypeOf(type: TemplateType): 'TRANSACTIONAL' | 'CAMPAIGN' {
  return type === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : 'CAMPAIGN';
}

/** The condition that a contact `c` belongs to the base audience. */
export function inBaseAudience({ projectId, type }: Pick<Audience, 'projectId' | 'type'>): Query {
  return sql`c.project_id = ${projectId}::uuid and (c.subscribed or not ${needsSubscription(type)}::boolean)`;
}

/**
 * Returns the condition over the contact `c` that chooses among the base audience. A segment that is gone has no members. `now` is the
 * instant that windows of time count back from.
 * @throws 400 for a stored condition that can no longer be read, 409 for the recipients of a campaign whose mail retention has removed
 */
export async function audienceRule(db: Database, audience: Audience, now: Date): Promise<Query> {
  const { projectId, audienceType, audienceCondition, segmentId, resendOf, resendSeq, correction } = audience;
  if (resendOf) {
    // A part of the ledger would reach a part of them, without a word.
    if ((await db.session().em.count(CampaignLedgerSum, { campaignId: resendOf, sendSeq: resendSeq ?? 0 })) > 0)
      throw conflict('The recipients of the earlier campaign are no longer kept', { resendOf });
    return sql`c.id in (select e.contact_id from emails e
      where e.campaign_id = ${resendOf}::uuid and e.send_seq = ${resendSeq}::int
        and ${correction ? gotVersion('e', correction) : raw(isMissed('e'))})`;
  }
  if (audienceType === 'ALL') return raw('true');
  if (audienceType === 'FILTERED') return audienceCondition ? compiled(audienceCondition) : nobody;
  const segment = segmentId
    ? await db.session().em.findOne(Segment, { projectId, id: segmentId }, { disableIdentityMap: true })
    : null;
  if (segment === null) return nobody;
  // A DYNAMIC segment is asked live, tracked or not: its membership rows may trail by some seconds
  // (docs/contract/campaigns-and-workflows.md#2-3).
  if (segment.type === 'DYNAMIC') return compiled(segment.condition);
  return sql`c.id in (select m.contact_id from segment_memberships m where m.segment_id = ${segmentId}::uuid and m.exited_at is null)`;

  async function compiled(tree: unknown): Promise<Query> {
    const { condition, segments } = await storedDefinition(db, projectId, tree);
    return sql`(${conditionQuery(condition, { projectId, now, segments, reach: 'all' })})`;
  }
}

const nobody = raw('false');

/** How many contacts the audience has now. @throws 400 for a stored condition that can no longer be read */
export async function audienceSize(db: Database, audience: Audience, now: Date): Promise<number> {
  const rule = await audienceRule(db, audience, now);
  return countFitting(db, audience.projectId, join([inBaseAudience(audience), rule], ' and '));
}

/** Tells audiences apart by who is in them, whatever their sizes. @throws 400 for a stored condition that can no longer be read */
export async function audienceMark(db: Database, audience: Audience, now: Date): Promise<string> {
  const rule = await audienceRule(db, audience, now);
  const row = await db.row<{ mark: string }>(sql`
    select concat_ws(' ', count(*), sum(hashtextextended(c.id::text, 0)::numeric), bit_xor(hashtextextended(c.id::text, 1))) as mark
    from contacts c where ${inBaseAudience(audience)} and ${rule}`);
  return row?.mark ?? '';
}

/** How many contacts an audience has now, and how many more it would have if all of them were subscribed. */
export async function audienceCounts(
  db: Database,
  audience: Audience,
  now: Date,
): Promise<{ recipients: number; unsubscribed: number }> {
  const rule = await audienceRule(db, audience, now);
  const leavesOut = needsSubscription(audience.type);
  const row = await db.row<{ recipients: number; unsubscribed: number }>(sql`
    select (count(*) filter (where c.subscribed or not ${leavesOut}::boolean))::int as recipients,
      (count(*) filter (where not c.subscribed and ${leavesOut}::boolean))::int as unsubscribed
    from contacts c where c.project_id = ${audience.projectId}::uuid and ${rule}`);
  return row ?? { recipients: 0, unsubscribed: 0 };
}

const mostProblems = 20;

/**
 * Refuses a condition that is no tree of groups and filters at all. What its filters say is checked by
 * `checkedDefinition`, whose complaints are 400s (docs/contract/campaigns-and-workflows.md#2-5: malformed 422, semantically
 * invalid 400).
 * @throws 422 naming each place
 */
export function checkConditionShape(tree: unknown, field = 'audienceCondition'): void {
  const problems: FieldProblem[] = [];
  condition(tree, field, 1);
  if (problems.length > 0) throw invalid(problems.slice(0, mostProblems));

  function condition(node: unknown, place: string, level: number): void {
    // Deeper ones are refused as a whole later, and are not walked into here.
    if (level > maxLevels || problems.length >= mostProblems || !object(node, place)) return;
    if (node.logic !== 'AND' && node.logic !== 'OR')
      add(
        `${place}.logic`,
        typeof node.logic === 'string' ? 'invalid_enum_value' : 'invalid_type',
        'must be AND or OR',
      );
    if (!list(node.groups, `${place}.groups`)) return;
    if (node.groups.length === 0) add(`${place}.groups`, 'too_small', 'must hold at least one group');
    for (const [index, group] of node.groups.entries()) groupOf(group, `${place}.groups.${index}`, level);
  }

  function groupOf(node: unknown, place: string, level: number): void {
    if (problems.length >= mostProblems || !object(node, place)) return;
    if (list(node.filters, `${place}.filters`))
      for (const [index, filter] of node.filters.entries()) filterOf(filter, `${place}.filters.${index}`);
    if (node.conditions !== undefined && node.conditions !== null)
      condition(node.conditions, `${place}.conditions`, level + 1);
  }

  function filterOf(node: unknown, place: string): void {
    if (problems.length >= mostProblems || !object(node, place)) return;
    for (const key of ['field', 'operator'])
      if (typeof node[key] !== 'string') add(`${place}.${key}`, 'invalid_type', 'must be a string', node[key]);
  }

  function object(node: unknown, place: string): node is Record<string, unknown> {
    if (typeof node === 'object' && node !== null && !Array.isArray(node)) return true;
    add(place, 'invalid_type', 'must be an object', node);
    return false;
  }

  function list(node: unknown, place: string): node is unknown[] {
    if (Array.isArray(node)) return true;
    add(place, 'invalid_type', 'must be an array', node);
    return false;
  }

  function add(place: string, code: string, message: string, received?: unknown): void {
    problems.push({
      field: place,
      code,
      message,
      ...(code === 'invalid_type' ? { received: jsonType(received) } : {}),
    });
  }
}
