import { Button } from '../../../ui/Button.tsx';
import { stepText } from '../../../words/events.ts';
import { StepIcon } from '../canvas/StepIcon.tsx';
import type { DraftWay, Graph } from '../graph/draft.ts';
import { type Addable, addable, stepNames, wayOf } from '../graph/graph.ts';

/** A path between two steps: insert a step into it, or remove it. */
export function WayPanel({
  graph,
  way,
  words,
  onInsert,
  onRemove,
}: {
  graph: Graph;
  way: DraftWay;
  /** Who took it. */
  words: string | undefined;
  onInsert: (type: Addable) => void;
  onRemove: () => void;
}) {
  const from = graph.steps.find(({ id }) => id === way.fromStepId);
  const to = graph.steps.find(({ id }) => id === way.toStepId);
  const { label } = wayOf(from, way);
  return (
    <div className="stack">
      <h2 className="break">
        {from && stepText(from.name)} → {to && stepText(to.name)}
      </h2>
      {label ? <p>Taken on “{label}”.</p> : null}
      {words ? <p>{words}</p> : null}
      <h3>Insert a step</h3>
      <div className="grid grid-cols-2 gap-2 [&_button]:justify-start">
        {addable
          .filter(({ type }) => type !== 'EXIT')
          .map(({ type }) => (
            <Button key={type} onClick={() => onInsert(type)}>
              <StepIcon type={type} /> {stepNames[type]}
            </Button>
          ))}
      </div>
      <div>
        <Button size="small" variant="danger" onClick={onRemove}>
          Remove this path
        </Button>
      </div>
    </div>
  );
}
