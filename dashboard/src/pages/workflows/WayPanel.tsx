import { Button } from '../../ui/Button.tsx';
import type { DraftWay, Graph } from './graph/draft.ts';
import { addable, stepNames, wayOf } from './graph/graph.ts';
import type { StepType } from './workflow.ts';

/** A way between two steps: put a step into it, or remove it. */
export function WayPanel({
  graph,
  way,
  onInsert,
  onRemove,
}: {
  graph: Graph;
  way: DraftWay;
  onInsert: (type: Exclude<StepType, 'TRIGGER'>) => void;
  onRemove: () => void;
}) {
  const from = graph.steps.find(({ id }) => id === way.fromStepId);
  const to = graph.steps.find(({ id }) => id === way.toStepId);
  const { label } = wayOf(from, way);
  return (
    <div className="stack">
      <h2 className="break">
        {from?.name} → {to?.name}
      </h2>
      {label ? <p>Taken on “{label}”.</p> : null}
      <h3>Insert a step</h3>
      <div className="row">
        {addable
          .filter(({ type }) => type !== 'EXIT')
          .map(({ type }) => (
            <Button key={type} size="small" onClick={() => onInsert(type)}>
              Insert {stepNames[type].toLowerCase()}
            </Button>
          ))}
      </div>
      <div>
        <Button size="small" look="danger" onClick={onRemove}>
          Remove this path
        </Button>
      </div>
    </div>
  );
}
