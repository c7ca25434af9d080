import { type FilteredValueToken, type Token, TypeGuards, type Value } from 'liquidjs';
import type { Node } from './nodes.ts';
import { ownNames, reservedNames, type Variables } from './variables.ts';

/**
 * Where the text of an expression may come from: names at the top, keys of `data`, or, when `anywhere`, a place that cannot
 * be known before rendering. Parts that only the author or the service can write are left out.
 */
export interface Sources {
  readonly anywhere: boolean;
  readonly top: readonly string[];
  readonly data: readonly string[];
}

/** Nothing that anybody but the author or the service wrote. */
export const noSources: Sources = { anywhere: false, top: [], data: [] };
const anywhere: Sources = { anywhere: true, top: [], data: [] };

/** Whether all of it came with the request itself; what is missing is nobody's text. */
export function allTrusted(sources: Sources, { trusted, reserved, context, data }: Variables): boolean {
  if (sources.anywhere) return false;
  if (sources.top.length === 0 && sources.data.length === 0) return true;
  if (trusted === null) return false;
  const fromRequest = (name: string) => trusted.has(name) || !Object.hasOwn(data, name);
  return (
    sources.data.every(fromRequest) &&
    sources.top.every(
      (name) => !Object.hasOwn(reserved, name) && !(context && Object.hasOwn(context, name)) && fromRequest(name),
    )
  );
}

/** The names a place in the template can see beside the variables: loop variables, innermost first. */
export interface VariableScope {
  readonly names: ReadonlyMap<string, Sources>;
  readonly parent: VariableScope | null;
}

/** The sources of names that `assign` and `capture` set, wherever they do it. */
export type Assigned = ReadonlyMap<string, Sources>;

// Bounds for templates that nobody writes by hand: beyond them every assigned name counts as a stranger's.
const mostTurns = 8;
const mostNames = 50;

/** Finds out, for all assigned names at once, where their text may come from. */
export function assignedSources(nodes: readonly Node[]): Assigned {
  const found = new Map<string, Sources>();
  // Each turn can only add, so this ends; names that depend on each other in a chain take as many turns as it is long.
  for (let turn = 0, changed = true; changed; turn++) {
    if (turn === mostTurns) return new Map(Array.from(found.keys(), (name) => [name, anywhere]));
    changed = false;
    visit(nodes, null, found, (name, sources) => {
      const known = found.get(name);
      const joined = known ? join([known, sources]) : sources;
      if (known && sameSize(known, joined)) return;
      found.set(name, joined);
      changed = true;
    });
  }
  return found;
}

/** The scope inside a loop. */
export function loopScope(
  node: Extract<Node, { kind: 'for' }>,
  parent: VariableScope | null,
  assigned: Assigned,
): VariableScope {
  const item = tokenSources(node.collection, parent, assigned);
  return {
    names: new Map([
      [node.loopName, noSources],
      [node.variable, item],
    ]),
    parent,
  };
}

/** Where the text of a value may come from, filters and their arguments included. */
export function valueSources(value: Value, scope: VariableScope | null, assigned: Assigned): Sources {
  const parts = value.initial.postfix.map((token) => tokenSources(token, scope, assigned));
  for (const filter of value.filters) {
    if (filter.name.endsWith('_exp')) parts.push(anywhere);
    for (const arg of filter.args) parts.push(tokenSources(Array.isArray(arg) ? arg[1] : arg, scope, assigned));
  }
  return join(parts);
}

/** The same for a value that a tag evaluates later, such as those of `cycle`. */
export function filteredTokenSources(
  token: FilteredValueToken,
  scope: VariableScope | null,
  assigned: Assigned,
): Sources {
  return valueSources(token as unknown as Value, scope, assigned);
}

function visit(
  nodes: readonly Node[],
  scope: VariableScope | null,
  assigned: Assigned,
  set: (name: string, sources: Sources) => void,
): Sources {
  const printed: Sources[] = [];
  for (const node of nodes) {
    switch (node.kind) {
      case 'output':
        printed.push(valueSources(node.value, scope, assigned));
        break;
      case 'cycle':
        for (const candidate of node.candidates) printed.push(filteredTokenSources(candidate, scope, assigned));
        break;
      case 'assign':
        set(node.name, valueSources(node.value, scope, assigned));
        break;
      case 'capture':
        set(node.name, visit(node.body, scope, assigned, set));
        break;
      case 'for':
        printed.push(
          visit(node.body, loopScope(node, scope, assigned), assigned, set),
          visit(node.otherwise, scope, assigned, set),
        );
        break;
      case 'if':
      case 'case':
        for (const branch of node.branches) printed.push(visit(branch.body, scope, assigned, set));
        printed.push(visit(node.otherwise, scope, assigned, set));
        break;
      case 'group':
        printed.push(visit(node.body, scope, assigned, set));
        break;
      default:
        break;
    }
  }
  return join(printed);
}

function tokenSources(token: Token | undefined, scope: VariableScope | null, assigned: Assigned): Sources {
  if (TypeGuards.isFilteredValueToken(token)) return filteredTokenSources(token, scope, assigned);
  if (!TypeGuards.isPropertyAccessToken(token)) return noSources;
  if (token.variable) return tokenSources(token.variable, scope, assigned);
  const [root, next] = token.props;
  const name = contentOf(root);
  if (name === null) return anywhere;
  for (let outer = scope; outer !== null; outer = outer.parent) {
    const bound = outer.names.get(name);
    if (bound) return bound;
  }
  const own = nameSources(name, next && contentOf(next));
  const set = assigned.get(name);
  return set ? join([own, set]) : own;
}

function nameSources(name: string, next: string | null | undefined): Sources {
  if (name === 'data') return typeof next === 'string' ? { anywhere: false, top: [], data: [next] } : anywhere;
  if (ownNames.has(name)) return noSources;
  if (reservedNames.has(name)) return anywhere;
  return { anywhere: false, top: [name], data: [] };
}

// The key that a part of a path is, or null when it is only known while rendering.
function contentOf(token: Token | undefined): string | null {
  if (TypeGuards.isWordToken(token) || TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token))
    return String(token.content);
  return null;
}

function join(parts: readonly Sources[]): Sources {
  const real = parts.filter((part) => part !== noSources);
  if (real.length === 0) return noSources;
  if (real.some((part) => part.anywhere)) return anywhere;
  const [only] = real;
  if (only && real.length === 1) return only;
  const top = [...new Set(real.flatMap((part) => part.top))];
  const data = [...new Set(real.flatMap((part) => part.data))];
  return top.length + data.length > mostNames ? anywhere : { anywhere: false, top, data };
}

function sameSize(a: Sources, b: Sources): boolean {
  return a.anywhere === b.anywhere && a.top.length === b.top.length && a.data.length === b.data.length;
}
