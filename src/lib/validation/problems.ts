import * as v from 'valibot';
import { ownCode } from './fields.ts';

/** A problem of one field. */
export interface FieldProblem {
  /** Its path with dots, such as `to.0.email`; '' for the whole. */
  field: string;
  /** Goes on from the name of the field: `must have at most 255 characters`. */
  message: string;
  /** For programs: `invalid_type`, `invalid_string`, `invalid_enum_value`, `invalid_union`, `too_small`, `too_big`, `custom`, or that of a `coded` check. */
  code: string;
  /** The JSON type of the value, where another one was expected. */
  received?: string;
}

/** Converts issues of valibot to problems of fields; `prefix` is the path of what was checked. */
export function fieldProblems(issues: readonly v.BaseIssue<unknown>[], prefix = ''): FieldProblem[] {
  return issues.flatMap((issue) => problemsOf(issue, prefix));
}

function problemsOf(issue: v.BaseIssue<unknown>, prefix: string): FieldProblem[] {
  const field = joinPath(prefix, v.getDotPath(issue) ?? '');
  const separator = issue.message.indexOf('\u0000');
  if (separator !== -1)
    return [{ field, code: issue.message.slice(0, separator), message: issue.message.slice(separator + 1) }];
  if (issue.type === 'union') {
    const specific = mostSpecific(issue, field);
    return specific.length > 0
      ? specific
      : [{ field, code: 'invalid_union', message: messageOr(issue, 'fits none of the accepted forms') }];
  }
  const code = codeOf(issue);
  const absent = issue.received === 'undefined';
  return [
    {
      field,
      code,
      message: absent && code === 'invalid_type' ? 'is required' : messageOr(issue, 'is invalid'),
      ...(code === 'invalid_type' ? { received: jsonType(issue.input) } : {}),
    },
  ];
}

// Of a union the most specific failures are reported: those of the alternative that got past the type of the value.
// Paths of inner issues begin at the value of the union.
function mostSpecific(union: v.BaseIssue<unknown>, field: string): FieldProblem[] {
  const isSpecific = (issue: v.BaseIssue<unknown>) =>
    issue.kind === 'validation' ||
    issue.message.includes('\u0000') ||
    (issue.type === 'union' && (issue.path?.length ?? 0) > 0);
  return (union.issues ?? []).filter(isSpecific).flatMap((issue) => problemsOf(issue, field));
}

function messageOr(issue: v.BaseIssue<unknown>, fallback: string): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message;
  if (issue.kind === 'schema' && issue.type !== 'union')
    return issue.expected === null
      ? fallback
      : `must be ${issue.expected.replaceAll(' | ', ' or ')}, not ${jsonType(issue.input)}`;
  return fallback;
}

function codeOf(issue: v.BaseIssue<unknown>): string {
  const own = ownCode(issue);
  if (own !== undefined) return own;
  if (issue.kind === 'schema') {
    if (issue.type === 'picklist' || issue.type === 'enum' || issue.type === 'literal')
      return issue.received === 'undefined' ? 'invalid_type' : 'invalid_enum_value';
    if (issue.type === 'union' || issue.type === 'variant') return 'invalid_union';
    return 'invalid_type';
  }
  return Object.entries(codesOfChecks).find(([, types]) => types.includes(issue.type))?.[0] ?? 'custom';
}

const codesOfChecks: Record<string, readonly string[]> = {
  too_small: ['min_length', 'non_empty', 'min_value', 'min_size'],
  too_big: ['max_length', 'max_value', 'max_size', 'max_bytes'],
  invalid_string: ['email', 'rfc_email', 'uuid', 'url', 'regex', 'base64', 'iso_timestamp'],
  invalid_type: ['integer', 'finite'],
};

/** The JSON name of a value's type; `undefined` when it is absent. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function joinPath(one: string, other: string): string {
  return one === '' ? other : other === '' ? one : `${one}.${other}`;
}
