import { Network, PanelRightClose, PanelRightOpen, Plus, Redo2, Undo2 } from 'lucide-react';
import { Button } from '../../ui/Button.tsx';
import { counted } from '../../words/numbers.ts';
import type { Editing } from './editing.ts';
import { withPlaces } from './graph/draft.ts';
import type { Addable } from './graph/graph.ts';
import { automaticLayout } from './graph/layout.ts';
import { StepMenu } from './StepMenu.tsx';

/** What can be done to the graph as a whole, and where its edit stands. */
export function DesignerToolbar({
  editing,
  isChecking,
  publishes,
  blocked,
  isSaving,
  isPanelOpen,
  onAdd,
  onSave,
  onPanel,
}: {
  editing: Editing;
  isChecking: boolean;
  /** Whether saving is a publication that contacts notice. */
  publishes: boolean;
  /** Why it cannot be saved now, or null. */
  blocked: string | null;
  isSaving: boolean;
  isPanelOpen: boolean;
  onAdd: (type: Addable) => void;
  onSave: () => void;
  onPanel: (isOpen: boolean) => void;
}) {
  const { changes } = editing;
  const state = `${counted(changes, 'change')} not ${publishes ? 'published' : 'saved'}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div className="designer-bar" role="group" aria-label="Edit the workflow">
      <StepMenu
        label="Step types"
        onChoose={onAdd}
        trigger={
          <Button size="small">
            <Plus aria-hidden /> Add step
          </Button>
        }
      />
      <GraphButtons editing={editing} />
      <span className="designer-bar-end">
        <span className="muted text-sm" role="status">
          {changes === 0 ? 'No changes' : `${state}${isChecking ? ', checking…' : ''}`}
        </span>
        {changes > 0 ? (
          <Button size="small" look="plain" onClick={editing.discard}>
            Discard changes
          </Button>
        ) : null}
        <Button
          size="small"
          look="primary"
          busy={isSaving}
          disabled={changes === 0 || blocked !== null}
          title={blocked ?? undefined}
          onClick={onSave}
        >
          {publishes ? 'Review and publish' : 'Save'}
        </Button>
        <span className="designer-bar-panel">
          <Button
            size="small"
            look="plain"
            aria-label="Side panel"
            aria-expanded={isPanelOpen}
            onClick={() => onPanel(!isPanelOpen)}
          >
            {isPanelOpen ? <PanelRightClose aria-hidden /> : <PanelRightOpen aria-hidden />}
          </Button>
        </span>
      </span>
    </div>
  );
}

function GraphButtons({ editing }: { editing: Editing }) {
  return (
    <>
      <Button size="small" look="plain" aria-label="Undo" disabled={!editing.canUndo} onClick={editing.undo}>
        <Undo2 aria-hidden />
      </Button>
      <Button size="small" look="plain" aria-label="Redo" disabled={!editing.canRedo} onClick={editing.redo}>
        <Redo2 aria-hidden />
      </Button>
      <Button
        size="small"
        look="plain"
        aria-label="Arrange"
        onClick={() => editing.edit((before) => withPlaces(before, automaticLayout(before.steps, before.transitions)))}
      >
        <Network aria-hidden /> <span className="max-sm:hidden">Arrange</span>
      </Button>
    </>
  );
}
