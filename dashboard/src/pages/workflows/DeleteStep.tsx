import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { counted } from '../../words/numbers.ts';
import type { DraftStep, Graph } from './graph/draft.ts';
import { reachable } from './graph/graph.ts';

/** Asks how a step is to go: alone, its ways then leading on, or with everything behind it, which it names. */
export function DeleteStep({
  graph: { steps, transitions },
  step,
  onDelete,
  onClose,
}: {
  graph: Graph;
  step: DraftStep;
  onDelete: (splice: boolean) => void;
  onClose: () => void;
}) {
  const behind = reachable(transitions, step.id);
  behind.delete(step.id);
  const names = steps.filter((each) => behind.has(each.id)).map(({ name }) => name);
  const targets = new Set(transitions.filter((way) => way.fromStepId === step.id).map(({ toStepId }) => toStepId));
  const canSplice = step.type !== 'CONDITION' && targets.size <= 1;
  const remove = (splice: boolean) => {
    onDelete(splice);
    onClose();
  };
  return (
    <Dialog title={`Delete the step ${step.name}?`} onClose={onClose}>
      <div className="stack break">
        {canSplice ? (
          <p>
            Deleting only this step connects its previous steps to {targets.size === 0 ? 'nothing' : 'the next one'}.
          </p>
        ) : (
          <p>Several paths leave this step, so it can’t be deleted alone.</p>
        )}
        {names.length > 0 ? <p>The steps after it: {names.join(', ')}.</p> : null}
        <p className="muted">You can undo this. No contacts are affected until you publish.</p>
      </div>
      <footer>
        <Button onClick={onClose}>Keep it</Button>
        {canSplice ? (
          <Button look="danger" onClick={() => remove(true)}>
            Delete only this step
          </Button>
        ) : null}
        {names.length > 0 || !canSplice ? (
          <Button look="danger" onClick={() => remove(false)}>
            Delete {counted(names.length + 1, 'step')}
          </Button>
        ) : null}
      </footer>
    </Dialog>
  );
}
