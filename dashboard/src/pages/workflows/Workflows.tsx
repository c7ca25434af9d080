import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useDialog, useProjectId } from '../../app/address.ts';
import { ChoiceFilter, SearchFilter } from '../../app/filters.tsx';
import { PagedTable, usePagedList } from '../../app/PagedTable.tsx';
import { usePart } from '../../standby/use-part.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty, Problem } from '../../ui/States.tsx';
import type { Column } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count } from '../../words/numbers.ts';
import { DeleteWorkflow } from './DeleteWorkflow.tsx';
import { WorkflowSwitch } from './publish/WorkflowSwitch.tsx';
import { type ListedWorkflow, refreshWorkflows, startedBy, stateOf } from './workflow.ts';

const loadNew = () => import('./NewWorkflow.tsx');

/** Every automation of the project. */
export function Workflows() {
  const project = useProjectId();
  const [dialog, setDialog] = useDialog();
  const part = usePart(loadNew, dialog === 'new');
  const [deleting, setDeleting] = useState<ListedWorkflow | null>(null);
  const [refused, setRefused] = useState<unknown>(null);
  const queries = useQueryClient();
  const workflows = usePagedList('workflows', (page, { search, status }) =>
    answer(
      api.GET('/workflows', {
        params: { query: { search, status: status as 'enabled' | 'disabled' | undefined, ...page } },
      }),
    ),
  );
  const copy = useMutation({
    mutationFn: ({ id }: ListedWorkflow) => answer(api.POST('/workflows/{id}/duplicate', { params: { path: { id } } })),
    onSuccess: async ({ name }) => {
      toast(`${name} created, disabled`);
      await refreshWorkflows(queries, project);
    },
    onError: setRefused,
  });
  const create = (
    <Button variant="primary" onClick={() => setDialog('new')}>
      New workflow
    </Button>
  );
  return (
    <Page title="Workflows" about="Automated emails and actions, started by events or on a schedule." actions={create}>
      <div className="filters">
        <SearchFilter />
        <ChoiceFilter
          name="status"
          label="Status"
          all="All"
          choices={[
            ['active', 'Enabled'],
            ['disabled', 'Disabled'],
          ]}
        />
      </div>
      {refused ? <Problem error={refused} /> : null}
      <PagedTable
        label="Workflows"
        query={workflows}
        none={
          <Empty title="No workflows yet" action={create}>
            Send emails automatically when an event happens: wait, branch, update contacts, call webhooks.
          </Empty>
        }
        noneFits="No workflows match"
        columns={columnsOf(project, (workflow) => (
          <Actions workflow={workflow} copy={copy} onRefused={setRefused} onDelete={setDeleting} />
        ))}
      />
      {dialog === 'new' && part ? <part.NewWorkflow onClose={() => setDialog(null)} /> : null}
      {deleting ? (
        <DeleteWorkflow
          workflow={{ ...deleting, steps: deleting._count.steps, executions: deleting._count.executions }}
          onClose={() => setDeleting(null)}
        />
      ) : null}
    </Page>
  );
}

function columnsOf(project: string, actions: (workflow: ListedWorkflow) => ReactNode): Column<ListedWorkflow>[] {
  return [
    {
      key: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: id }} dir="auto">
          {name}
        </Link>
      ),
    },
    {
      key: 'state',
      title: 'Status',
      cell: (workflow) => <Badge {...stateOf(workflow)} />,
    },
    { key: 'trigger', title: 'Trigger', cell: startedBy },
    { key: 'steps', title: 'Steps', number: true, cell: ({ _count }) => count(_count.steps) },
    {
      key: 'executions',
      title: 'Runs',
      number: true,
      cell: ({ id, _count }) => (
        <Link to="/app/$project/workflows/$workflow/executions" params={{ project, workflow: id }}>
          {count(_count.executions)}
        </Link>
      ),
    },
    { key: 'changed', title: 'Updated', cell: ({ updatedAt }) => <Timestamp at={updatedAt} /> },
    {
      key: 'actions',
      title: 'Actions',
      cell: actions,
    },
  ];
}

function Actions({
  workflow,
  copy,
  onRefused,
  onDelete,
}: {
  workflow: ListedWorkflow;
  copy: { isPending: boolean; mutate: (workflow: ListedWorkflow) => void };
  onRefused: (error: unknown) => void;
  onDelete: (workflow: ListedWorkflow) => void;
}) {
  return (
    <span className="row">
      <WorkflowSwitch workflow={workflow} size="small" onRefused={onRefused} />
      <Button
        size="small"
        aria-label={`Duplicate ${workflow.name}`}
        disabled={copy.isPending}
        onClick={() => copy.mutate(workflow)}
      >
        Duplicate
      </Button>
      <Button size="small" variant="danger" aria-label={`Delete ${workflow.name}`} onClick={() => onDelete(workflow)}>
        Delete
      </Button>
    </span>
  );
}
