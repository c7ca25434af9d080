import type {
  ActivityFilter,
  Condition,
  ConditionFilter,
  DateFilter,
  EmailFilter,
  EventFilter,
  Group,
  SegmentFilter,
} from './condition.ts';
import { cutoff } from './dates.ts';
import { expansion, hasMembershipRows, noSegments, refuseOvergrowth, type SegmentMap } from './segments.ts';
import { comparisonSql, dataSql, Parameters } from './sql-data.ts';

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
        return dataSql(filter, this.#options.now, this.params);
      case 'event':
      case 'activity':
        return this.#happened(filter, required);
      case 'segment':
        return this.#segment(filter, required, above);
    }
  }

  #happened({ test, ...filter }: EventFilter | ActivityFilter, required: boolean): string {
    const project = `t.project_id = ${this.params.add(this.#options.projectId, 'uuid')}`;
    const [table, instant, known] =
      filter.kind === 'event'
        ? ['events', 't.created_at', `${project} and t.name = ${this.params.add(filter.name, 'text')}`]
        : ['emails', `t.${filter.activity}_at`, `${project} and t.${filter.activity}_at is not null`];
    const where = `${known}${this.#until(instant)}`;
    const since = (ago: number) => `${where} and ${instant} >= ${this.params.instant(cutoff(this.#options.now, ago))}`;
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
