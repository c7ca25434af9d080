import { Panel } from '@xyflow/react';
import { ListTree, Search } from 'lucide-react';
import { usePart } from '../../../standby/use-part.ts';
import { Button } from '../../../ui/Button.tsx';
import type { ShownWay } from './Canvas.tsx';
import type { ShownStep } from './StepNode.tsx';

const loadSearch = () => import('./SearchBox.tsx');
const loadOutline = () => import('./StepOutline.tsx');

/** What stands open above the graph. */
export type OpenFinder = 'search' | 'outline' | null;

/** Finds a step above the graph: by its name or type, or in the outline. */
export function StepSearch({
  steps,
  ways,
  selected,
  open,
  onOpen,
  onFind,
  onChoose,
}: {
  steps: readonly ShownStep[];
  ways: readonly ShownWay[];
  /** The step that is selected; null where none or several are. */
  selected: string | null;
  open: OpenFinder;
  onOpen: (open: OpenFinder) => void;
  /** Shows a step that was found. */
  onFind: (id: string) => void;
  /** Shows a step of the outline, which keeps the focus. */
  onChoose: (id: string) => void;
}) {
  const search = usePart(loadSearch, open === 'search');
  const outline = usePart(loadOutline, open === 'outline');
  if (open === 'search' && search)
    return (
      <Panel position="top-left" className="step-search">
        <search.SearchBox
          steps={steps}
          onFind={(id) => {
            onOpen(null);
            onFind(id);
          }}
          onClose={() => onOpen(null)}
        />
      </Panel>
    );
  return (
    <Panel position="top-left" className="step-search">
      <div className="flex gap-1">
        <Button size="small" aria-label="Find a step" title="Find a step (/)" onClick={() => onOpen('search')}>
          <Search aria-hidden />
        </Button>
        <Button
          size="small"
          aria-label="Outline"
          title="Outline: all steps in order"
          aria-expanded={open === 'outline'}
          onClick={() => onOpen(open === 'outline' ? null : 'outline')}
        >
          <ListTree aria-hidden />
        </Button>
      </div>
      {open === 'outline' && outline ? (
        <outline.StepOutline
          steps={steps}
          ways={ways}
          selected={selected}
          onChoose={onChoose}
          onClose={() => onOpen(null)}
        />
      ) : null}
    </Panel>
  );
}
