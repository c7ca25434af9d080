import type { Graph } from '../draft.ts';
import { automaticLayout } from '../layout.ts';
import type { Step } from '../shapes.ts';
import type { Starter } from './parts.ts';

/**
 * The graph of a starter behind the trigger of a new workflow. `templates` has the ID of the template that each of its emails
 * became; a step whose email is none sends nothing until somebody chooses a template.
 */
export function starterGraph(
  { steps, paths }: Pick<Starter, 'steps' | 'paths'>,
  trigger: Pick<Step, 'id' | 'name' | 'config'>,
  templates: ReadonlyMap<string, string>,
): Graph {
  const idOf = (id: string) => (id === 'trigger' ? trigger.id : id);
  const { id, name, config } = trigger;
  const made: Graph = {
    steps: [
      { id, type: 'TRIGGER', name, config, position: { x: 0, y: 0 }, templateId: null, note: null },
      ...steps.map((step) => {
        const templateId = templates.get(step.email ?? '') ?? null;
        return {
          id: step.id,
          type: step.type,
          name: step.name,
          position: { x: 0, y: 0 },
          config: templateId === null ? step.config : { ...step.config, templateId },
          templateId,
          note: step.note ?? null,
        };
      }),
    ],
    transitions: paths.map(({ from, to, branch = null, waitOutcome = null }, n) => ({
      id: `path-${n}`,
      fromStepId: idOf(from),
      toStepId: idOf(to),
      branch,
      waitOutcome,
      priority: 0,
    })),
  };
  const places = automaticLayout(made.steps, made.transitions);
  return {
    ...made,
    steps: made.steps.map((step) => ({ ...step, position: places.get(step.id) ?? step.position })),
  };
}
