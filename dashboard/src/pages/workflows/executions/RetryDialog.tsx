import { useQueryClient } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import { refreshWorkflows } from '../workflow.ts';

/** Asks before failed executions go on with the step that failed: these, or all of the workflow. */
export function RetryDialog({
  workflow,
  title,
  executionIds,
  onClose,
}: {
  workflow: { id: string; name: string };
  title: string;
  executionIds?: string[];
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={title}
      action="Retry"
      wayOut="Leave as they are"
      variant="primary"
      onConfirm={async () => {
        const body = executionIds === undefined ? {} : { executionIds };
        const { retried, skipped, more } = await answer(
          api.POST('/workflows/{id}/executions/retry', { params: { path: { id: workflow.id } }, body }),
        );
        const left = skipped > 0 ? `, ${skipped} skipped: the contact is in the workflow again` : '';
        toast(`${counted(retried, 'run')} retried${left}${more ? '. There are more: retry again' : ''}`);
        await refreshWorkflows(queries, project);
      }}
      onClose={onClose}
    >
      Each resumes at the step that failed, in the current version of {workflow.name}. If that step sends an email or
      calls a webhook, it does so again.
    </ConfirmDialog>
  );
}
