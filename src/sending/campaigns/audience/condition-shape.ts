import { maxLevels } from '@fernpost/conditions';
import { type FieldProblem, jsonType } from '@fernpost/validation';
import { invalid } from '../../../core/lib/errors.ts';

const mostProblems = 20;

/**
 * Refuses a condition that is no tree of groups and filters at all. What its filters say is checked by
 * `checkedDefinition`, whose complaints are 400s (docs/contract/campaigns-and-workflows.md#2-5: malformed 422, semantically
 * invalid 400).
 * @throws 422 naming each place
 */
export function checkConditionShape(tree: unknown, field = 'audienceCondition'): void {
  const problems: FieldProblem[] = [];
  condition(tree, field, 1);
  if (problems.length > 0) throw invalid(problems.slice(0, mostProblems));

  function condition(node: unknown, place: string, level: number): void {
    // Deeper ones are refused as a whole later, and are not walked into here.
    if (level > maxLevels || problems.length >= mostProblems || !object(node, place)) return;
    if (node.logic !== 'AND' && node.logic !== 'OR')
      add(
        `${place}.logic`,
        typeof node.logic === 'string' ? 'invalid_enum_value' : 'invalid_type',
        'must be AND or OR',
      );
    if (!list(node.groups, `${place}.groups`)) return;
    if (node.groups.length === 0) add(`${place}.groups`, 'too_small', 'must hold at least one group');
    for (const [index, group] of node.groups.entries()) groupOf(group, `${place}.groups.${index}`, level);
  }

  function groupOf(node: unknown, place: string, level: number): void {
    if (problems.length >= mostProblems || !object(node, place)) return;
    if (list(node.filters, `${place}.filters`))
      for (const [index, filter] of node.filters.entries()) filterOf(filter, `${place}.filters.${index}`);
    if (node.conditions !== undefined && node.conditions !== null)
      condition(node.conditions, `${place}.conditions`, level + 1);
  }

  function filterOf(node: unknown, place: string): void {
    if (problems.length >= mostProblems || !object(node, place)) return;
    for (const key of ['field', 'operator'])
      if (typeof node[key] !== 'string') add(`${place}.${key}`, 'invalid_type', 'must be a string', node[key]);
  }

  function object(node: unknown, place: string): node is Record<string, unknown> {
    if (typeof node === 'object' && node !== null && !Array.isArray(node)) return true;
    add(place, 'invalid_type', 'must be an object', node);
    return false;
  }

  function list(node: unknown, place: string): node is unknown[] {
    if (Array.isArray(node)) return true;
    add(place, 'invalid_type', 'must be an array', node);
    return false;
  }

  function add(place: string, code: string, message: string, received?: unknown): void {
    problems.push({
      field: place,
      code,
      message,
      ...(code === 'invalid_type' ? { received: jsonType(received) } : {}),
    });
  }
}
