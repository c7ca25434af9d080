import { type Query, sql } from '../../core/database/sql.ts';
import { likeText } from '../../core/lib/text.ts';

/** Whether only names are subscribed to, each of which is a place in an index. */
export function isNarrow(events: readonly string[]): boolean {
  return !events.some((event) => event.endsWith('*'));
}

/** SQL: whether the name of an event is subscribed to. */
export function subscribes(name: Query, events: readonly string[]): Query {
  const likes = events.map((event) => likeText(event).replace(/\*$/, '%'));
  return sql`${name} like any(${likes}::text[])`;
}
