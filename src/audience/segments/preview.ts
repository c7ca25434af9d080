import type { Database } from '../../core/database/sql.ts';
import { offsetPage } from '../../core/lib/offset-page.ts';
import { contactBody } from '../contacts/index.ts';
import { checkedDefinition, conditionObject } from './definition.ts';
import { pageOfMatching } from './pages.ts';
import { countMatching } from './queries.ts';
import type { PreviewSegment } from './schema.ts';

const shown = offsetPage({ pageSize: '10' }, 10);

/**
 * Whom a condition finds that no segment has yet: how many, and the ten newest of them. Writes nothing.
 * @throws 400 for the condition, as creating a segment with it would
 */
export async function previewSegment(db: Database, projectId: string, body: PreviewSegment, now: Date) {
  const tree = conditionObject(body.condition, '"condition" must be an object');
  const definition = await checkedDefinition(db, projectId, tree);
  const [total, rows] = await Promise.all([
    countMatching(db, projectId, definition, now),
    pageOfMatching(db, projectId, definition, shown, now),
  ]);
  return { total, contacts: rows.map(contactBody) };
}
