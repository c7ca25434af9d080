import { canSplice, reachableFrom } from '@fernpost/workflow-graph';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { counted } from '../../../words/numbers.ts';
import type { DraftStep, Graph } from '../graph/draft.ts';

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
  const behind = reachableFrom(transitions, step.id);
  behind.delete(step.id);
  const names = steps.filter((each) => behind.has(each.id)).map(({ name }) => name);
  const leadsOn = transitions.some(({ fromStepId }) => fromStepId === step.id);
  const mayGoAlone = canSplice(step, transitions);
  const remove = (splice: boolean) => {
    onDelete(splice);
    onClose();
  };
  return (
    <Dialog title={`Delete the step ${step.name}?`} onClose={onClose}>
      <div className="stack break">
        {mayGoAlone ? (
          <p>Deleting only this step connects its previous steps to {leadsOn ? 'the next one' : 'nothing'}.</p>
        ) : (
          <p>Several paths leave this step, so it can’t be deleted alone.</p>
        )}
        {names.length > 0 ? <p>The steps after it: {names.join(', ')}.</p> : null}
        <p className="muted">You can undo this. No contacts are affected until you publish.</p>
      </div>
      <footer>
        <Button onClick={onClose}>Keep it</Button>
        {mayGoAlone ? (
          <Button variant="danger" onClick={() => remove(true)}>
            Delete only this step
          </Button>
        ) : null}
        {names.length > 0 || !mayGoAlone ? (
          <Button variant="danger" onClick={() => remove(false)}>
            Delete {counted(names.length + 1, 'step')}
          </Button>
        ) : null}
      </footer>
    </Dialog>
  );
}
