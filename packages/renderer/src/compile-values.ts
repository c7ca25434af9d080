import {
  type Context,
  type Filter,
  type Liquid,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
  type Value,
} from 'liquidjs';
import { areEqual, isHeavy, isPlain, isTrue, quickComparisons, readProperty, weightOf } from './evaluate.ts';
import { createContext, type FilterCall, type FilterFunction } from './liquid.ts';
import { OwnFilter } from './printing.ts';
import { type Run, spend, spendComparison } from './run.ts';
import { lookUp, reservedNames } from './variables.ts';

/** Reads a value in a run. */
export type Get = (run: Run) => unknown;

/** The value of a slot until the template assigns it. */
export const unset = Symbol('unset');

/** Thrown for what is left to liquidjs. */
export class NotCompiled extends Error {}

/** Gives up compiling. */
export function notCompiled(): never {
  throw new NotCompiled();
}

/** The loop variables that a place in a template sees, innermost first. */
export interface Names {
  slots: Map<string, number>;
  parent: Names | null;
}

/** How far a loop has come. */
export interface Turn {
  index: number;
  length: number;
}

/** Compiles values, conditions, paths and filters. */
export class ValueCompiler {
  private readonly engine: Liquid;
  /** The slots of assigned names. */
  private readonly assigned: ReadonlyMap<string, number>;

  constructor(engine: Liquid, assigned: ReadonlyMap<string, number>) {
    this.engine = engine;
    this.assigned = assigned;
  }

  /** A value with its filters. */
  value(value: Value, names: Names | null): Get {
    let get = this.expression(value.initial.postfix, names);
    for (const filter of value.filters) get = this.filter(filter, get, names);
    const weight = weightOf(value);
    if (!isHeavy(weight)) return get;
    const evaluate = get;
    return (run) => {
      spend(run, weight);
      return evaluate(run);
    };
  }

  private expression(postfix: readonly Token[], names: Names | null): Get {
    const [only] = postfix;
    if (only !== undefined && postfix.length === 1) return this.token(only, names);
    const stack: Get[] = [];
    for (const token of postfix) {
      if (!TypeGuards.isOperatorToken(token)) {
        stack.push(this.token(token, names));
        continue;
      }
      const right = stack.pop() ?? notCompiled();
      if (token.operator === 'not') stack.push((run) => !isTrue(right(run)));
      else stack.push(operation(token.operator, stack.pop() ?? notCompiled(), right, this.engine));
    }
    // Liquid reads values without an operator between them and goes by the first.
    return stack[0] ?? notCompiled();
  }

  /** A literal or a path. */
  token(token: Token, names: Names | null): Get {
    if (TypeGuards.isPropertyAccessToken(token)) return this.path(token, names);
    if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token) || TypeGuards.isLiteralToken(token)) {
      const { content } = token as { content: unknown };
      return () => content;
    }
    return notCompiled();
  }

  private path(token: Parameters<typeof propsOf>[0], names: Names | null): Get {
    const [root, ...rest] = propsOf(token).map((prop) => keyOf(prop) ?? this.token(prop, names));
    if (token.variable || typeof root !== 'string') return notCompiled();
    const bound = findSlot(names, root);
    if (bound !== undefined)
      return bound.isTurn ? turnFact(bound.slot, rest) : walk((run) => run.slots[bound.slot], rest);
    const fromVariables = variable(root);
    const slot = this.assigned.get(root);
    if (slot === undefined) return walk(fromVariables, rest);
    return walk((run) => (run.slots[slot] === unset ? fromVariables(run) : run.slots[slot]), rest);
  }

  private filter(filter: Filter, get: Get, names: Names | null): Get {
    if (filter instanceof OwnFilter) {
      const { act } = filter;
      return (run) => act(get(run), run);
    }
    if (filter.name.endsWith('_exp')) return notCompiled();
    const { handler, token } = filter as unknown as { handler: FilterFunction; token: unknown };
    const args = filter.args.map((arg): Get => {
      if (!Array.isArray(arg)) return this.token(arg, names);
      const [name, value] = arg;
      const named = value === undefined ? () => undefined : this.token(value, names);
      return (run) => [name, named(run)];
    });
    const { engine } = this;
    return (run) => {
      const call = { context: contextOf(run, engine), token, liquid: engine } as FilterCall;
      return handler.apply(call, [get(run), ...args.map((arg) => arg(run))]);
    };
  }
}

const turnFacts: Record<string, (turn: Turn) => unknown> = {
  index: (turn) => turn.index + 1,
  index0: (turn) => turn.index,
  first: (turn) => turn.index === 0,
  last: (turn) => turn.index === turn.length - 1,
  rindex: (turn) => turn.length - turn.index,
  rindex0: (turn) => turn.length - turn.index - 1,
  length: (turn) => turn.length,
};

function turnFact(slot: number, rest: readonly unknown[]): Get {
  const [name] = rest;
  const fact =
    rest.length === 1 && typeof name === 'string' && Object.hasOwn(turnFacts, name) ? turnFacts[name] : undefined;
  return fact === undefined ? notCompiled() : (run) => fact(run.slots[slot] as Turn);
}

function findSlot(names: Names | null, name: string): { slot: number; isTurn: boolean } | undefined {
  for (let outer = names; outer !== null; outer = outer.parent) {
    const slot = outer.slots.get(name);
    if (slot !== undefined) return { slot, isTurn: name === 'forloop' && outer.slots.size === 2 };
  }
  return undefined;
}

function variable(name: string): Get {
  if (reservedNames.has(name)) return (run) => run.variables.reserved[name];
  // `event` is reserved only where there is one.
  if (name === 'event') return (run) => lookUp(run.variables, name);
  return ({ variables: { context, data } }) => {
    if (context !== null && Object.hasOwn(context, name)) return context[name];
    return Object.hasOwn(data, name) ? data[name] : undefined;
  };
}

function propsOf(token: { variable: unknown; props: readonly Token[] }): readonly Token[] {
  return token.props;
}

function keyOf(token: Token): string | number | null {
  if (TypeGuards.isWordToken(token) || TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token))
    return token.content as string | number;
  return null;
}

function walk(root: Get, rest: readonly (string | number | Get)[]): Get {
  const [key, second] = rest;
  if (key === undefined) return root;
  if (rest.length === 1 && typeof key !== 'function') return (run) => readProperty(root(run), key);
  if (rest.length === 2 && typeof key !== 'function' && second !== undefined && typeof second !== 'function')
    return (run) => readProperty(readProperty(root(run), key), second);
  return (run) => {
    let value = root(run);
    for (const part of rest)
      value = readProperty(value, typeof part === 'function' ? (toValue(part(run)) as string) : part);
    return value;
  };
}

function operation(operator: string, left: Get, right: Get, engine: Liquid): Get {
  switch (operator) {
    case 'and':
      return (run) => isTrue(left(run)) && isTrue(right(run));
    case 'or':
      return (run) => isTrue(left(run)) || isTrue(right(run));
    case '==':
      return (run) => equal(run, left(run), right(run));
    case '!=':
      return (run) => !equal(run, left(run), right(run));
    default: {
      const liquid = engine.options.operators[operator] as
        | ((a: unknown, b: unknown, context: Context) => Generator<unknown, unknown, unknown>)
        | undefined;
      if (liquid === undefined) return notCompiled();
      const quick = quickComparisons[operator];
      return (run) => {
        const a = left(run);
        const b = right(run);
        if (typeof a !== 'number') spendComparison(run, a, b);
        return quick && isPlain(a) && isPlain(b) ? quick(a, b) : toValueSync(liquid(a, b, contextOf(run, engine)));
      };
    }
  }
}

/** `==` of two values in a run. */
export function equal(run: Run, a: unknown, b: unknown): boolean {
  if (typeof a === 'object' || typeof a === 'string') spendComparison(run, a, b);
  return areEqual(a, b);
}

function contextOf(run: Run, engine: Liquid): Context {
  if (run.context === null) {
    run.context = createContext({}, run, engine);
  }
  return run.context as Context;
}
