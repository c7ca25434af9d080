import type { components } from '../../../api/schema.d.ts';
import type { Graph } from '../graph/draft.ts';
import type { Workflow } from '../workflow.ts';

type Answer = components['schemas']['ReplaceWorkflowGraphResult'];
type Changes = Answer['changes'];

const verbs = { added: 'New', removed: 'Removed', changed: 'Changed', moved: 'Repositioned' } as const;
const fieldNames: Record<string, string> = { name: 'name', config: 'settings', templateId: 'template', note: 'note' };

/** Lists the changes of a publication, step by step and path by path. */
export function ChangeList({
  changes: { steps, transitions },
  graph,
  ids,
  workflow,
}: {
  changes: Changes;
  graph: Graph;
  ids: Answer['ids'];
  workflow: Workflow;
}) {
  const names = new Map([
    ...workflow.steps.map((step) => [step.id, step.name] as const),
    ...graph.steps.map((step) => [ids[step.id] ?? step.id, step.name] as const),
  ]);
  if (steps.length + transitions.length === 0) return <p>No changes.</p>;
  return (
    <ul>
      {steps.map(({ id, name, change, fields }) => (
        <li key={id} className="break">
          {verbs[change]}: <strong dir="auto">{name}</strong>
          {fields.length > 0 ? ` (${fields.map((field) => fieldNames[field] ?? field).join(', ')})` : ''}
        </li>
      ))}
      {transitions.map(({ fromStepId, toStepId, branch, waitOutcome, change }) => (
        <li key={`${fromStepId} ${toStepId} ${branch} ${waitOutcome} ${change}`} className="break">
          {verbs[change]} path: {names.get(fromStepId) ?? '…'} → {names.get(toStepId) ?? '…'}
          {branch || waitOutcome ? ` (${branch ?? waitOutcome?.toLowerCase()})` : ''}
        </li>
      ))}
    </ul>
  );
}
