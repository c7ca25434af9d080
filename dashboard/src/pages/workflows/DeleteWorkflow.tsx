import { useQueryClient } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { counted } from '../../words/numbers.ts';
import { refreshWorkflows } from './workflow.ts';

/** Asks before an automation is deleted, and names what goes with it. */
export function DeleteWorkflow({
  workflow: { id, name, steps, executions, revision },
  onDeleted,
  onClose,
}: {
  /** With a `revision` it is deleted only while it is still that. */
  workflow: { id: string; name: string; steps: number; executions?: number; revision?: number };
  onDeleted?: () => Promise<void>;
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={`Delete the workflow ${name}?`}
      action="Delete workflow"
      onConfirm={async () => {
        const header = revision === undefined ? {} : { 'If-Match': `"${revision}"` };
        await answer(api.DELETE('/workflows/{id}', { params: { path: { id }, header } }));
        await onDeleted?.();
        queries.removeQueries({ queryKey: ['workflows', project, id] });
        await refreshWorkflows(queries, project);
      }}
      onClose={onClose}
    >
      {name} is deleted with its {counted(steps, 'step')} and{' '}
      {executions === undefined ? 'the history of its runs' : `the history of ${counted(executions, 'run')}`}. Emails it
      sent are kept. Workflows with contacts in them can’t be deleted: cancel their runs first.
    </ConfirmDialog>
  );
}
