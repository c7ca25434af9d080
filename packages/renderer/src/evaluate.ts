import {
  defaultOperators,
  type FilteredValueToken,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
  type Value,
} from 'liquidjs';
import { childrenOf, type Node } from './nodes.ts';
import { runOf, spend } from './run.ts';

/** How many steps evaluating a value takes, what its filters do with their input aside: one for each of its parts. */
export function weightOf({ initial, filters }: Pick<Value, 'initial' | 'filters'>): number {
  let weight = 0;
  for (const token of initial.postfix) weight += weightOfToken(token);
  for (const filter of filters) {
    weight += 1;
    for (const arg of filter.args) weight += weightOfToken(Array.isArray(arg) ? arg[1] : arg);
  }
  return weight;
}

/** The same of a literal or a path. */
export function weightOfToken(token: Token | undefined): number {
  if (TypeGuards.isPropertyAccessToken(token)) {
    let weight = 1;
    for (const prop of token.props) weight += weightOfToken(prop);
    return weight;
  }
  if (TypeGuards.isFilteredValueToken(token)) return weightOf(token as FilteredValueToken & Value);
  return 1;
}

/** Whether a value takes so many steps that they are worth counting on their own. */
export function isHeavy(weight: number): boolean {
  return weight > 4;
}

/** Lets liquidjs count the steps of heavy values, as the compiler does. */
export function countHeavyValues(nodes: readonly Node[]): void {
  for (const node of nodes) {
    switch (node.kind) {
      case 'output':
      case 'assign':
        count(node.value);
        break;
      case 'if':
        for (const branch of node.branches) count(branch.value);
        break;
      case 'case':
        count(node.value);
        break;
      default:
        break;
    }
    countHeavyValues(childrenOf(node));
  }
}

function count(value: Value): void {
  const weight = weightOf(value);
  if (!isHeavy(weight)) return;
  const evaluate = value.value;
  value.value = function (ctx, lenient) {
    spend(runOf(ctx), weight);
    return evaluate.call(this, ctx, lenient);
  };
}

/** A property as Liquid reads it: own ones only, and `size`, `first` and `last` of what has them. */
export function readProperty(object: unknown, key: string | number): unknown {
  if (object === null || object === undefined) return object;
  if (Array.isArray(object) && typeof key === 'number') return object[key < 0 ? object.length + key : key];
  const value = Object.hasOwn(object, key) ? (object as Record<string | number, unknown>)[key] : undefined;
  if (value !== undefined) return value;
  if (key === 'size') return sizeOf(object);
  if (Array.isArray(object) && object.length > 0) {
    if (key === 'first') return object[0];
    if (key === 'last') return object[object.length - 1];
  }
  return undefined;
}

function sizeOf(object: object): unknown {
  if (Object.hasOwn(object, 'size')) return undefined;
  if (typeof object === 'string' || Array.isArray(object)) return (object as { length: number }).length;
  return typeof object === 'object' ? countKeys(object) : undefined;
}

const counted = new WeakMap<object, number>();

// A loop may ask often, and to count the keys of a large object takes long. While a template renders, no object changes.
function countKeys(object: object): number {
  const known = counted.get(object);
  if (known !== undefined) return known;
  const count = Object.keys(object).length;
  if (count > 100) counted.set(object, count);
  return count;
}

/** A value that `quickComparisons` compare. */
type Plain = string | number;
/** Comparisons of texts and numbers, without liquidjs's generators. */
export const quickComparisons: Record<string, (a: Plain, b: Plain) => boolean> = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
};

/** Whether a value can go to `quickComparisons`. */
export function isPlain(value: unknown): value is Plain {
  return typeof value === 'string' || typeof value === 'number';
}

const liquidEquals = defaultOperators['=='] as (a: unknown, b: unknown) => Generator<unknown, boolean, unknown>;

/** `==` as Liquid has it, `empty`, `blank` and `nil` included. */
export function areEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' && typeof b !== 'object') return a === b;
  return toValueSync(liquidEquals(a, b)) as boolean;
}

/** Truth as JavaScript has it. */
export function isTrue(value: unknown): boolean {
  return Boolean(typeof value === 'object' ? toValue(value) : value);
}

/** Returns the items of a loop. */
export function asList(value: unknown): unknown[] {
  const plain: unknown = toValue(value);
  if (Array.isArray(plain)) return plain;
  if (typeof plain === 'string') return plain === '' ? [] : [plain];
  return typeof plain === 'object' && plain !== null ? Object.entries(plain) : [];
}
