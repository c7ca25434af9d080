import type { Sql } from '../../core/database/sql.ts';
import { type Condition, mentionsEvent, mentionsField, parseCondition } from '../conditions/index.ts';

/** Something that relies on a field or an event. */
export interface Use {
  id: string;
  name: string;
}

interface Conditional extends Use {
  condition: unknown;
}

/** The segments of the project whose conditions mention a contact field at any depth. */
export async function segmentsMentioning(sql: Sql, projectId: string, field: string): Promise<Use[]> {
  return whose(await segmentConditions(sql, projectId), (condition) => mentionsField(condition, field));
}

/** The segments of the project whose conditions ask for an event at any depth. */
export async function segmentsAsking(sql: Sql, projectId: string, eventName: string): Promise<Use[]> {
  return whose(await segmentConditions(sql, projectId), (condition) => mentionsEvent(condition, eventName));
}

/**
 * The campaigns of the project, not sent or cancelled, whose audience is chosen by a condition that mentions a contact
 * field. A condition that came with another kind of audience is kept as it was given, and nobody goes by it.
 */
export async function campaignsMentioning(sql: Sql, projectId: string, field: string): Promise<Use[]> {
  const rows = await sql.rows<Conditional>(
    `select id, name, audience_condition as condition from campaigns
     where project_id = $1 and audience_type = 'FILTERED' and audience_condition is not null and status not in ('SENT', 'CANCELLED')
     order by created_at, id`,
    [projectId],
  );
  return whose(rows, (condition) => mentionsField(condition, field));
}

function segmentConditions(sql: Sql, projectId: string): Promise<Conditional[]> {
  return sql.rows<Conditional>(
    'select id, name, condition from segments where project_id = $1 and condition is not null order by created_at, id',
    [projectId],
  );
}

function whose(rows: readonly Conditional[], test: (condition: Condition) => boolean): Use[] {
  return rows.filter(({ condition }) => test(parseCondition(condition))).map(({ id, name }) => ({ id, name }));
}
