import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
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
    <Dialog title={`Delete the step ${step.name}`} onClose={onClose}>
      <div className="stack break">
        {canSplice ? (
          <p>Taken out alone, what led to it leads to what followed it{targets.size === 0 ? ': nothing' : ''}.</p>
        ) : (
          <p>It leads to several steps, so it cannot be taken out alone.</p>
        )}
        {names.length > 0 ? <p>With everything behind it these go too: {names.join(', ')}.</p> : null}
        <p className="muted">Undo brings it back, and nobody is touched before you publish.</p>
      </div>
      <footer>
        <Button onClick={onClose}>Keep it</Button>
        {canSplice ? (
          <Button look="danger" onClick={() => remove(true)}>
            Take it out alone
          </Button>
        ) : null}
        {names.length > 0 || !canSplice ? (
          <Button look="danger" onClick={() => remove(false)}>
            Delete {names.length + 1} {names.length === 0 ? 'step' : 'steps'}
          </Button>
        ) : null}
      </footer>
    </Dialog>
  );
}
