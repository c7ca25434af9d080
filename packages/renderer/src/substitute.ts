import { readProperty } from './evaluate.ts';
import { decodeEntities, plainOutput } from './expression.ts';
import { allTrusted, type Sources } from './sources.ts';
import { escapeHtml, htmlText, mapText, plainText } from './values.ts';
import { isMissing, lookUp, ownNames, reservedNames, type Variables } from './variables.ts';

/** How a broken template is written. */
export interface Substitution {
  mode: 'html' | 'text';
  escapeValues: boolean;
}

const delimited = /\{\{-?([^{}]*)-?\}\}/g;

/**
 * Renders a template that does not parse, or went over a limit (docs/contract/core.md#2-4): `{{path}}` and
 * `{{path ?? literal}}` are filled in, everything else stays as it is written.
 */
export function substitute(source: string, variables: Variables, { mode, escapeValues }: Substitution): string {
  return source.replace(delimited, (written, inside: string) => {
    const output = plainOutput(decodeEntities(inside));
    if (!output) return written;
    const value = valueAt(output.path, variables);
    if (isEmpty(value) && output.fallback !== null) return output.fallback;
    if (isMissing(value)) variables.missing?.add(output.path.join('.'));
    if (mode === 'text') return plainText(value);
    const asItIs = !escapeValues || allTrusted(sourcesOf(output.path), variables);
    return htmlText(asItIs ? value : mapText(value, escapeHtml));
  });
}

function valueAt([root, ...rest]: readonly string[], variables: Variables): unknown {
  return rest.reduce<unknown>(readProperty, root === undefined ? undefined : lookUp(variables, root));
}

function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

function sourcesOf([root, second]: readonly string[]): Sources {
  if (root === undefined || ownNames.has(root)) return { anywhere: false, top: [], data: [] };
  if (root === 'data' && second !== undefined) return { anywhere: false, top: [], data: [second] };
  return reservedNames.has(root) ? { anywhere: true, top: [], data: [] } : { anywhere: false, top: [root], data: [] };
}
