import { type Sql, statement } from '../../core/database/sql.ts';

/** An automation that relies on something. */
export interface AutomationUse {
  id: string;
  name: string;
}

const event = statement(
  'automations.using_event',
  `select a.id, a.name from automations a
   where a.project_id = $1 and (a.event_name = $2 or exists (
     select from automation_steps s
     where s.automation_id = a.id and s.type = 'WAIT_FOR_EVENT' and s.config ->> 'eventName' = $2))
   order by a.created_at, a.id`,
);

/** The automations that an event starts, or that wait for it in a step. */
export function automationsUsingEvent(sql: Sql, projectId: string, eventName: string): Promise<AutomationUse[]> {
  return eventName.includes('\0') ? Promise.resolve([]) : sql.rows<AutomationUse>(event, [projectId, eventName]);
}

const field = statement(
  'automations.using_field',
  `select a.id, a.name from automations a
   where a.project_id = $1 and exists (
     select from automation_steps s where s.automation_id = a.id and (
       s.type = 'CONDITION' and s.config ->> 'field' = any($2::text[])
       or s.type = 'UPDATE_CONTACT' and (s.config -> 'updates' ? $3 or s.config -> 'data' ? $3)))
   order by a.created_at, a.id`,
);

/** The automations with a CONDITION that asks for a contact's field, or an UPDATE_CONTACT that writes it: `data.plan`, `email`. */
export function automationsUsingField(sql: Sql, projectId: string, contactField: string): Promise<AutomationUse[]> {
  if (contactField.includes('\0')) return Promise.resolve([]);
  const key = contactField.startsWith('data.') ? contactField.slice('data.'.length) : '';
  return sql.rows<AutomationUse>(field, [
    projectId,
    key === '' ? [`contact.${contactField}`] : [contactField, `contact.${contactField}`],
    key,
  ]);
}

const segment = statement(
  'automations.using_segment',
  `select a.id, a.name from automations a
   where a.project_id = $1 and a.trigger_type = 'SCHEDULE' and a.trigger_config ->> 'segmentId' = $2
   order by a.created_at, a.id`,
);

/** The automations whose schedule lets a segment in. */
export function automationsUsingSegment(sql: Sql, projectId: string, segmentId: string): Promise<AutomationUse[]> {
  return sql.rows<AutomationUse>(segment, [projectId, segmentId]);
}
