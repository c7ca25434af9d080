import { useState } from 'react';
import { usePart } from '../../../standby/use-part.ts';
import { Button } from '../../../ui/Button.tsx';
import { StepIcon } from '../canvas/StepIcon.tsx';
import { type Addable, addable, stepNames } from '../graph/graph.ts';
import type { SelectionProps } from './SelectionPanel.tsx';

const load = () => import('./SelectionPanel.tsx');
const loadKeys = () => import('./KeyList.tsx');

/** Edits the selection, or offers steps to add where nothing is selected. */
export function SidePanel({ publishes, ...selected }: Omit<SelectionProps, 'otherwise'> & { publishes: boolean }) {
  const { selection, edits } = selected;
  const part = usePart(load, selection !== null);
  const palette = <Palette publishes={publishes} onAdd={(type) => edits.add(type, null)} />;
  return (
    <aside aria-label="Selection">
      {selection && part ? <part.SelectionPanel {...selected} otherwise={palette} /> : palette}
    </aside>
  );
}

/** The types of steps, to drag onto the canvas or to press. */
function Palette({ publishes, onAdd }: { publishes: boolean; onAdd: (type: Addable) => void }) {
  const [isOpen, setOpen] = useState(false);
  const keys = usePart(loadKeys, isOpen);
  return (
    <div className="stack">
      <h2>Steps</h2>
      <div className="grid grid-cols-2 gap-2 [&_button]:justify-start">
        {addable.map(({ type }) => (
          <Button
            key={type}
            draggable
            onDragStart={(event) => event.dataTransfer.setData('text/step-type', type)}
            onClick={() => onAdd(type)}
          >
            <StepIcon type={type} /> {stepNames[type]}
          </Button>
        ))}
      </div>
      {keys ? <keys.EditingHints publishes={publishes} /> : null}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Keyboard</summary>
        {keys ? <keys.KeyList /> : null}
      </details>
    </div>
  );
}
