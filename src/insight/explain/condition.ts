import type * as v from 'valibot';
import { type ConditionShape, conditionQuery, foundQuery } from '../../contacts/conditions.ts';
import type { Condition, ConditionFilter } from '../../lib/conditions/condition.ts';
import type { SegmentMap } from '../../lib/conditions/segments.ts';
import { valueAtPath } from '../../lib/contact-data.ts';
import { storedDefinition } from '../../segments/definition.ts';
import { removedBefore } from '../../store/columns.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import type { ContactFacts } from './queries.ts';
import { type Decision, evaluated, notKept, onDate } from './schema.ts';

type Tree = v.InferOutput<typeof ConditionShape>;
type Written = Tree['groups'][number]['filters'][number];

/** What a filter on events, mail or membership found: how often in its window, and the last instant at all. */
interface Found {
  count: number;
  last: string | null;
}

interface Leaf {
  filter: ConditionFilter;
  written: Written;
}
interface Branch {
  logic: 'AND' | 'OR';
  parts: (Branch | Leaf)[];
}

/** The result of a condition, and of each of its filters, for one contact. */
export interface Trace {
  holds: boolean;
  decisions: Decision[];
}

/**
 * Evaluates a stored condition for one contact by the SQL that finds audiences, filter by filter. Events, mail and memberships
 * count up to `asOf`, the contact is the one that is given. A filter is a stop when the condition fails because of it.
 * @throws AppError for a condition that can no longer be read
 */
export async function traceCondition(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  tree: unknown,
  asOf: Date,
): Promise<Trace> {
  const { condition, segments } = await storedDefinition(db, projectId, tree);
  const root = branchOf(condition, tree as Tree);
  const leaves = leavesOf(root);
  const options = { projectId, now: asOf, segments, reach: 'one', asOf } as const;
  const tests = leaves.map(({ filter }) => {
    const alone: Condition = { logic: 'AND', groups: [{ filters: [filter], nested: null }] };
    return conditionQuery(alone, options);
  });
  const finds = leaves.map(({ filter }) => foundQuery(filter, options));
  const row = await db.row<{ held: (boolean | null)[]; found: (Found | null)[] }>(sql`
    select array[${join(tests, ', ')}] as held, jsonb_build_array(${join(finds, ', ')}) as found
    from ${contact.isFormer ? formerContact(contact) : raw('contacts')} c
    where c.id = ${contact.id} and c.project_id = ${projectId}`);
  const found = new Map(leaves.map((leaf, place) => [leaf, row?.found[place] ?? null]));
  const held = new Map(leaves.map((leaf, place) => [leaf, row?.held[place] ?? false]));
  const outcomes = new Map<Leaf, Decision['outcome']>();
  blame(root, true);
  const unknown = await noLongerKnown(db, contact, options, leaves, (leaf) => ({
    holds: held.get(leaf) ?? false,
    actual: actual(leaf),
  }));
  return {
    holds: holds(root),
    decisions: leaves.map((leaf) => unknown(leaf) ?? leafDecision(leaf, outcomes.get(leaf) ?? 'info', actual(leaf))),
  };

  function actual(leaf: Leaf): unknown {
    const { filter } = leaf;
    if (filter.kind === 'email') return contact.email;
    if (filter.kind === 'subscribed') return contact.subscribed;
    if (filter.kind === 'date') return contact[filter.column];
    if (filter.kind === 'data' || filter.kind === 'trigger') return valueAtPath(contact.data, filter.key);
    const { count, last } = found.get(leaf) ?? { count: 0, last: null };
    const at = last === null ? null : new Date(last).toISOString();
    return filter.kind === 'event' && filter.times ? { times: count, last: at } : at;
  }

  function holds(part: Branch | Leaf): boolean {
    if (!('logic' in part)) return held.get(part) ?? false;
    return part.logic === 'AND' ? part.parts.every(holds) : part.parts.some(holds);
  }

  function blame(part: Branch | Leaf, isToBlame: boolean): void {
    if ('logic' in part) for (const inner of part.parts) blame(inner, isToBlame && !holds(part));
    else outcomes.set(part, held.get(part) ? 'pass' : isToBlame ? 'stop' : 'info');
  }

  function leafDecision(leaf: Leaf, outcome: Decision['outcome'], value: unknown): Decision {
    const { written } = leaf;
    const unit = 'unit' in written ? { unit: written.unit } : {};
    const wanted = 'value' in written ? { value: written.value } : {};
    const { where, times, of, link } = narrowingOf(written);
    const narrowed = { ...(where && { where }), ...(times && { times }), ...(of && { of }), ...(link && { link }) };
    return evaluated(
      'audience.condition',
      outcome,
      `${filterWords(written)}: ${outcome === 'pass' ? 'yes' : 'no'}, ${valueWords(leaf.filter, value)}.`,
      {
        expected: { field: written.field, operator: written.operator, ...wanted, ...unit, ...narrowed },
        actual: value ?? null,
        dataAsOf: isPast(leaf.filter) ? asOf.toISOString() : contact.readAt,
      },
    );
  }
}

// Of each contact retention keeps the last event of a name, and the last mail of a kind. So what is not found as of an instant may have been
// removed where there is a later one; what is narrowed to some of them, or counted, may be more than is found. Who looks at a time from which
// all is kept knows.
async function noLongerKnown(
  db: Database,
  contact: ContactFacts,
  options: { projectId: string; now: Date; segments: SegmentMap; reach: 'one' },
  leaves: readonly Leaf[],
  resultOf: (leaf: Leaf) => { holds: boolean; actual: unknown },
): Promise<(leaf: Leaf) => Decision | null> {
  const asked = leaves.flatMap((leaf) => {
    const { filter } = leaf;
    if (filter.kind !== 'event' && filter.kind !== 'activity') return [];
    const { where, times, of, link } = narrowingOf(leaf.written);
    const isNarrow = [where, times, of, link].some(Boolean);
    const isProven = resultOf(leaf).holds && !filter.test.operator.startsWith('not') && !times?.atMost;
    return (isNarrow && !isProven) || (!isNarrow && resultOf(leaf).actual === null) ? [{ leaf, filter, isNarrow }] : [];
  });
  if (asked.length === 0) return () => null;
  const { projectId } = options;
  const before = {
    events: await removedBefore(db, projectId, 'events'),
    mail: await removedBefore(db, projectId, 'mail'),
  };
  if (before.events === null && before.mail === null) return () => null;
  const ever = asked.map(({ filter }) => foundQuery(filter, { ...options, asOf: undefined }));
  const later = await db.row<{ found: (Found | null)[] }>(
    sql`select jsonb_build_array(${join(ever, ', ')}) as found from contacts c where c.id = ${contact.id} and c.project_id = ${options.projectId}`,
  );
  const decisions = asked.map(({ leaf, filter, isNarrow }, place) => {
    const kind = filter.kind === 'event' || filter.link !== undefined ? 'events' : 'mail';
    const end = before[kind];
    const { test } = filter;
    const isWindow = test.operator === 'triggeredWithin' || test.operator === 'notTriggeredWithin';
    const since = isWindow ? options.now.getTime() - test.milliseconds : 0;
    if (end === null || since >= end.getTime()) return null;
    if (!isNarrow && (later?.found[place]?.last ?? null) === null) return null;
    const what = `${filterWords(leaf.written)}: not known. ${kind === 'events' ? 'Events' : 'Mail'}`;
    return [leaf, notKept('audience.not_kept', what, end)] as const;
  });
  const unknown = new Map(decisions.filter((decision) => decision !== null));
  return (leaf) => unknown.get(leaf) ?? null;
}

function formerContact({ id, email, subscribed, data, updatedAt }: ContactFacts): Query {
  return sql`(
    select id, project_id, created_at, ${email} as email, ${subscribed}::boolean as subscribed, ${data}::jsonb as data,
      ${updatedAt}::timestamptz as updated_at
    from contacts where id = ${id})`;
}

// Rows with instants are read as they were; columns of the contact as they are.
function isPast({ kind }: ConditionFilter): boolean {
  return kind === 'event' || kind === 'activity' || kind === 'segment';
}

function branchOf({ logic, groups }: Condition, tree: Tree): Branch {
  const parts = groups.map(({ filters, nested }, place): Branch => {
    const group = tree.groups[place];
    const own = filters.flatMap((filter, at): Leaf[] => {
      const written = group?.filters[at];
      return written === undefined ? [] : [{ filter, written }];
    });
    const inner = nested !== null && group?.conditions ? [branchOf(nested, group.conditions)] : [];
    return { logic: 'AND', parts: [...own, ...inner] };
  });
  return { logic, parts };
}

function leavesOf({ parts }: Branch): Leaf[] {
  return parts.flatMap((part) => ('logic' in part ? leavesOf(part) : [part]));
}

const operatorWords: Record<Written['operator'], string> = {
  equals: 'is',
  notEquals: 'is not',
  contains: 'contains',
  notContains: 'does not contain',
  greaterThan: 'is greater than',
  lessThan: 'is less than',
  greaterThanOrEqual: 'is at least',
  lessThanOrEqual: 'is at most',
  within: 'is within the last',
  olderThan: 'is more than this long ago:',
  withinNext: 'is within the next',
  anniversaryWithin: 'has its anniversary within',
  exists: 'is set',
  notExists: 'is not set',
  triggered: 'has happened',
  triggeredWithin: 'has happened within the last',
  triggeredOlderThan: 'last happened more than this long ago:',
  notTriggered: 'has never happened',
  notTriggeredWithin: 'has not happened within the last',
  memberOfSegment: 'contains the contact',
  notMemberOfSegment: 'does not contain the contact',
};

function filterWords(written: Written): string {
  const { field, operator } = written;
  const value = 'value' in written ? ` ${JSON.stringify(written.value)}` : '';
  const unit = 'unit' in written ? ` ${written.unit}` : '';
  return `"${field}"${narrowingWords(written)} ${operatorWords[operator]}${value}${unit}${timesWords(written)}`;
}

/** What narrows a filter on events or mail. */
type Narrowing = Pick<Extract<Written, { unit: unknown }>, 'where' | 'times' | 'of' | 'link'>;

// Only filters on what happened have it, which compare with no value.
function narrowingOf(written: Written): Narrowing {
  return written as Narrowing;
}

function narrowingWords(written: Written): string {
  const { where, of, link } = narrowingOf(written);
  const tests = (where ?? []).map(
    ({ path, operator, value }) =>
      `"${path}" ${operatorWords[operator]}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`,
  );
  const [source] = Object.entries(of ?? {}).filter(([, id]) => id);
  return [
    ...(tests.length > 0 ? [` where ${tests.join(' and ')}`] : []),
    ...(source ? [` of ${source[0].slice(0, -'Id'.length)} ${source[1]}`] : []),
    ...(link ? [` of the link ${link}`] : []),
  ].join('');
}

function timesWords(written: Written): string {
  const { atLeast, atMost } = narrowingOf(written).times ?? {};
  const bounds = [
    ...(isGiven(atLeast) ? [`at least ${atLeast}`] : []),
    ...(isGiven(atMost) ? [`at most ${atMost}`] : []),
  ];
  return bounds.length === 0 ? '' : `, ${bounds.join(' and ')} times`;
}

const isGiven = (value: number | null | undefined) => value !== undefined && value !== null;

function valueWords({ kind }: ConditionFilter, value: unknown): string {
  if (typeof value === 'object' && value !== null && 'times' in value && 'last' in value)
    return `it has happened ${value.times === 1 ? 'once' : `${value.times} times`}${typeof value.last === 'string' ? `, and last on ${onDate(value.last)}` : ''}`;
  if (kind === 'event' || kind === 'activity')
    return typeof value === 'string' ? `the last one was on ${onDate(value)}` : 'there is none';
  if (kind === 'segment')
    return typeof value === 'string' ? `a member since ${onDate(value)}` : 'no membership is kept';
  return value === null || value === undefined ? 'it is not set' : `it is ${JSON.stringify(value).slice(0, 200)}`;
}
