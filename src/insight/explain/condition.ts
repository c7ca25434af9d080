import type * as v from 'valibot';
import { type ConditionShape, conditionQuery } from '../../contacts/conditions.ts';
import type { Condition, ConditionFilter } from '../../lib/conditions/condition.ts';
import { valueAtPath } from '../../lib/contact-data.ts';
import { storedDefinition } from '../../segments/definition.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import type { ContactFacts } from './queries.ts';
import { type Decision, evaluated, onDate } from './schema.ts';

type Tree = v.InferOutput<typeof ConditionShape>;
type Written = Tree['groups'][number]['filters'][number];

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
    return sql`coalesce((${conditionQuery(alone, options)}), false)`;
  });
  const [row, actual] = await Promise.all([
    db.row<{ held: boolean[] }>(sql`
      select array[${join(tests, ', ')}] as held from ${contact.isFormer ? formerContact(contact) : raw('contacts')} c
      where c.id = ${contact.id} and c.project_id = ${projectId}`),
    actualValues(db, projectId, contact, leaves, asOf),
  ]);
  const held = new Map(leaves.map((leaf, place) => [leaf, row?.held[place] ?? false]));
  const outcomes = new Map<Leaf, Decision['outcome']>();
  blame(root, true);
  return {
    holds: holds(root),
    decisions: leaves.map((leaf) => leafDecision(leaf, outcomes.get(leaf) ?? 'info', actual(leaf))),
  };

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
    return evaluated(
      'audience.condition',
      outcome,
      `${filterWords(written)}: ${outcome === 'pass' ? 'yes' : 'no'}, ${valueWords(leaf.filter, value)}.`,
      {
        expected: { field: written.field, operator: written.operator, ...wanted, ...unit },
        actual: value ?? null,
        dataAsOf: isPast(leaf.filter) ? asOf.toISOString() : contact.readAt,
      },
    );
  }
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

/** Reads what the filters looked at: the value of a field, or when something happened last (ISO), or null. */
async function actualValues(
  db: Database,
  projectId: string,
  contact: ContactFacts,
  leaves: readonly Leaf[],
  asOf: Date,
): Promise<(leaf: Leaf) => unknown> {
  const until = asOf.toISOString();
  const of = <Kind extends ConditionFilter['kind']>(kind: Kind) =>
    leaves.flatMap(({ filter }) => (filter.kind === kind ? [filter as Extract<ConditionFilter, { kind: Kind }>] : []));
  const names = [...new Set(of('event').map(({ name }) => name))];
  const activities = [...new Set(of('activity').map(({ activity }) => activity))];
  const segmentIds = [...new Set(of('segment').map(({ segmentId }) => segmentId))];
  const rows = await db.rows<{ kind: ConditionFilter['kind']; name: string; at: string }>(sql`
    select 'event' as kind, name, max(created_at)::text as at from events
    where contact_id = ${contact.id} and project_id = ${projectId} and name = any(${names}::text[])
      and created_at <= ${until}::timestamptz
    group by name
    union all
    select 'segment', segment_id::text, entered_at::text from segment_memberships
    where contact_id = ${contact.id} and segment_id = any(${segmentIds}::uuid[])
      and entered_at <= ${until}::timestamptz and (exited_at is null or exited_at > ${until}::timestamptz)
    union all
    select 'activity', instant.name, max(instant.at)::text
    from emails e cross join lateral (values ('sent', e.sent_at), ('delivered', e.delivered_at), ('opened', e.opened_at),
      ('clicked', e.clicked_at), ('bounced', e.bounced_at), ('complained', e.complained_at)) instant (name, at)
    where e.contact_id = ${contact.id} and e.project_id = ${projectId} and instant.name = any(${activities}::text[])
      and instant.at <= ${until}::timestamptz
    group by instant.name`);
  const instants = new Map(rows.map(({ kind, name, at }) => [`${kind} ${name}`, new Date(at).toISOString()]));
  return ({ filter }) => {
    if (filter.kind === 'email') return contact.email;
    if (filter.kind === 'subscribed') return contact.subscribed;
    if (filter.kind === 'date') return contact[filter.column];
    if (filter.kind === 'data') return valueAtPath(contact.data, filter.key);
    const name =
      filter.kind === 'event' ? filter.name : filter.kind === 'activity' ? filter.activity : filter.segmentId;
    return instants.get(`${filter.kind} ${name}`) ?? null;
  };
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
  return `"${field}" ${operatorWords[operator]}${value}${unit}`;
}

function valueWords({ kind }: ConditionFilter, value: unknown): string {
  if (kind === 'event' || kind === 'activity')
    return typeof value === 'string' ? `the last one was on ${onDate(value)}` : 'there is none';
  if (kind === 'segment')
    return typeof value === 'string' ? `a member since ${onDate(value)}` : 'no membership is kept';
  return value === null || value === undefined ? 'it is not set' : `it is ${JSON.stringify(value).slice(0, 200)}`;
}
