import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

const folders = ['src', 'workflows', 'activities', 'temporal', 'packages', 'dashboard/src', 'bench'];
const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** A function of a file; one without a name has that of what it stands in. */
export interface FunctionLength {
  name: string;
  line: number;
  lines: number;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Every function of a file with its length in lines, in the order of the text. */
export function functionsOf(path: string, text: string): FunctionLength[] {
  const found: FunctionLength[] = [];
  const lineAt = lineFinder(text);
  const visit = (value: unknown, around: string): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, around);
    if (!isNode(value)) return;
    const name = nameOf(value) ?? around;
    if (functions.has(value.type) && isNode(value.body)) {
      const line = lineAt(value.start);
      found.push({ name, line, lines: lineAt(value.end) - line + 1 });
    }
    for (const part of Object.values(value)) visit(part, name);
  };
  visit(parseAst(text, { lang: path.endsWith('.tsx') ? 'tsx' : 'ts' }), '');
  return found;
}

/** Functions of the product with more than `most` lines, as sentences, the longest first. Tests and migrations, which are lists, do not count. */
export function longFunctions(root: string, most: number): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    )
    .filter((path) => /\.tsx?$/.test(path) && !/(^|\/)(node_modules|test|dist)\//.test(path) && !path.endsWith('.d.ts'))
    .flatMap((path) => functionsOf(path, readFileSync(join(root, path), 'utf8')).map((each) => ({ path, ...each })))
    .filter(({ lines }) => lines > most)
    .sort((one, other) => other.lines - one.lines)
    .map(({ path, name, line, lines }) => `${path}:${line} ${name} has ${lines} lines`);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function nameOf(node: Node): string | undefined {
  const named = functions.has(node.type) || node.type === 'VariableDeclarator' ? node.id : undefined;
  const key = node.type === 'Property' || node.type === 'MethodDefinition' ? node.key : named;
  return isNode(key) && typeof key.name === 'string' ? key.name : undefined;
}

/** Answers the line, counted from 1, of a place in the text. */
function lineFinder(text: string): (at: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (at) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
