import { Copy, CopyPlus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { MailSteps } from '../../../conditions/vocabulary.tsx';
import { Button } from '../../../ui/Button.tsx';
import { counted } from '../../../words/numbers.ts';
import type { CanvasEdits, ShownWay } from '../canvas/Canvas.tsx';
import { writeClipboard } from '../canvas/clipboard.ts';
import type { Selection } from '../canvas/selection.ts';
import type { DraftStep } from '../graph/draft.ts';
import { StepPanel } from '../steps/StepPanel.tsx';
import { TriggerForm } from '../steps/TriggerForm.tsx';
import { WayPanel } from '../steps/WayPanel.tsx';
import type { Issue, Workflow } from '../workflow.ts';
import type { DesignerEdits } from './designer-edits.ts';
import type { Editing } from './editing.ts';

export interface SelectionProps {
  workflow: Workflow;
  editing: Editing;
  selection: Selection;
  issues: readonly Issue[];
  edits: DesignerEdits;
  /** The paths as they are drawn. */
  ways: readonly ShownWay[];
  onDeleteStep: () => void;
  onPeople: () => void;
  /** Shown where what was selected is no longer there. */
  otherwise: ReactNode;
}

/** The form of what is selected: a step, a path, or several steps. */
export function SelectionPanel({
  workflow,
  editing,
  selection,
  issues,
  edits,
  ways,
  onDeleteStep,
  onPeople,
  otherwise,
}: SelectionProps) {
  const { graph } = editing;
  const step = selection?.kind === 'step' ? graph.steps.find(({ id }) => id === selection.id) : undefined;
  const way = selection?.kind === 'way' ? graph.transitions.find(({ id }) => id === selection.id) : undefined;
  if (step)
    // The settings are saved apart from the graph, so they can only name steps that are saved.
    return (
      <MailSteps value={stepsThatSend(step.type === 'TRIGGER' ? workflow.steps : graph.steps)}>
        <div className="stack" key={step.id}>
          {step.type === 'TRIGGER' ? <TriggerForm workflow={workflow} editing={editing} /> : null}
          <StepPanel
            step={step}
            editing={editing}
            issues={issues.filter(({ stepId }) => stepId === step.id)}
            onDelete={onDeleteStep}
            onPeople={onPeople}
          />
        </div>
      </MailSteps>
    );
  if (way)
    return (
      <WayPanel
        graph={graph}
        way={way}
        words={ways.find(({ id }) => id === way.id)?.figures?.words}
        onInsert={(type) => edits.onInsert(way.id, type)}
        onRemove={() => edits.removeWay(way.id)}
      />
    );
  return selection?.kind === 'steps' ? <StepsPanel ids={selection.ids} edits={edits} /> : otherwise;
}

const stepsThatSend = (steps: readonly DraftStep[]) => steps.filter(({ type }) => type === 'SEND_EMAIL');

/** Several steps that are selected: what can be done with all of them. */
function StepsPanel({ ids, edits }: { ids: readonly string[]; edits: CanvasEdits }) {
  return (
    <div className="stack">
      <h2>{counted(ids.length, 'step')} selected</h2>
      <div className="row">
        <Button size="small" onClick={edits.onDuplicate}>
          <CopyPlus aria-hidden /> Duplicate
        </Button>
        <Button
          size="small"
          onClick={() => {
            const text = edits.onCopy();
            if (text !== null) void writeClipboard(text);
          }}
        >
          <Copy aria-hidden /> Copy
        </Button>
        <Button size="small" variant="danger" onClick={edits.onDelete}>
          <Trash2 aria-hidden /> Delete steps
        </Button>
      </div>
      <p className="muted">Paste copied steps here or into another workflow.</p>
    </div>
  );
}
