import { join, type Query, raw, sql } from './sql.ts';

/** Of an event: a value, or SQL of the row that the event is made from. */
type Part = Query | string | null;

/** Events that are to be recorded. Absent parts are null, but for the ID, which the database makes. */
export interface NewEvent {
  id?: Part;
  projectId: Part;
  contactId?: Part;
  emailId?: Part;
  name: Part;
  /** JSON: a value, its text, or SQL of it. */
  data?: Part | object;
  /** The instant of the mail that the event reports. */
  mailAt?: Part;
  /** The key whose limits hold for what the event starts. */
  limitedBy?: Part;
  /** The rows that have an event each, as a query says it after its `from`; a single event when absent. */
  from?: Query;
}

/** A statement that records events. */
export interface Recording {
  /** Common table expressions that the other two read, without `with`. */
  given?: Query;
  /** What is recorded, in this order. */
  events: readonly NewEvent[];
  /** The rows that the statement returns; how many events were recorded, as `number`, when absent. The new events are not visible to it. */
  result?: Query;
}

/**
 * The statement that records events, with all that they start and wake (`migrations/functions/record_events.sql`): the one way from here to
 * the table of events. The condition is what makes Postgres evaluate the expression, whatever `result` reads and returns.
 */
export function recordingEvents({ given, events, result = recordedEvents }: Recording): Query {
  return sql`with ${given === undefined ? raw('') : sql`${given},`}
    recorded as materialized (select record_events(array(${join(events.map(rowsOf), ' union all ')})) as number)
    select result.* from (${result}) result where (select number from recorded) >= 0`;
}

const none = raw('null');
const recordedEvents = raw('select number from recorded');

function rowsOf({
  id = raw('uuidv7()'),
  projectId,
  contactId,
  emailId,
  name,
  data,
  mailAt,
  limitedBy,
  from,
}: NewEvent) {
  return sql`select row(${id}, ${projectId}, ${contactId ?? none}, ${emailId ?? none}, ${name}, ${data ?? none}, ${mailAt ?? none},
    ${limitedBy ?? none})::new_event ${from === undefined ? raw('') : sql`from ${from}`}`;
}
