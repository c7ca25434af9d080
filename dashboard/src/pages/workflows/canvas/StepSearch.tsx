import { Panel } from '@xyflow/react';
import { Search } from 'lucide-react';
import { usePart } from '../../../standby/use-part.ts';
import { Button } from '../../../ui/Button.tsx';
import type { ShownStep } from './StepNode.tsx';

const load = () => import('./SearchBox.tsx');

/** Finds a step by its name or type, above the graph. */
export function StepSearch({
  steps,
  isOpen,
  onOpen,
  onFind,
}: {
  steps: readonly ShownStep[];
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  /** Shows a step that was found. */
  onFind: (id: string) => void;
}) {
  const part = usePart(load, isOpen);
  return (
    <Panel position="top-left" className="step-search">
      {isOpen && part ? (
        <part.SearchBox steps={steps} onFind={onFind} onClose={() => onOpen(false)} />
      ) : (
        <Button size="small" aria-label="Find a step" title="Find a step (/)" onClick={() => onOpen(true)}>
          <Search aria-hidden />
        </Button>
      )}
    </Panel>
  );
}
