import { eventText } from '../words/events.ts';
import { count, lazily, locale } from '../words/numbers.ts';
import { usualActivity } from './grammar.ts';
import { fieldOf, type MailSourceKind, sourceOf, type Tree, type TreeFilter } from './tree.ts';

/** Names of the segments, campaigns, templates and workflow steps of a condition, by their ids. */
export type ConditionNames = ReadonlyMap<string, string>;

// Actions that people took or did not take: “opened an email”, “did not open an email”.
const activities: Record<string, readonly [did: string, didNot: string, never: string]> = {
  sent: ['were sent an email', 'were not sent an email', 'were never sent an email'],
  delivered: ['received an email', 'did not receive an email', 'never received an email'],
  opened: ['opened an email', 'did not open an email', 'never opened an email'],
  clicked: ['clicked a link', 'did not click a link', 'never clicked a link'],
  bounced: ['had an email bounce', 'had no email bounce', 'never had an email bounce'],
  complained: ['reported an email as spam', 'did not report an email as spam', 'never reported an email as spam'],
};

const comparisons: Record<string, readonly [ofValues: string, ofTimes: string]> = {
  equals: ['is', 'is'],
  notEquals: ['is not', 'is not'],
  contains: ['contains', 'contains'],
  notContains: ['does not contain', 'does not contain'],
  greaterThan: ['is more than', 'is after'],
  greaterThanOrEqual: ['is at least', 'is at or after'],
  lessThan: ['is less than', 'is before'],
  lessThanOrEqual: ['is at most', 'is at or before'],
};

const lists = {
  and: lazily(() => new Intl.ListFormat(locale, { type: 'conjunction' })),
  or: lazily(() => new Intl.ListFormat(locale, { type: 'disjunction' })),
};

/** Parts of a sentence and the word that joins them; a single part is joined by any. */
interface Clause {
  texts: readonly string[];
  joint: 'and' | 'or';
}

/**
 * A condition as a sentence: `Contacts who are subscribed and whose plan is “pro”.` Parts that are joined by another word than
 * those around them stand in parentheses. Filters that are not complete have an ellipsis.
 */
export function conditionSentence(tree: Tree, names: ConditionNames): string {
  const text = textOf(treeClause(tree, names));
  if (text === '') return 'All contacts.';
  return text.endsWith('…') ? `Contacts ${text}` : `Contacts ${text}.`;
}

function treeClause({ logic, groups }: Tree, names: ConditionNames): Clause {
  const ofGroups = groups.map(({ filters, conditions }) =>
    joined('and', [
      ...filters.map((filter): Clause => ({ texts: [filterClause(filter, names)], joint: 'and' })),
      ...(conditions ? [treeClause(conditions, names)] : []),
    ]),
  );
  return joined(logic === 'OR' ? 'or' : 'and', ofGroups);
}

function joined(joint: 'and' | 'or', parts: readonly Clause[]): Clause {
  const clauses = parts.filter(({ texts }) => texts.length > 0);
  const [only] = clauses;
  if (only !== undefined && clauses.length === 1) return only;
  const texts = clauses.flatMap((part) =>
    part.texts.length === 1 || part.joint === joint ? part.texts : [`(${textOf(part)})`],
  );
  return { texts, joint };
}

const textOf = ({ texts, joint }: Clause) => lists[joint]().format(texts);

function filterClause(filter: TreeFilter, names: ConditionNames): string {
  const { field, operator, value } = filter;
  const { kind, name } = fieldOf(field, operator);
  switch (kind) {
    case 'subscribed':
      return (value === true || value === 'true') === (operator === 'equals')
        ? 'who are subscribed'
        : 'who are not subscribed';
    case 'segment': {
      const known = names.get(name.toLowerCase()) ?? name;
      return `who are ${operator === 'memberOfSegment' ? 'in' : 'not in'} the segment ${quoted(known)}`;
    }
    case 'activity': {
      const [did, didNot, never] = activities[usualActivity(name)] ?? [
        `had “${name}”`,
        `had no “${name}”`,
        `never had “${name}”`,
      ];
      const mail = mailText(filter, names);
      return `who ${happened(filter, did + mail, didNot + mail, never + mail)}`;
    }
    case 'event': {
      const event = `${quoted(eventText(name))}${dataText(filter)}${timesText(filter)}`;
      return `who ${happened(filter, `triggered ${event}`, `did not trigger ${event}`, `never triggered ${event}`)}`;
    }
    case 'email':
      return `whose email address ${compared(filter)}`;
    case 'createdAt':
      return `whose creation date ${compared(filter)}`;
    case 'updatedAt':
      return `whose last update ${compared(filter)}`;
    case 'trigger':
      return `whose triggering event has a ${name === '' ? '…' : name} that ${compared(filter)}`;
    case 'data':
      return `whose ${name === '' ? '…' : name} ${compared(filter)}`;
  }
}

// “order” where total is at least 50 and country is “DE”
function dataText({ where }: TreeFilter): string {
  const tests = (where ?? []).map((test) => `${test.path || '…'} ${compared({ field: '', ...test })}`);
  return tests.length === 0 ? '' : ` where ${lists.and().format(tests)}`;
}

function timesText({ times }: TreeFilter): string {
  const { atLeast, atMost } = times ?? {};
  const bounds = [
    ...(typeof atLeast === 'number' ? [`at least ${timesOf(atLeast)}`] : []),
    ...(typeof atMost === 'number' ? [`at most ${timesOf(atMost)}`] : []),
  ];
  return bounds.length === 0 ? '' : ` ${lists.and().format(bounds)}`;
}

const timesOf = (number: number) => (number === 1 ? 'once' : `${count(number)} times`);

// an email of the campaign …
function mailText({ of, link }: TreeFilter, names: ConditionNames): string {
  const source = sourceOf({ of });
  const name = source && (source.id === '' ? '' : names.get(source.id));
  const text =
    source === null
      ? ''
      : name === undefined
        ? `one ${sources[source.kind]}`
        : `the ${sources[source.kind]} ${quoted(name ?? '')}`;
  return `${link ? ` to ${quoted(link)}` : ''}${text === '' ? '' : ` of ${text}`}`;
}

const sources: Record<MailSourceKind, string> = {
  stepId: 'workflow step',
  campaignId: 'campaign',
  templateId: 'template',
};

function happened(filter: TreeFilter, did: string, didNot: string, never: string): string {
  switch (filter.operator) {
    case 'triggered':
      return did;
    case 'triggeredWithin':
      return `${did} within the last ${span(filter)}`;
    case 'triggeredOlderThan':
      return `${did}, but not within the last ${span(filter)}`;
    case 'notTriggeredWithin':
      return `${didNot} within the last ${span(filter)}`;
    default:
      return never;
  }
}

function compared(filter: TreeFilter): string {
  const { operator, value } = filter;
  if (operator === 'exists') return 'has a value';
  if (operator === 'notExists') return 'has no value';
  if (operator === 'within') return `is within the last ${span(filter)}`;
  if (operator === 'olderThan') return `is more than ${span(filter)} ago`;
  if (operator === 'withinNext') return `is within the next ${span(filter)}`;
  if (operator === 'anniversaryWithin') return `has its anniversary within ${span(filter)}`;
  const [ofValues, ofTimes] = comparisons[operator] ?? [operator, operator];
  const time = typeof value === 'string' ? timeText(value) : null;
  return time === null ? `${ofValues} ${valueText(value)}` : `${ofTimes} ${time}`;
}

function span({ value, unit }: TreeFilter): string {
  const amount = Number(value);
  if (value === undefined || !Number.isFinite(amount)) return '…';
  const units = unit ?? 'days';
  return amount === 1 ? units.replace(/s$/, '') : `${count(amount)} ${units}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return '…';
  if (value === null) return 'empty';
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (typeof value === 'number') return new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(value);
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

const quoted = (text: string) => (text === '' ? '…' : `“${text}”`);

const inUtc: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeZone: 'UTC' };
const day = lazily(() => new Intl.DateTimeFormat(locale, inUtc));
const moment = lazily(() => new Intl.DateTimeFormat(locale, { ...inUtc, timeStyle: 'short' }));

/** A day or an instant as conditions write them, in UTC as they count; null for any other text. */
function timeText(value: string): string | null {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
  if (!isDay && !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(value)) return null;
  const at = Date.parse(value);
  if (Number.isNaN(at)) return null;
  return isDay ? day().format(at) : `${moment().format(at)} UTC`;
}
