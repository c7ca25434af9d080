import { Ellipsis, Network, PanelRightClose, PanelRightOpen, Plus, Redo2, RotateCcw, Undo2 } from 'lucide-react';
import { loaded } from '../../../api/load.ts';
import { usePart } from '../../../standby/use-part.ts';
import { Button } from '../../../ui/Button.tsx';
import { Menu } from '../../../ui/Menu.tsx';
import { counted } from '../../../words/numbers.ts';
import { loadLayout } from '../canvas/layout-part.ts';
import type { Selection } from '../canvas/selection.ts';
import { withPlaces } from '../graph/draft.ts';
import type { DesignerEdits } from './designer-edits.ts';
import { blockedBy, type Editing } from './editing.ts';
import { StepMenu } from './StepMenu.tsx';

/** The actions on the whole graph, and the state of its edit. */
export function DesignerToolbar({
  editing,
  isChecking,
  publishes,
  isSaving,
  isPanelOpen,
  edits,
  selection,
  onArrange,
  onSave,
  onPanel,
}: {
  editing: Editing;
  isChecking: boolean;
  /** Whether saving is a publication that contacts notice. */
  publishes: boolean;
  isSaving: boolean;
  isPanelOpen: boolean;
  edits: DesignerEdits;
  selection: Selection;
  onArrange: () => void;
  onSave: () => void;
  onPanel: (isOpen: boolean) => void;
}) {
  const { changes } = editing;
  const blocked = blockedBy(editing);
  const state = `${counted(changes, 'change')} not ${publishes ? 'published' : 'saved'}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div className="designer-bar @container" role="group" aria-label="Edit the workflow">
      <StepMenu
        label="Step types"
        onChoose={(type) => edits.add(type, null)}
        trigger={
          <Button size="small" aria-label="Add step">
            <Plus aria-hidden /> <span className="@max-2xl:hidden">Add step</span>
          </Button>
        }
      />
      <GraphButtons editing={editing} onArrange={onArrange} />
      <EditSteps edits={edits} selection={selection} />
      <span className="designer-bar-end">
        <span className="min-w-0 truncate text-sm text-muted @max-md:sr-only" role="status">
          {changes === 0 ? 'No changes' : `${state}${isChecking ? ', checking…' : ''}`}
        </span>
        {changes > 0 ? (
          <Button size="small" variant="plain" aria-label="Discard changes" onClick={editing.discard}>
            <RotateCcw aria-hidden /> <span className="@max-2xl:hidden">Discard changes</span>
          </Button>
        ) : null}
        <Button
          size="small"
          variant="primary"
          busy={isSaving}
          disabled={changes === 0 || blocked !== null}
          title={blocked ?? undefined}
          onClick={onSave}
        >
          {publishes ? (
            <>
              <span className="@max-2xl:hidden">Review and publish</span>
              <span className="@2xl:hidden">Publish</span>
            </>
          ) : (
            'Save'
          )}
        </Button>
        <Button
          size="small"
          variant="plain"
          aria-label="Side panel"
          aria-expanded={isPanelOpen}
          onClick={() => onPanel(!isPanelOpen)}
        >
          {isPanelOpen ? <PanelRightClose aria-hidden /> : <PanelRightOpen aria-hidden />}
        </Button>
      </span>
    </div>
  );
}

function GraphButtons({ editing, onArrange }: { editing: Editing; onArrange: () => void }) {
  const part = usePart(loadLayout);
  const arrange = async () => {
    const { automaticLayout } = part ?? (await loaded(loadLayout));
    editing.edit((before) => withPlaces(before, automaticLayout(before.steps, before.transitions)));
    onArrange();
  };
  return (
    <>
      <Button size="small" variant="plain" aria-label="Undo" disabled={!editing.canUndo} onClick={editing.undo}>
        <Undo2 aria-hidden />
      </Button>
      <Button size="small" variant="plain" aria-label="Redo" disabled={!editing.canRedo} onClick={editing.redo}>
        <Redo2 aria-hidden />
      </Button>
      <Button size="small" variant="plain" aria-label="Arrange" onClick={() => void arrange()}>
        <Network aria-hidden /> <span className="@max-2xl:hidden">Arrange</span>
      </Button>
    </>
  );
}

const loadMenu = () => import('./EditMenu.tsx');

/** What is done with the selected steps. */
function EditSteps(props: { edits: DesignerEdits; selection: Selection }) {
  const menu = usePart(loadMenu);
  return (
    <Menu
      trigger={
        <Button size="small" variant="plain" aria-label="Edit steps">
          <Ellipsis aria-hidden />
        </Button>
      }
    >
      {menu ? <menu.EditMenu {...props} /> : null}
    </Menu>
  );
}
