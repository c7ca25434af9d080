import {
  AssignTag,
  BreakTag,
  CaptureTag,
  CaseTag,
  ContinueTag,
  CycleTag,
  DecrementTag,
  EchoTag,
  type FilteredValueToken,
  ForTag,
  IfTag,
  IncrementTag,
  LiquidTag,
  Output,
  RawTag,
  TablerowTag,
  type Template,
  type Token,
  TypeGuards,
  UnlessTag,
  type Value,
} from 'liquidjs';
import type { EscapedCycle } from './liquid.ts';

/**
 * A template that does not parse. `line` and `column` count from 1 in the source as its author wrote it; `reason` says
 * what is wrong, `message` says the same and shows the place.
 */
export class TemplateSyntaxError extends Error {
  readonly line: number;
  readonly column: number;
  readonly reason: string;

  constructor(reason: string, source: string, offset: number) {
    const { line, column } = placeOf(source, offset);
    super(`${reason} at line ${line}, column ${column}${excerpt(source, offset)}`);
    this.name = 'TemplateSyntaxError';
    this.line = line;
    this.column = column;
    this.reason = reason;
  }
}

/** A template that takes more steps to parse than there are for one. Its mail is not sent. */
export class TemplateTooLargeError extends TemplateSyntaxError {}

function placeOf(source: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let next = source.indexOf('\n'); next !== -1 && next < offset; next = source.indexOf('\n', next + 1)) {
    line += 1;
    lineStart = next + 1;
  }
  return { line, column: Math.max(0, Math.min(offset, source.length) - lineStart) + 1 };
}

function excerpt(source: string, offset: number): string {
  const rest = source.slice(offset, offset + 60);
  const shown = (rest.split('\n', 1)[0] ?? '').trim();
  return shown === '' ? '' : `: ${shown}${rest.length === 60 ? '…' : ''}`;
}

/** A parsed template in our own words: what the analyses and the compiler need to know of liquidjs's tree. */
export type Node =
  | { kind: 'text'; text: string }
  | { kind: 'output'; value: Value }
  | { kind: 'cycle'; tag: EscapedCycle; candidates: FilteredValueToken[] }
  | { kind: 'if'; branches: { value: Value; negate: boolean; body: Node[] }[]; otherwise: Node[] }
  | { kind: 'case'; value: Value; branches: { values: Token[]; body: Node[] }[]; otherwise: Node[] }
  | {
      kind: 'for';
      variable: string;
      loopName: string;
      collection: Token;
      settings: Record<string, Token | undefined>;
      body: Node[];
      otherwise: Node[];
    }
  | { kind: 'assign'; name: string; value: Value }
  | { kind: 'capture'; name: string; body: Node[] }
  | { kind: 'counter'; name: string }
  | { kind: 'group'; body: Node[] }
  | { kind: 'jump' }
  | { kind: 'nothing' };

/** Reads liquidjs's tree. It uses private fields of the pinned version, and nothing else in the code base does. */
export function readNodes(templates: readonly Template[]): Node[] {
  return templates.map(readNode);
}

// The private fields of liquidjs's classes that are read here.
interface Inside {
  str: string;
  key: string;
  value: Value;
  variable: string;
  candidates: FilteredValueToken[];
  tokens: Token[];
}

function readNode(template: Template): Node {
  const inside = template as unknown as Inside;
  if (TypeGuards.isHTMLToken(template.token)) return { kind: 'text', text: inside.str };
  if (template instanceof RawTag) return { kind: 'text', text: inside.tokens.map((token) => token.getText()).join('') };
  if (template instanceof Output) return { kind: 'output', value: template.value };
  if (template instanceof EchoTag) return inside.value ? { kind: 'output', value: inside.value } : { kind: 'nothing' };
  if (template instanceof CycleTag)
    return { kind: 'cycle', tag: template as EscapedCycle, candidates: inside.candidates };
  if (template instanceof IfTag || template instanceof UnlessTag) {
    const unless = template instanceof UnlessTag;
    return {
      kind: 'if',
      branches: template.branches.map((branch, i) => ({
        value: branch.value,
        negate: unless && i === 0,
        body: readNodes(branch.templates),
      })),
      otherwise: readNodes(template.elseTemplates ?? []),
    };
  }
  if (template instanceof CaseTag)
    return {
      kind: 'case',
      value: template.value,
      branches: template.branches.map((branch) => ({ values: branch.values, body: readNodes(branch.templates) })),
      otherwise: readNodes(template.elseTemplates),
    };
  if (template instanceof ForTag || template instanceof TablerowTag) {
    const loop = template instanceof ForTag;
    return {
      kind: 'for',
      variable: template.variable,
      loopName: loop ? 'forloop' : 'tablerowloop',
      collection: template.collection,
      settings: loop ? template.hash.hash : template.args.hash,
      body: readNodes(template.templates),
      otherwise: loop ? readNodes(template.elseTemplates) : [],
    };
  }
  if (template instanceof AssignTag) return { kind: 'assign', name: inside.key, value: inside.value };
  if (template instanceof CaptureTag)
    return { kind: 'capture', name: template.variable, body: readNodes(template.templates) };
  if (template instanceof IncrementTag || template instanceof DecrementTag)
    return { kind: 'counter', name: inside.variable };
  if (template instanceof LiquidTag) return { kind: 'group', body: readNodes(template.templates) };
  if (template instanceof BreakTag || template instanceof ContinueTag) return { kind: 'jump' };
  return { kind: 'nothing' };
}

/** The nodes inside a node. */
export function childrenOf(node: Node): Node[] {
  switch (node.kind) {
    case 'if':
    case 'case':
      return [...node.branches.flatMap((branch) => branch.body), ...node.otherwise];
    case 'for':
      return [...node.body, ...node.otherwise];
    case 'capture':
    case 'group':
      return node.body;
    default:
      return [];
  }
}

/** Whether any node, at any depth, is one that `matches`. */
export function someNode(nodes: readonly Node[], matches: (node: Node) => boolean): boolean {
  return nodes.some((node) => matches(node) || someNode(childrenOf(node), matches));
}
