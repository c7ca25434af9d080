import { type Liquid, TypeGuards, toValue } from 'liquidjs';
import {
  equal,
  type Get,
  type Names,
  NotCompiled,
  notCompiled,
  type Turn,
  unset,
  ValueCompiler,
} from './compile-values.ts';
import { asList, isTrue, weightOfToken } from './evaluate.ts';
import { type Node, someNode } from './nodes.ts';
import { checkLimits, type Run, spend, spendValue, writeLiteral, writeValue } from './run.ts';
import { Literal } from './values.ts';

/** A template as functions that write straight into a run. */
export interface Program {
  /** How many slots for loop and assigned variables a run needs. */
  slots: number;
  execute(run: Run): void;
}

type Step = (run: Run) => void;

/** The slots of a new run. */
export function emptySlots(program: Program): unknown[] {
  return program.slots === 0 ? noSlots : new Array(program.slots).fill(unset);
}
const noSlots: unknown[] = [];

/**
 * Compiles a template, or answers null when it uses a part of the language that only liquidjs renders (captures, counters,
 * cycles, jumps, ranges, filters that take expressions). Compiled or not, a template renders to the same text; compiled it
 * does so some thirty times faster, because liquidjs drives every value through generators.
 */
export function compileTemplate(nodes: readonly Node[], engine: Liquid): Program | null {
  try {
    return new Compiler(engine).compile(nodes);
  } catch (error) {
    if (error instanceof NotCompiled) return null;
    throw error;
  }
}

class Compiler {
  private readonly assigned = new Map<string, number>();
  private readonly values: ValueCompiler;
  private slots = 0;

  constructor(engine: Liquid) {
    this.values = new ValueCompiler(engine, this.assigned);
  }

  compile(nodes: readonly Node[]): Program {
    someNode(nodes, (node) => {
      if (node.kind === 'assign' && !this.assigned.has(node.name)) this.assigned.set(node.name, this.slots++);
      return false;
    });
    const steps = this.body(nodes, null);
    return { slots: this.slots, execute: inOrder(steps) };
  }

  private body(nodes: readonly Node[], names: Names | null): Step[] {
    const steps: Step[] = [];
    for (const node of nodes) {
      const step = this.node(node, names);
      if (step) steps.push(step);
    }
    return steps;
  }

  private node(node: Node, names: Names | null): Step | null {
    switch (node.kind) {
      case 'text': {
        const { text } = node;
        return text === '' ? null : append(text);
      }
      case 'output': {
        const value = this.values.value(node.value, names);
        return (run) => {
          checkLimits(run);
          writeValue(run, value(run));
        };
      }
      case 'assign': {
        const slot = this.assigned.get(node.name) ?? 0;
        const value = this.values.value(node.value, names);
        return (run) => {
          spend(run, 1);
          const assigned = value(run);
          if (typeof assigned === 'object') spendValue(run, assigned);
          run.slots[slot] = assigned;
        };
      }
      case 'if': {
        const branches = node.branches.map((branch) => ({
          test: this.values.value(branch.value, names),
          negate: branch.negate,
          body: inOrder(this.body(branch.body, names)),
        }));
        const otherwise = inOrder(this.body(node.otherwise, names));
        return (run) => {
          for (const branch of branches) {
            spend(run, 1);
            if (isTrue(branch.test(run)) !== branch.negate) return branch.body(run);
          }
          otherwise(run);
        };
      }
      case 'case':
        return this.cases(node, names);
      case 'for':
        return node.loopName === 'forloop' ? this.loop(node, names) : notCompiled();
      case 'nothing':
        return null;
      default:
        return notCompiled();
    }
  }

  private cases(node: Extract<Node, { kind: 'case' }>, names: Names | null): Step {
    const target = this.values.value(node.value, names);
    const branches = node.branches.map((branch) => ({
      values: branch.values.map((token) => this.values.token(token, names)),
      weight: branch.values.reduce((sum, token) => sum + weightOfToken(token), 0),
      body: inOrder(this.body(branch.body, names)),
    }));
    const otherwise = inOrder(this.body(node.otherwise, names));
    return (run) => {
      const wanted = toValue(target(run));
      let hit = false;
      for (const branch of branches) {
        spend(run, branch.weight);
        if (!branch.values.some((value) => equal(run, wanted, value(run)))) continue;
        hit = true;
        branch.body(run);
      }
      if (!hit) otherwise(run);
    };
  }

  private loop(node: Extract<Node, { kind: 'for' }>, names: Names | null): Step {
    if (!TypeGuards.isPropertyAccessToken(node.collection)) notCompiled();
    const collection = this.values.token(node.collection, names);
    const weight = weightOfToken(node.collection);
    const item = this.slots++;
    const turn = this.slots++;
    const inner: Names = {
      slots: new Map([
        [node.loopName, turn],
        [node.variable, item],
      ]),
      parent: names,
    };
    const body = inOrder(this.body(node.body, inner));
    const otherwise = inOrder(this.body(node.otherwise, names));
    const { offset, limit, reversed, ...unknown } = this.loopSettings(node, names);
    if (Object.keys(unknown).length > 0) notCompiled();
    return (run) => {
      spend(run, weight);
      let items = asList(collection(run));
      if (items.length === 0) return otherwise(run);
      // A list that is cut, reversed or made of an object's keys is a copy.
      spend(run, items.length >> 4);
      if (offset) items = items.slice(offset(run) as number);
      if (limit) items = items.slice(0, limit(run) as number);
      if (reversed) items = [...items].reverse();
      const loop: Turn = { index: 0, length: items.length };
      for (const value of items) {
        checkLimits(run);
        run.slots[item] = value;
        run.slots[turn] = loop;
        body(run);
        loop.index += 1;
      }
    };
  }

  private loopSettings(node: Extract<Node, { kind: 'for' }>, names: Names | null): Record<string, Get> {
    const settings: Record<string, Get> = {};
    for (const [name, token] of Object.entries(node.settings)) {
      // A setting without a value counts as given; `continue` means where an earlier loop stopped, which liquidjs knows.
      if (token !== undefined && token.getText() === 'continue') notCompiled();
      const value = token === undefined ? () => true : this.values.token(token, names);
      // liquidjs leaves a setting out whose value is missing, and a missing count is no count of zero.
      settings[name] = name === 'reversed' || TypeGuards.isNumberToken(token) ? value : notCompiled();
    }
    return settings;
  }
}

function append(text: string): Step {
  const literal = new Literal(text);
  return (run) => writeLiteral(run, literal);
}

function inOrder(steps: readonly Step[]): Step {
  const [only] = steps;
  if (steps.length === 1 && only) return only;
  return (run) => {
    for (const step of steps) step(run);
  };
}
