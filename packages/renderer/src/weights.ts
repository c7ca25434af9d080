import { type FilteredValueToken, type Token, TypeGuards, type Value } from 'liquidjs';
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
