import { type Condition, parseCondition } from '../lib/conditions/condition.ts';
import { mentionsEvent, mentionsField } from '../lib/conditions/segments.ts';
import { bareBadRequest } from '../lib/errors.ts';
import { type Database, type Query, sql } from '../store/sql.ts';
import { refusing } from './conditions.ts';

/** A segment, campaign or workflow that relies on something. */
export interface Use {
  id: string;
  name: string;
}

/** Everything in a project that relies on a field or an event. */
export interface Uses {
  segments: Use[];
  campaigns: Use[];
  workflows: Use[];
}

/** Returns everything that relies on a contact field: `data.plan`, `email`. Campaigns that are sent or cancelled do not count. */
export async function usesOfField(db: Database, projectId: string, field: string): Promise<Uses> {
  const mentions = (condition: Condition) => mentionsField(condition, field);
  const [segments, campaigns, workflows] = await Promise.all([
    whose(db, conditionsOfSegments(projectId), mentions),
    // A condition that came with another type of audience is stored as it was sent, and has no effect.
    whose(
      db,
      sql`select id, name, audience_condition as condition from campaigns
        where project_id = ${projectId} and audience_type = 'FILTERED' and audience_condition is not null
          and status not in ('SENT', 'CANCELLED')
        order by created_at, id`,
      mentions,
    ),
    automationsUsingField(db, projectId, field),
  ]);
  return { segments, campaigns, workflows };
}

/** Returns everything that relies on an event: conditions that ask for it, and workflows that it starts or that wait for it. */
export async function usesOfEvent(db: Database, projectId: string, name: string): Promise<Uses> {
  const [segments, workflows] = await Promise.all([
    whose(db, conditionsOfSegments(projectId), (condition) => mentionsEvent(condition, name)),
    name.includes('\0')
      ? []
      : db.rows<Use>(sql`
          select a.id, a.name from automations a
          where a.project_id = ${projectId} and (a.event_name = ${name} or exists (
            select from automation_steps s
            where s.automation_id = a.id and s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = ${name}))
          order by a.created_at, a.id`),
  ]);
  return { segments, campaigns: [], workflows };
}

/** Refuses to delete what is in use, with the first five names. @throws bare 400 */
export function refuseInUse(name: string, { segments, campaigns, workflows }: Uses): void {
  const uses = [
    ...segments.map((segment) => `segment "${segment.name}"`),
    ...campaigns.map((campaign) => `campaign "${campaign.name}"`),
    ...workflows.map((workflow) => `workflow "${workflow.name}"`),
  ];
  if (uses.length > 0) throw bareBadRequest(`"${name}" is in use by ${uses.slice(0, 5).join(', ')}`);
}

/** The automations whose schedule enrolls a segment; without those that the key `except` has enabled. */
export function automationsUsingSegment(
  db: Database,
  projectId: string,
  segmentId: string,
  except: string | null = null,
): Promise<Use[]> {
  return db.rows<Use>(sql`
    select a.id, a.name from automations a
    where a.project_id = ${projectId} and a.trigger_type = 'SCHEDULE' and a.trigger_config ->> 'segmentId' = ${segmentId}
      and (${except}::uuid is null or a.limited_by is distinct from ${except}::uuid)
    order by a.created_at, a.id`);
}

// A CONDITION asks for a field, an UPDATE_CONTACT writes it.
async function automationsUsingField(db: Database, projectId: string, field: string): Promise<Use[]> {
  if (field.includes('\0')) return [];
  const key = field.startsWith('data.') ? field.slice('data.'.length) : '';
  const names = key === '' ? [`contact.${field}`] : [field, `contact.${field}`];
  return db.rows<Use>(sql`
    select a.id, a.name from automations a
    where a.project_id = ${projectId} and exists (
      select from automation_steps s where s.automation_id = a.id and (
        s.type = 'CONDITION' and s.config ->> 'field' = any(${names}::text[])
        or s.type = 'UPDATE_CONTACT' and (s.config -> 'updates' ? ${key} or s.config -> 'data' ? ${key})))
    order by a.created_at, a.id`);
}

function conditionsOfSegments(projectId: string): Query {
  return sql`select id, name, condition from segments
    where project_id = ${projectId} and condition is not null order by created_at, id`;
}

async function whose(db: Database, rows: Query, test: (condition: Condition) => boolean): Promise<Use[]> {
  const conditional = await db.rows<Use & { condition: unknown }>(rows);
  const found = conditional.filter(({ condition }) => test(refusing(() => parseCondition(condition))));
  return found.map(({ id, name }) => ({ id, name }));
}
