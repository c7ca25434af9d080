import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { CheckField, SelectField } from '../../../ui/Field.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { refreshWorkflows, type Workflow } from '../workflow.ts';

type RetryBody = components['schemas']['RetryWorkflowExecutionsRequest'];
type Preview = components['schemas']['WorkflowRetryPreview'];
/** Failed runs at one step, as a dry run counts them. */
export type Failure = Preview['steps'][number];

/** What a retry would do, by the step that failed. */
export const retryPreview = (project: string, id: string, body: RetryBody) => ({
  queryKey: ['workflows', project, id, 'retry', body],
  queryFn: async (): Promise<Preview> => {
    const found = await askToRetry(id, { ...body, dryRun: true });
    if (!('steps' in found)) throw new Error('The service did not answer with a preview');
    return found;
  },
});

function askToRetry(id: string, body: RetryBody) {
  return answer(api.POST('/workflows/{id}/executions/retry', { params: { path: { id } }, body }));
}

/** Asks before one failed execution goes on with the step that failed. */
export function RetryDialog({
  workflow,
  title,
  executionId,
  onClose,
}: {
  workflow: { id: string; name: string };
  title: string;
  executionId: string;
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
        const { retried, skipped } = await askToRetry(workflow.id, { executionIds: [executionId] });
        const left = skipped > 0 ? `, ${skipped} skipped: the contact is in the workflow again` : '';
        toast(`${counted(retried, 'run')} retried${left}`);
        await refreshWorkflows(queries, project);
      }}
      onClose={onClose}
    >
      It resumes at the step that failed, in the current version of {workflow.name}. If that step sends an email or
      calls a webhook, it does so again.
    </ConfirmDialog>
  );
}

/** Shows what a retry of failed executions would do before it does that: of all, or of those at one step. */
export function RetryFailedDialog({
  workflow,
  title,
  stepId,
  onClose,
}: {
  workflow: Pick<Workflow, 'id' | 'name' | 'steps'>;
  title: string;
  stepId?: string;
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [from, setFrom] = useState('failedStep');
  const [isOwn, setOwn] = useState(false);
  const [sendAgain, setSendAgain] = useState(false);
  const version = isOwn ? ('own' as const) : ('newest' as const);
  const body = { where: stepId === undefined ? {} : { stepId }, from, version, sendAgain };
  const preview = useQuery({ ...retryPreview(project, workflow.id, body), gcTime: 0 });
  const { data } = preview;
  return (
    <ConfirmDialog
      title={title}
      action="Retry"
      wayOut="Leave as they are"
      variant="primary"
      isReady={data !== undefined && data.retried > 0}
      onConfirm={async () => {
        // Those that fail once more meanwhile are not retried again.
        const where = { ...body.where, before: data?.readAt };
        let retried = 0;
        for (let more = true; more; ) {
          const done = await askToRetry(workflow.id, { ...body, where });
          retried += done.retried;
          more = done.more && done.retried > 0;
        }
        toast(`${counted(retried, 'run')} retried`);
        await refreshWorkflows(queries, project);
      }}
      onClose={onClose}
    >
      <div className="stack">
        <SelectField label="Resume at" value={from} onChange={(event) => setFrom(event.target.value)}>
          <option value="failedStep">The step that failed</option>
          {workflow.steps.map((step) => (
            <option key={step.id} value={step.id}>
              {step.name}
            </option>
          ))}
        </SelectField>
        <CheckField
          label="Stay in the version that they failed in"
          checked={isOwn}
          onChange={(event) => setOwn(event.target.checked)}
        />
        <CheckField
          label="Send emails again that they have sent before"
          checked={sendAgain}
          onChange={(event) => setSendAgain(event.target.checked)}
        />
        <p role="status">
          {data === undefined
            ? (preview.error?.message ?? 'Counting…')
            : `${counted(data.retried, 'run')} will resume${data.skipped > 0 ? `, ${count(data.skipped)} will not: the contact is in the workflow again, or the version lacks the step` : ''}.`}
        </p>
      </div>
    </ConfirmDialog>
  );
}

/** Says how many failed at a step since when, and offers to retry them. */
export function FailureLine({ failure, onRetry }: { failure: Failure; onRetry: () => void }) {
  const { executions, stepName, failedSince, lastError } = failure;
  return (
    <li className="flex flex-wrap items-center gap-2">
      <span>
        {count(executions)} failed at “<bdi>{stepName ?? 'a step that is gone'}</bdi>” since{' '}
        <Timestamp at={failedSince} after />
        {lastError === null ? null : (
          <>
            : <bdi>{lastError}</bdi>
          </>
        )}
      </span>
      <Button size="small" onClick={onRetry} aria-label={`Retry those at ${stepName ?? 'a step that is gone'}`}>
        Retry
      </Button>
    </li>
  );
}
