import type {
  ActivityFilter,
  Condition,
  ConditionFilter,
  DateFilter,
  EmailFilter,
  EventFilter,
  Group,
  SegmentFilter,
  Times,
} from './condition.ts';
import { cutoff, lastOf } from './dates.ts';
import { expansion, hasMembershipRows, noSegments, refuseOvergrowth, type SegmentMap } from './segments.ts';
import { anniversarySql, comparisonSql, dataSql, Parameters } from './sql-data.ts';
import { happenedRows } from './sql-happened.ts';

/** Options of the compiler. */
export interface CompileOptions {
  /** The project whose contacts are asked; sub-selects repeat it, because the indexes begin with it. */
  projectId: string;
  /** The one instant that all windows of the condition count back from. */
  now: Date;
  /** The segments that the condition refers to, directly or through others (`resolveSegments`). */
  segments?: SegmentMap;
  /**
   * The purpose of the statement. `page` (the default): a few of the matches, or only some contacts are asked at all.
   * `all`: every contact of the project is asked, as for counts, computing and audiences. `one`: a single contact, whose
   * answer may stand in a select list. It changes speed only.
   */
  reach?: 'page' | 'all' | 'one';
  /** Events, mail and memberships after this instant do not count; all do when absent. */
  asOf?: Date;
  /** The data of the event that `trigger.<key>` asks for; none when absent. */
  trigger?: Readonly<Record<string, unknown>> | null;
}

/** A condition as SQL: its placeholders `$1`, `$2` … stand for the values, each in several places where it is used often. */
export interface ConditionSql {
  text: string;
  values: readonly string[];
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
export function compileCondition(condition: Condition, options: CompileOptions): ConditionSql {
  refuseOvergrowth(condition, options.segments ?? noSegments);
  const compiler = new Compiler(options);
  return { text: compiler.condition(condition, options.reach !== 'one', []), values: compiler.params.values };
}

/** What a filter found of the contact `c`, as SQL of jsonb: see `found` of the compiler. */
export function compileFound(filter: ConditionFilter, options: CompileOptions): ConditionSql {
  const compiler = new Compiler(options);
  return { text: compiler.found(filter), values: compiler.params.values };
}

/** `required` says that every match must pass this part, `above` which segments it is part of. */
class Compiler {
  readonly params = new Parameters();
  readonly #options: CompileOptions;

  constructor(options: CompileOptions) {
    this.#options = options;
  }

  condition({ logic, groups }: Condition, required: boolean, above: string[]): string {
    const [only] = groups;
    if (only && groups.length === 1) return this.#group(only, required, above);
    const parts = groups.map((each) => this.#group(each, required && logic === 'AND', above));
    return `(${parts.join(logic === 'AND' ? ' and ' : ' or ')})`;
  }

  #group(group: Group, required: boolean, above: string[]): string {
    const parts = group.filters.map((filter) => this.#filter(filter, required, above));
    if (group.nested) parts.push(this.condition(group.nested, required, above));
    return parts.length === 1 ? parts.join() : `(${parts.join(' and ')})`;
  }

  #filter(filter: ConditionFilter, required: boolean, above: string[]): string {
    switch (filter.kind) {
      case 'email':
        return emailSql(filter, this.params);
      case 'subscribed':
        return filter.expected ? 'c.subscribed' : 'not c.subscribed';
      case 'date':
        return dateSql(filter, this.#options.now, this.params);
      case 'data':
        return dataSql(filter, () => 'c.data', this.#options.now, this.params);
      case 'trigger': {
        const data = JSON.stringify(this.#options.trigger ?? {});
        return dataSql(filter, () => this.params.add(data, 'jsonb'), this.#options.now, this.params);
      }
      case 'event':
      case 'activity':
        return this.#happened(filter, required);
      case 'segment':
        return this.#segment(filter, required, above);
    }
  }

  /**
   * SQL of what a filter of the contact `c` found, for messages: how often it happened in the window it names, and the last instant
   * at all (`{ count, last }`), or since when a membership is kept. Null for other filters.
   */
  found(filter: ConditionFilter): string {
    if (filter.kind === 'segment') {
      if (!this.#options.segments?.has(filter.segmentId)) return 'null::jsonb';
      const rows = `t.segment_id = ${this.params.add(filter.segmentId, 'uuid')} and ${this.#isInside()}`;
      return `(select jsonb_build_object('count', 1, 'last', t.entered_at) from segment_memberships t where t.contact_id = c.id and ${rows})`;
    }
    if (filter.kind !== 'event' && filter.kind !== 'activity') return 'null::jsonb';
    const { table, instant, where } = happenedRows(filter, this.#options.projectId, this.#options.now, this.params);
    const recent =
      'milliseconds' in filter.test ? ` filter (where ${this.#since(instant, filter.test.milliseconds)})` : '';
    return `(select jsonb_build_object('count', count(*)${recent}, 'last', max(${instant})) from ${table} t
      where t.contact_id = c.id and ${where}${this.#until(instant)})`;
  }

  #happened(filter: EventFilter | ActivityFilter, required: boolean): string {
    const { test } = filter;
    const rows = happenedRows(filter, this.#options.projectId, this.#options.now, this.params);
    const { table, instant } = rows;
    const where = `${rows.where}${this.#until(instant)}`;
    const since = (ago: number) => `${where} and ${this.#since(instant, ago)}`;
    const times = filter.kind === 'event' ? filter.times : undefined;
    if (times !== undefined)
      return this.#often(table, 'milliseconds' in test ? since(test.milliseconds) : where, times, required);
    switch (test.operator) {
      case 'triggered':
        return this.#some(table, where, required);
      case 'notTriggered':
        return this.#none(table, where, required);
      case 'triggeredWithin':
        return this.#some(table, since(test.milliseconds), required);
      case 'notTriggeredWithin':
        return this.#none(table, since(test.milliseconds), required);
      case 'triggeredOlderThan': {
        const ever = this.#some(table, where, required);
        return `(${ever} and ${this.#none(table, since(test.milliseconds), required)})`;
      }
    }
  }

  #segment({ segmentId, member }: SegmentFilter, required: boolean, above: string[]): string {
    const { segments = noSegments } = this.#options;
    const segment = segments.get(segmentId);
    if (segment && hasMembershipRows(segment)) {
      const rows = `t.segment_id = ${this.params.add(segment.id, 'uuid')} and ${this.#isInside()}`;
      return member
        ? this.#some('segment_memberships', rows, required)
        : this.#none('segment_memberships', rows, required);
    }
    const nested = expansion(segmentId, segments, above);
    if (!nested) return member ? 'false' : 'true';
    const sql = this.condition(nested.condition, required && member, nested.above);
    return member ? sql : `((${sql}) is not true)`;
  }

  // Of one contact no more rows are counted than decide; of all contacts the ids are grouped once.
  #often(table: string, where: string, { atLeast, atMost }: Times, required: boolean): string {
    const isJoined = required && atLeast > 0;
    if (this.#options.reach !== 'all' && !isJoined) {
      const rows = `select from ${table} t where t.contact_id = c.id and ${where} limit ${atMost === null ? atLeast : atMost + 1}`;
      const tests = [`count(*) >= ${atLeast}`, ...(atMost === null ? [] : [`count(*) <= ${atMost}`])];
      return `(select ${tests.join(' and ')} from (${rows}) counted)`;
    }
    const having = (test: string) => `${where} group by t.contact_id having ${test}`;
    if (atLeast === 0) return `not ${gathered(table, having(`count(*) > ${atMost}`))}`;
    const wanted = having(`count(*) >= ${atLeast}${atMost === null ? '' : ` and count(*) <= ${atMost}`}`);
    return isJoined ? this.#some(table, wanted, true) : gathered(table, wanted);
  }

  #since(instant: string, ago: number): string {
    return `${instant} >= ${this.params.instant(cutoff(this.#options.now, ago))}`;
  }

  #until(instant: string): string {
    const { asOf } = this.#options;
    return asOf === undefined ? '' : ` and ${instant} <= ${this.params.instant(asOf.getTime())}`;
  }

  #isInside(): string {
    const { asOf } = this.#options;
    if (asOf === undefined) return 't.exited_at is null';
    const at = this.params.instant(asOf.getTime());
    return `t.entered_at <= ${at} and (t.exited_at is null or t.exited_at > ${at})`;
  }

  #some(table: string, where: string, required: boolean): string {
    if (required) return `c.id in (select t.contact_id from ${table} t where ${where})`;
    return this.#options.reach === 'all' ? gathered(table, where) : exists(table, where);
  }

  #none(table: string, where: string, required: boolean): string {
    return `not ${required || this.#options.reach !== 'all' ? exists(table, where) : gathered(table, where)}`;
  }
}

function exists(table: string, where: string): string {
  return `exists (select from ${table} t where t.contact_id = c.id and ${where})`;
}

// Events need not have a contact, and one null would make every "not in" null.
function gathered(table: string, where: string): string {
  const ids = `select t.contact_id from ${table} t where t.contact_id is not null and ${where}`;
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
    case 'withinNext':
      return `(${instant} >= ${params.instant(now.getTime())} and ${instant} <= ${params.instant(lastOf(now, test.milliseconds))})`;
    case 'anniversaryWithin':
      return anniversarySql(instant, now, test.milliseconds, params);
    default:
      return `${instant} ${comparisonSql[test.operator]} ${params.instant(test.instant)}`;
  }
}
