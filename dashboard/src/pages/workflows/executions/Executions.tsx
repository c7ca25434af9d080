import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useFilters, useProjectId } from '../../../app/address.ts';
import { SearchFilter } from '../../../app/filters.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { NamedAddress } from '../../../ui/NamedAddress.tsx';
import { Page } from '../../../ui/Page.tsx';
import { Pager } from '../../../ui/Pager.tsx';
import { Empty, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { stepText } from '../../../words/events.ts';
import { count, counted } from '../../../words/numbers.ts';
import { AskWhy, WhyButton } from '../../explain/Why.tsx';
import { GoalResult } from '../GoalResult.tsx';
import { executionStates, isActive, peopleQuery, refreshWorkflows, type Workflow, workflowQuery } from '../workflow.ts';
import { type Failure, FailureLine, RetryFailedDialog, retryPreview } from './RetryDialog.tsx';
import { StartDialog } from './StartDialog.tsx';

/** Everybody who is or was in an automation. */
export function Runs() {
  const project = useProjectId();
  const { workflow: id = '' } = useParams({ strict: false });
  const workflow = useQuery(workflowQuery(project, id));
  // Both are asked for at once.
  const executions = useRuns(id);
  return <Shown query={workflow}>{(loaded) => <List workflow={loaded} executions={executions} />}</Shown>;
}

/** The runs of an automation that the address asks for. */
function useRuns(id: string) {
  const project = useProjectId();
  const [{ status, stepId, search, page }] = useFilters();
  return useQuery({
    queryKey: ['workflows', project, id, 'executions', { status, stepId, search, page }],
    refetchInterval: ({ state }) => (state.data?.data.some(isActive) ? 3_000 : 15_000),
    placeholderData: (before) => before,
    queryFn: () =>
      answer(
        api.GET('/workflows/{id}/executions', {
          params: { path: { id }, query: { status, stepId, search, page: Number(page ?? 1), pageSize: 50 } },
        }),
      ),
  });
}

function List({ workflow, executions }: { workflow: Workflow; executions: ReturnType<typeof useRuns> }) {
  const { id, name, enabled, steps } = workflow;
  const project = useProjectId();
  const [{ status, stepId, search }, change] = useFilters();
  const [dialog, setDialog] = useState<ShownDialog>(null);
  const people = useQuery(peopleQuery(project, id));
  const active = people.data?.active ?? 0;
  const isFiltered = Boolean(status || stepId || search);
  const failed = status === 'FAILED' && !search ? (executions.data?.total ?? 0) : 0;
  return (
    <Page
      title={`Runs of ${name}`}
      above={
        <>
          <Link to="/app/$project/workflows" params={{ project }}>
            Workflows
          </Link>
          {' / '}
          <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: id }} dir="auto">
            {name}
          </Link>
        </>
      }
      about="Each run is one contact’s path through the workflow."
      actions={
        <>
          <AskWhy about={{ workflowId: id }} />
          {failed > 0 && enabled ? <Button onClick={() => setDialog('retry')}>Retry failed runs</Button> : null}
          <Button variant="danger" disabled={active === 0} onClick={() => setDialog('cancel')}>
            Cancel all runs
          </Button>
          <Button variant="primary" disabled={!enabled} onClick={() => setDialog('start')}>
            Start for contact
          </Button>
        </>
      }
    >
      <GoalResult workflow={id} />
      {enabled ? <Failures workflow={id} onRetry={setDialog} /> : null}
      <Filters steps={steps} />
      {search ? <SearchReach workflow={id} /> : null}
      <Shown query={executions}>
        {(found) =>
          found.total === 0 ? (
            <Empty title={isFiltered ? 'No runs match' : 'No runs yet'}>
              {isFiltered
                ? undefined
                : enabled
                  ? 'Contacts enter when the trigger fires, or when you start one.'
                  : 'Enable the workflow so that contacts can enter.'}
            </Empty>
          ) : (
            <>
              <ExecutionTable workflow={id} rows={found.data} />
              <Pager found={found} onChange={(next) => change({ page: String(next) })} />
            </>
          )
        }
      </Shown>
      <Dialogs shown={dialog} workflow={workflow} active={active} failed={failed} onClose={() => setDialog(null)} />
    </Page>
  );
}

type ShownDialog = 'start' | 'cancel' | 'retry' | Failure | null;

/** Where executions failed, each with its retry. */
function Failures({ workflow, onRetry }: { workflow: string; onRetry: (failure: Failure) => void }) {
  const project = useProjectId();
  const { data } = useQuery({ ...retryPreview(project, workflow, {}), refetchInterval: 60_000, retry: false });
  if (!data?.steps.length) return null;
  return (
    <ul aria-label="Failures" className="stack">
      {data.steps.map((failure) => (
        <FailureLine key={failure.stepId} failure={failure} onRetry={() => onRetry(failure)} />
      ))}
    </ul>
  );
}

function Dialogs({
  shown,
  workflow,
  active,
  failed,
  onClose,
}: {
  shown: ShownDialog;
  workflow: Workflow;
  active: number;
  failed: number;
  onClose: () => void;
}) {
  if (shown === null) return null;
  if (shown === 'start') return <StartDialog workflow={workflow.id} onClose={onClose} />;
  if (shown === 'cancel') return <CancelAll workflow={workflow} active={active} onClose={onClose} />;
  const title =
    shown === 'retry'
      ? `Retry ${counted(failed, 'failed run')}?`
      : `Retry ${counted(shown.executions, 'run')} that failed at ${shown.stepName ?? 'a step that is gone'}?`;
  const at = shown === 'retry' || shown.stepId === null ? {} : { stepId: shown.stepId };
  return <RetryFailedDialog workflow={workflow} title={title} {...at} onClose={onClose} />;
}

function Filters({ steps }: { steps: Workflow['steps'] }) {
  const [{ status, stepId }, change] = useFilters();
  return (
    <div className="filters">
      <SearchFilter label="Search runs" placeholder="Address or name" />
      <SelectField
        label="Status"
        value={status ?? ''}
        onChange={(event) => change({ status: event.target.value, page: undefined })}
      >
        <option value="">All</option>
        {Object.entries(executionStates).map(([value, { name: title }]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Current step"
        value={stepId ?? ''}
        onChange={(event) => change({ stepId: event.target.value, page: undefined })}
      >
        <option value="">Any step</option>
        {steps.map((step) => (
          <option key={step.id} value={step.id}>
            {stepText(step.name)}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

// Limits of the service.
const mostNames = 10_000;
const mostAddresses = 1_000;

/** Says what a search leaves out, in a workflow with too many runs to search all of them by name. */
function SearchReach({ workflow }: { workflow: string }) {
  const project = useProjectId();
  const { data: runs = 0 } = useQuery({
    queryKey: ['workflows', project, workflow, 'executions', 'total'],
    queryFn: async () =>
      (
        await answer(
          api.GET('/workflows/{id}/executions', { params: { path: { id: workflow }, query: { pageSize: 1 } } }),
        )
      ).total,
  });
  return runs > mostNames ? (
    <p className="mb-3 text-sm text-muted">
      Searches the newest {count(mostNames)} runs by name and address. Older runs are found by at least 3 letters of an
      address, unless more than {count(mostAddresses)} contacts have them.
    </p>
  ) : null;
}

type Execution = components['schemas']['ListWorkflowExecutionsResult']['data'][number];

function ExecutionTable({ workflow, rows }: { workflow: string; rows: readonly Execution[] }) {
  const project = useProjectId();
  return (
    <Table
      label="Runs"
      rows={rows}
      rowKey={({ id: execution }) => execution}
      columns={[
        {
          key: 'contact',
          title: 'Contact',
          cell: ({ id: execution, contact }) => (
            <Link
              to="/app/$project/workflows/$workflow/executions/$execution"
              params={{ project, workflow, execution }}
            >
              <NamedAddress {...contact} />
            </Link>
          ),
        },
        {
          key: 'status',
          title: 'Status',
          cell: (each) => <Badge tone={executionStates[each.status].tone}>{executionStates[each.status].name}</Badge>,
        },
        {
          key: 'step',
          title: 'At',
          cell: ({ currentStep }) => <span dir="auto">{currentStep ? stepText(currentStep.name) : '–'}</span>,
        },
        { key: 'since', title: 'Since', cell: ({ currentStepSince }) => <Timestamp at={currentStepSince} /> },
        { key: 'started', title: 'Entered', cell: ({ startedAt }) => <Timestamp at={startedAt} /> },
        { key: 'ended', title: 'Ended', cell: ({ completedAt }) => <Timestamp at={completedAt} /> },
        {
          key: 'reason',
          title: 'Reason',
          cell: ({ exitReason }) => (exitReason ? <span dir="auto">{exitReason}</span> : null),
        },
        {
          key: 'why',
          title: 'Explanation',
          cell: ({ contact }) => (
            <WhyButton contact={contact.id} about={{ workflowId: workflow }} row={contact.email} />
          ),
        },
      ]}
    />
  );
}

function CancelAll({ workflow, active, onClose }: { workflow: Workflow; active: number; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const { id, name, enabled } = workflow;
  return (
    <ConfirmDialog
      title={`Cancel all runs of ${name}?`}
      action={`Cancel ${counted(active, 'run')}`}
      wayOut="Keep running"
      onConfirm={async () => {
        const { cancelled } = await answer(
          api.POST('/workflows/{id}/executions/cancel-all', { params: { path: { id } } }),
        );
        toast(`${counted(cancelled, 'run')} canceled`);
        await refreshWorkflows(queries, project);
      }}
      onClose={onClose}
    >
      {counted(active, 'contact exits', 'contacts exit')} {name} at the current step. No further steps run for them. The
      workflow stays {enabled ? 'enabled' : 'disabled'}.
    </ConfirmDialog>
  );
}
