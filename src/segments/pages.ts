import { compileCondition } from '../conditions/sql.ts';
import { type ContactRow, contactBody } from '../contacts/queries.ts';
import type { Sql } from '../db/sql.ts';
import { type OffsetPage, offsetAnswer } from '../lib/offset-page.ts';
import type { Definition } from './definition.ts';
import { countMatching, countMembers } from './queries.ts';

const columns = `c.id, c.email, c.subscribed, c.data, c.project_id as "projectId",
  c.created_at::text as "createdAt", c.updated_at::text as "updatedAt"`;

/** A page of the contacts that a condition holds for now, newest first. */
export async function pageOfMatching(sql: Sql, projectId: string, definition: Definition, page: OffsetPage, now: Date) {
  const total = await countMatching(sql, projectId, definition, now);
  const { condition, segments } = definition;
  const compiled = compileCondition(condition, { projectId, now, segments, firstParameter: 4 });
  const rows = await sql.rows<ContactRow>(
    `select ${columns} from contacts c where c.project_id = $1 and ${compiled.sql}
     order by c.created_at desc, c.id desc limit $2 offset $3`,
    [projectId, page.pageSize, page.offset, ...compiled.params],
  );
  return offsetAnswer(rows.map(contactBody), page, total);
}

/** A page of the current members of a STATIC segment, latest joined first. */
export async function pageOfMembers(sql: Sql, segmentId: string, page: OffsetPage) {
  const [rows, total] = await Promise.all([
    sql.rows<ContactRow>(
      `select ${columns} from segment_memberships m join contacts c on c.id = m.contact_id
       where m.segment_id = $1 and m.exited_at is null
       order by m.entered_at desc, m.contact_id desc limit $2 offset $3`,
      [segmentId, page.pageSize, page.offset],
    ),
    countMembers(sql, segmentId),
  ]);
  return offsetAnswer(rows.map(contactBody), page, total);
}
