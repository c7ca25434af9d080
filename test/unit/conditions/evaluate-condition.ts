import { contextOf } from '../../../src/automations/runtime/condition.ts';
import type {
  Activity,
  ActivityFilter,
  Condition,
  ConditionFilter,
  DataValue,
  DateFilter,
  EmailFilter,
  EventFilter,
  HappenedTest,
  MailSource,
  SegmentFilter,
  Times,
  ValueFilter,
} from '../../../src/lib/conditions/condition.ts';
import { cutoff, lastOf, parseIsoDate, utcDay } from '../../../src/lib/conditions/dates.ts';
import type { Comparison } from '../../../src/lib/conditions/filters.ts';
import {
  expansion,
  hasMembershipRows,
  noSegments,
  refuseOvergrowth,
  type SegmentMap,
} from '../../../src/lib/conditions/segments.ts';
import type { JsonObjectValue } from '../../../src/lib/contact-data.ts';

/** One contact with everything a condition can ask about. */
export interface Subject {
  contact: { email: string; subscribed: boolean; data: Record<string, unknown>; createdAt: Date; updatedAt: Date };
  events: readonly { name: string; createdAt: Date; data?: Record<string, unknown> | null }[];
  /** One entry per email of the contact, with the instants at which things happened to it, its sources and the clicks on its links. */
  emails: readonly (Partial<Record<`${Activity}At`, Date | null>> &
    Partial<Record<MailSource['kind'], string | null>> & { clicks?: readonly { link: string; at: Date }[] })[];
  /** Ids of the segments it is now a member of by membership row. */
  memberships: ReadonlySet<string>;
}

/** What evaluating needs beside the subject. */
export interface EvaluateOptions {
  now: Date;
  segments?: SegmentMap;
  trigger?: Record<string, unknown>;
}

/**
 * Whether a condition holds for one contact: the rules of docs/contract/core.md#4-3 once more and without SQL, so that tests can
 * compare what `compileCondition` finds with it.
 */
export function evaluateCondition(condition: Condition, subject: Subject, options: EvaluateOptions): boolean {
  const { now, segments = noSegments } = options;
  refuseOvergrowth(condition, segments);
  return holds(condition, []);

  function holds({ logic, groups }: Condition, above: string[]): boolean {
    const test = ({ filters, nested }: Condition['groups'][number]) =>
      filters.every((filter) => matches(filter, above)) && (nested === null || holds(nested, above));
    return logic === 'AND' ? groups.every(test) : groups.some(test);
  }

  function matches(filter: ConditionFilter, above: string[]): boolean {
    switch (filter.kind) {
      case 'email':
        return emailMatches(filter, subject.contact.email);
      case 'subscribed':
        return subject.contact.subscribed === filter.expected;
      case 'date':
        return dateMatches(filter, subject.contact[filter.column].getTime(), now);
      case 'data':
        return dataMatches(filter, subject.contact.data, now);
      case 'trigger':
        return dataMatches(filter, options.trigger ?? {}, now);
      case 'event':
      case 'activity':
        return happened(filter, instantsOf(filter, subject, now), now);
      case 'segment':
        return isMember(filter, above) === filter.member;
    }
  }

  function isMember({ segmentId }: SegmentFilter, above: string[]): boolean {
    const segment = segments.get(segmentId);
    if (segment && hasMembershipRows(segment)) return subject.memberships.has(segmentId);
    const nested = expansion(segmentId, segments, above);
    return nested !== null && holds(nested.condition, nested.above);
  }
}

function emailMatches({ operator, text }: EmailFilter, email: string): boolean {
  switch (operator) {
    case 'equals':
      return email === text;
    case 'notEquals':
      return email !== text;
    case 'contains':
      return email.includes(text);
    case 'notContains':
      return !email.includes(text);
  }
}

function dateMatches({ test }: DateFilter, instant: number, now: Date): boolean {
  switch (test.operator) {
    case 'in':
      return instant >= test.from && instant < test.until;
    case 'notIn':
      return instant < test.from || instant >= test.until;
    case 'within':
      return instant >= cutoff(now, test.milliseconds);
    case 'olderThan':
      return instant < cutoff(now, test.milliseconds);
    case 'withinNext':
      return instant >= now.getTime() && instant <= lastOf(now, test.milliseconds);
    case 'anniversaryWithin':
      return hasAnniversary(instant, now, test.milliseconds);
    default:
      return ordered(test.operator, instant - test.instant);
  }
}

// Day by day, and not by the list of days that the SQL is given.
function hasAnniversary(instant: number, now: Date, milliseconds: number): boolean {
  const { from } = utcDay(now.getTime());
  const born = new Date(instant);
  const [month, date] = [born.getUTCMonth(), born.getUTCDate()];
  const isLeapDay = month === 1 && date === 29;
  const comesRound = (on: Date) => {
    const hasLeapDay = new Date(Date.UTC(on.getUTCFullYear(), 1, 29)).getUTCMonth() === 1;
    return on.getUTCMonth() === month && on.getUTCDate() === (isLeapDay && !hasLeapDay ? 28 : date);
  };
  for (let day = from; instant < from && day <= now.getTime() + milliseconds; day += 86_400_000)
    if (comesRound(new Date(day))) return true;
  return false;
}

function instantsOf(filter: EventFilter | ActivityFilter, subject: Subject, now: Date): number[] {
  if (filter.kind === 'event') {
    const passes = ({ data }: Subject['events'][number]) =>
      (filter.where ?? []).every((test) => dataMatches(test, contextOf((data ?? {}) as JsonObjectValue), now));
    return subject.events
      .filter((event) => event.name === filter.name && passes(event))
      .map((event) => event.createdAt.getTime());
  }
  const { activity, of, link } = filter;
  const mail = subject.emails.filter((email) => of === undefined || email[of.kind] === of.id);
  if (link === undefined) return mail.flatMap((email) => email[`${activity}At`]?.getTime() ?? []);
  return mail.flatMap(({ clicks = [] }) => clicks.filter((click) => click.link === link).map(({ at }) => at.getTime()));
}

function happened({ test, times }: { test: HappenedTest; times?: Times }, instants: number[], now: Date): boolean {
  const ever = instants.length > 0;
  if (times !== undefined) {
    const counted = instants.filter(
      (instant) => !('milliseconds' in test) || instant >= cutoff(now, test.milliseconds),
    );
    return counted.length >= times.atLeast && counted.length <= (times.atMost ?? Number.POSITIVE_INFINITY);
  }
  if (!('milliseconds' in test)) return ever === (test.operator === 'triggered');
  const since = cutoff(now, test.milliseconds);
  const recently = instants.some((instant) => instant >= since);
  switch (test.operator) {
    case 'triggeredWithin':
      return recently;
    case 'triggeredOlderThan':
      return ever && !recently;
    case 'notTriggeredWithin':
      return !recently;
  }
}

function dataMatches({ key, path, test }: ValueFilter, data: Record<string, unknown>, now: Date): boolean {
  const value = valueAt(data, key, path);
  if (value === undefined || value === null) return test.operator === 'notExists';
  const date = typeof value === 'string' ? parseIsoDate(value) : null;
  switch (test.operator) {
    case 'exists':
      return true;
    case 'notExists':
      return false;
    case 'equals':
      return sameJson(value, test.value);
    case 'notEquals':
      return !sameJson(value, test.value);
    case 'in':
      return date !== null && date >= test.from && date < test.until;
    case 'notIn':
      return date === null || date < test.from || date >= test.until;
    case 'within':
      return date !== null && date >= cutoff(now, test.milliseconds);
    case 'olderThan':
      return date !== null && date < cutoff(now, test.milliseconds);
    case 'withinNext':
      return date !== null && date >= now.getTime() && date <= lastOf(now, test.milliseconds);
    case 'anniversaryWithin':
      return date !== null && hasAnniversary(date, now, test.milliseconds);
    case 'contains':
      return typeof value === 'string' && value.includes(test.text);
    case 'notContains':
      return typeof value !== 'string' || !value.includes(test.text);
    default: {
      if (typeof value === 'number' && typeof test.value === 'number') {
        return ordered(test.operator, Math.sign(value - test.value));
      }
      if (typeof value !== 'string' || typeof test.value !== 'string') return false;
      if (date !== null && test.instant !== null) return ordered(test.operator, date - test.instant);
      return ordered(test.operator, compareCodePoints(value, test.value));
    }
  }
}

function valueAt(data: Record<string, unknown>, key: string, path: string[]): unknown {
  if (Object.hasOwn(data, key)) return data[key];
  let value: unknown = data;
  for (const step of path) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

function sameJson(stored: unknown, wanted: DataValue): boolean {
  if (Array.isArray(stored) && Array.isArray(wanted)) {
    return stored.length === wanted.length && wanted.every((item, index) => sameJson(stored[index], item));
  }
  if (isObject(stored) && isObject(wanted)) {
    const keys = Object.keys(wanted);
    return (
      keys.length === Object.keys(stored).length &&
      keys.every((key) => Object.hasOwn(stored, key) && sameJson(stored[key], wanted[key] ?? null))
    );
  }
  return stored === wanted;
}

/** Orders two texts by code point. UTF-16 puts characters beyond U+FFFF before U+E000 to U+FFFF; code points do not. */
function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = rank(left.charCodeAt(index)) - rank(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function rank(codeUnit: number): number {
  return codeUnit >= 0xd800 && codeUnit < 0xe000 ? codeUnit + 0x10000 : codeUnit;
}

function ordered(operator: Comparison, difference: number): boolean {
  switch (operator) {
    case 'greaterThan':
      return difference > 0;
    case 'lessThan':
      return difference < 0;
    case 'greaterThanOrEqual':
      return difference >= 0;
    case 'lessThanOrEqual':
      return difference <= 0;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
