import { cutoff } from './dates.ts';
import type {
  Activity,
  ActivityFilter,
  Condition,
  DateFilter,
  EmailFilter,
  EventFilter,
  Filter,
  Group,
  SegmentFilter,
} from './schema.ts';
import { expansion, hasMembershipRows, noSegments, refuseOvergrowth, type SegmentMap } from './segments.ts';
import { dataSql } from './sql-data.ts';
import { comparisonSql, Parameters } from './sql-parameters.ts';

/** What the compiler must know beside the condition. */
export interface CompileOptions {
  /** The project whose contacts are asked; sub-selects repeat it, because the indexes begin with it. */
  projectId: string;
  /** The one instant that all windows of the condition count back from. */
  now: Date;
  /** The segments that the condition refers to, directly or through others (`resolveSegments`). */
  segments?: SegmentMap;
  /**
   * What the statement is after. `page` (the default): a few of the matches, or only some contacts are asked at all.
   * `all`: every contact of the project is asked, as for counts, computing and audiences. It changes speed only.
   */
  reach?: 'page' | 'all';
  /** Number of the first placeholder, when the statement has parameters of its own before these. Default 1. */
  firstParameter?: number;
}

/** A boolean SQL expression and the values of its `$n` placeholders, in order. */
export interface CompiledCondition {
  sql: string;
  params: string[];
}

/**
 * Compiles a condition to one boolean SQL expression over the alias `c` of `contacts`, to stand after
 * `where c.project_id = … and`, with or without parentheses. Nothing of the caller's text enters the SQL; placeholders
 * have their types written out. The expression may be null where it does not hold, so its opposite is `(…) is not true`.
 *
 * The forms follow what Postgres can do with them. Data equality is containment, for the GIN index. Events, emails and
 * memberships that every match must have are `id in (select …)`, which joins from either side, and what no match may
 * have is `not exists`, an anti-join. Neither becomes a join below an OR. There, a page is served best by `exists`,
 * which looks at one contact after the other; for all contacts the ids are gathered once and hashed. They go through
 * an array because a plain `in` below an OR, once Postgres expects it to outgrow `work_mem`, is not hashed but searched
 * from end to end for each contact.
 */
export function compileCondition(condition: Condition, options: CompileOptions): CompiledCondition {
  const { projectId, now, segments = noSegments, reach = 'page', firstParameter = 1 } = options;
  refuseOvergrowth(condition, segments);
  const params = new Parameters(firstParameter);
  return { sql: conditionSql(condition, true, []), params: params.values };

  function conditionSql(own: Condition, required: boolean, above: string[]): string {
    const [only] = own.groups;
    if (only && own.groups.length === 1) return groupSql(only, required, above);
    const and = own.logic === 'AND';
    const parts = own.groups.map((each) => groupSql(each, required && and, above));
    return `(${parts.join(and ? ' and ' : ' or ')})`;
  }

  function groupSql(group: Group, required: boolean, above: string[]): string {
    const parts = group.filters.map((filter) => filterSql(filter, required, above));
    if (group.nested) parts.push(conditionSql(group.nested, required, above));
    return parts.length === 1 ? parts.join() : `(${parts.join(' and ')})`;
  }

  function filterSql(filter: Filter, required: boolean, above: string[]): string {
    switch (filter.kind) {
      case 'email':
        return emailSql(filter, params);
      case 'subscribed':
        return filter.expected ? 'c.subscribed' : 'not c.subscribed';
      case 'date':
        return dateSql(filter, now, params);
      case 'data':
        return dataSql(filter, now, params);
      case 'event':
      case 'activity':
        return happenedSql(filter, required);
      case 'segment':
        return segmentSql(filter, required, above);
    }
  }

  function happenedSql(filter: EventFilter | ActivityFilter, required: boolean): string {
    const { table, instant, where } = thingsOf(filter);
    const { test } = filter;
    const since = (ago: number) => `${where} and ${instant} >= ${params.instant(cutoff(now, ago))}`;
    const some = (rows: string) => someSql(table, rows, required);
    const none = (rows: string) => noneSql(table, rows, required);
    switch (test.operator) {
      case 'triggered':
        return some(where);
      case 'notTriggered':
        return none(where);
      case 'triggeredWithin':
        return some(since(test.milliseconds));
      case 'notTriggeredWithin':
        return none(since(test.milliseconds));
      case 'triggeredOlderThan':
        return `(${some(where)} and ${none(since(test.milliseconds))})`;
    }
  }

  function thingsOf(filter: EventFilter | ActivityFilter): { table: string; instant: string; where: string } {
    const project = `t.project_id = ${params.add(projectId, 'uuid')}`;
    if (filter.kind === 'event') {
      const where = `${project} and t.name = ${params.add(filter.name, 'text')}`;
      return { table: 'events', instant: 't.created_at', where };
    }
    const instant = `t.${activityColumns[filter.activity]}`;
    return { table: 'emails', instant, where: `${project} and ${instant} is not null` };
  }

  function segmentSql(filter: SegmentFilter, required: boolean, above: string[]): string {
    const segment = segments.get(filter.segmentId);
    if (segment && hasMembershipRows(segment)) {
      const rows = `t.segment_id = ${params.add(segment.id, 'uuid')} and t.exited_at is null`;
      return (filter.member ? someSql : noneSql)('segment_memberships', rows, required);
    }
    const nested = expansion(filter.segmentId, segments, above);
    if (!nested) return filter.member ? 'false' : 'true';
    const sql = conditionSql(nested.condition, required && filter.member, nested.above);
    return filter.member ? sql : `((${sql}) is not true)`;
  }

  function someSql(table: string, where: string, required: boolean): string {
    if (required) return `c.id in (select t.contact_id from ${table} t where ${where})`;
    return reach === 'all' ? gathered(table, where) : exists(table, where);
  }

  function noneSql(table: string, where: string, required: boolean): string {
    return `not ${required || reach === 'page' ? exists(table, where) : gathered(table, where)}`;
  }
}

const activityColumns: Record<Activity, string> = {
  sent: 'sent_at',
  delivered: 'delivered_at',
  opened: 'opened_at',
  clicked: 'clicked_at',
  bounced: 'bounced_at',
  complained: 'complained_at',
};

function exists(table: string, where: string): string {
  return `exists (select from ${table} t where t.contact_id = c.id and ${where})`;
}

// Events need not have a contact, and one null would make every "not in" null.
function gathered(table: string, where: string): string {
  const ids = `select t.contact_id from ${table} t where ${where} and t.contact_id is not null`;
  return `(c.id in (select unnest(array(${ids}))))`;
}

function emailSql(filter: EmailFilter, params: Parameters): string {
  // Stored addresses are lower-case and so is the filter's text, which spares `ilike` its own lower-casing.
  const text = (value: string) => params.add(value, 'text');
  const pattern = () => text(`%${filter.text.replace(/[\\%_]/g, '\\$&')}%`);
  switch (filter.operator) {
    case 'equals':
      return `c.email = ${text(filter.text)}`;
    case 'notEquals':
      return `c.email <> ${text(filter.text)}`;
    case 'contains':
      return `c.email like ${pattern()}`;
    case 'notContains':
      return `c.email not like ${pattern()}`;
  }
}

function dateSql({ column, test }: DateFilter, now: Date, params: Parameters): string {
  const instant = column === 'createdAt' ? 'c.created_at' : 'c.updated_at';
  switch (test.operator) {
    case 'in':
      return `(${instant} >= ${params.instant(test.from)} and ${instant} < ${params.instant(test.until)})`;
    case 'notIn':
      return `(${instant} < ${params.instant(test.from)} or ${instant} >= ${params.instant(test.until)})`;
    case 'within':
      return `${instant} >= ${params.instant(cutoff(now, test.milliseconds))}`;
    case 'olderThan':
      return `${instant} < ${params.instant(cutoff(now, test.milliseconds))}`;
    default:
      return `${instant} ${comparisonSql[test.operator]} ${params.instant(test.instant)}`;
  }
}
