import { type Query, raw, sql } from '../../store/sql.ts';
import { countingMail } from './counting.ts';

/** New mail of a project. */
export interface NewMails {
  projectId: string;
  /** The columns that are given, a constant; the others get the defaults of the table, so that mail is PENDING. */
  columns: string;
  /**
   * The query of these columns. The ledger has no foreign key to contacts: the query reads the contact of each mail from a row that the
   * statement locks (`for key share` or stronger) or has written, so that nobody deletes it meanwhile. Without the contact there is no row.
   */
  rows: Query;
  /** The clause `on conflict …` for mail that is there already; a conflict is an error without it. */
  onConflict?: Query;
  /** How what is PENDING waits in the queue; absent for mail of campaigns, whose claims read the ledger, and for what is not sent. */
  queue?: Queue;
  /** A query of `name` and `value`: the tags of each of the mails. */
  tags?: Query | null;
}

interface Queue {
  /** Bytes that a mail takes in memory, by the row `a` of `accepted` and the columns of `beside`. */
  bytes: Query | number;
  /** A join that `bytes` reads. */
  beside?: Query;
  /** When it is sent; now when absent. */
  due?: Query;
}

/**
 * The CTEs that accept mail, without `with`: the one way into the ledger. All of it happens whatever the rest of the statement reads.
 *
 * 1. `accepted`: the rows of the ledger, as id, contact_id, to_address, status, source_type, simulated and created_at.
 * 2. `queued`: a place in the queue for each that is PENDING, from which the delivery of its project claims it. Wake it after the commit.
 * 3. `tagged`: the tags.
 * 4. `counted`: the mail in the counts of its hour.
 *
 * Quota is taken by the caller before; a mail that is FAILED from the start is reported by `failedEvent`.
 */
export function acceptingMail({ projectId, columns, rows, onConflict, queue, tags }: NewMails): Query {
  return sql`
    accepted as (
      insert into emails (${raw(columns)}) ${rows} ${onConflict ?? nothing}
      returning id, contact_id, to_address, status, source_type, simulated, created_at),
    ${queue === undefined ? nothing : queued(projectId, queue)}
    ${tags ? tagged(projectId, tags) : nothing}
    counted as (${countingMail(projectId, 'accepted')})`;
}

const nothing = raw('');

function queued(projectId: string, { bytes, beside = nothing, due = raw('now()') }: Queue): Query {
  return sql`
    queued as (
      insert into email_queue (email_id, project_id, bytes, due_at, created_at)
      select a.id, ${projectId}::uuid, ${bytes}::integer, ${due}, ${due} from accepted a ${beside} where a.status = 'PENDING'),`;
}

function tagged(projectId: string, tags: Query): Query {
  return sql`
    tagged as (
      insert into email_tags (email_id, name, value, project_id)
      select a.id, t.name, t.value, ${projectId}::uuid from accepted a cross join (${tags}) t),`;
}
