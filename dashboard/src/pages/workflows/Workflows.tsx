import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { count } from '../../ui/numbers.ts';
import { Page } from '../../ui/Page.tsx';
import { Pager } from '../../ui/Pager.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Problem, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { DeleteWorkflow } from './DeleteWorkflow.tsx';
import { NewWorkflow } from './NewWorkflow.tsx';
import { WorkflowSwitch } from './WorkflowSwitch.tsx';
import { type ListedWorkflow, refreshWorkflows, startedBy } from './workflow.ts';

/** Every automation of the project. */
export function Workflows() {
  const project = useProjectId();
  const [{ search, status, page }, change] = useFilters();
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<ListedWorkflow | null>(null);
  const [refused, setRefused] = useState<unknown>(null);
  const queries = useQueryClient();
  const workflows = useQuery({
    queryKey: ['workflows', project, { search, status, page }],
    queryFn: () => answer(api.GET('/workflows', { params: { query: { search, status, page, pageSize: '50' } } })),
  });
  const copy = useMutation({
    mutationFn: ({ id }: ListedWorkflow) => answer(api.POST('/workflows/{id}/duplicate', { params: { path: { id } } })),
    onSuccess: async ({ name }) => {
      toast(`${name} is there, disabled`);
      await refreshWorkflows(queries, project);
    },
    onError: setRefused,
  });
  const create = (
    <Button look="primary" onClick={() => setCreating(true)}>
      New workflow
    </Button>
  );
  const isFiltered = Boolean(search || status);
  return (
    <Page title="Workflows" about="What happens by itself when a contact does something." actions={create}>
      <div className="filters">
        <SearchField
          label="Search"
          value={search ?? ''}
          onChange={(text) => change({ search: text, page: undefined })}
        />
        <SelectField
          label="State"
          value={status ?? ''}
          onChange={(event) => change({ status: event.target.value, page: undefined })}
        >
          <option value="">All</option>
          <option value="active">Enabled</option>
          <option value="disabled">Disabled</option>
        </SelectField>
      </div>
      {refused ? <Problem error={refused} /> : null}
      <Shown query={workflows}>
        {(found) =>
          found.total === 0 ? (
            <Empty title={isFiltered ? 'No workflow fits' : 'No workflows yet'} action={isFiltered ? null : create}>
              {isFiltered
                ? undefined
                : 'A workflow waits for an event, then sends mail, waits, decides and calls others.'}
            </Empty>
          ) : (
            <>
              <Table
                label="Workflows"
                rows={found.data}
                rowKey={({ id }) => id}
                columns={[
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
                    title: 'State',
                    cell: ({ enabled }) => (
                      <Badge {...(enabled ? { tone: 'good' as const } : {})}>{enabled ? 'Enabled' : 'Disabled'}</Badge>
                    ),
                  },
                  { key: 'trigger', title: 'Starts by', cell: startedBy },
                  { key: 'steps', title: 'Steps', number: true, cell: ({ _count }) => count(_count.steps) },
                  {
                    key: 'executions',
                    title: 'Executions',
                    number: true,
                    cell: ({ id, _count }) => (
                      <Link to="/app/$project/workflows/$workflow/executions" params={{ project, workflow: id }}>
                        {count(_count.executions)}
                      </Link>
                    ),
                  },
                  { key: 'changed', title: 'Changed', cell: ({ updatedAt }) => <Timestamp at={updatedAt} /> },
                  {
                    key: 'actions',
                    title: 'Actions',
                    cell: (each) => (
                      <span className="row">
                        <WorkflowSwitch workflow={each} size="small" onRefused={setRefused} />
                        <Button
                          size="small"
                          aria-label={`Duplicate ${each.name}`}
                          disabled={copy.isPending}
                          onClick={() => copy.mutate(each)}
                        >
                          Duplicate
                        </Button>
                        <Button
                          size="small"
                          look="danger"
                          aria-label={`Delete ${each.name}`}
                          onClick={() => setDeleting(each)}
                        >
                          Delete
                        </Button>
                      </span>
                    ),
                  },
                ]}
              />
              <Pager found={found} onChange={(next) => change({ page: String(next) })} />
            </>
          )
        }
      </Shown>
      {isCreating ? <NewWorkflow onClose={() => setCreating(false)} /> : null}
      {deleting ? (
        <DeleteWorkflow
          workflow={{ ...deleting, steps: deleting._count.steps, executions: deleting._count.executions }}
          onClose={() => setDeleting(null)}
        />
      ) : null}
    </Page>
  );
}
