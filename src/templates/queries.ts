import { type Sql, statement } from '../db/sql.ts';

/** What a template does to the mail made from it (contract page 2, 1.2). */
export type TemplateType = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';

/** The parts of a template that make mail. */
export interface TemplateRow {
  id: string;
  subject: string;
  body: string;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
}

const find = statement(
  'templates.find',
  `select id, subject, body, "from", from_name as "fromName", reply_to as "replyTo", type
   from templates where project_id = $1 and id = $2`,
);

/** One template of the project, or null. */
export function findTemplate(sql: Sql, projectId: string, id: string): Promise<TemplateRow | null> {
  return sql.row<TemplateRow>(find, [projectId, id]);
}
