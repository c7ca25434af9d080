import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { Form } from '../../../ui/Form.tsx';
import { Empty, Problem, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { WhyButton } from '../../explain/Why.tsx';
import { executionStates, isActive } from '../../workflows/workflow.ts';

type Execution = components['schemas']['ListContactExecutionsResult']['data'][number];

/** The workflows a contact is or was in: they are started here by hand, and stopped. */
export function ContactWorkflows({ contact: { id, email } }: { contact: { id: string; email: string } }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [stopping, setStopping] = useState<Execution | null>(null);
  const executions = useQuery({
    queryKey: ['workflows', project, 'of', id],
    refetchInterval: ({ state }) => (state.data?.some(isActive) ? 5_000 : false),
    queryFn: async () => (await answer(api.GET('/contacts/{id}/executions', { params: { path: { id } } }))).data,
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['workflows', project] });
  const stop = async ({ id: executionId, workflow }: Execution) => {
    await answer(
      api.DELETE('/workflows/{id}/executions/{executionId}', { params: { path: { id: workflow.id, executionId } } }),
    );
    toast(`${workflow.name} stopped for ${email}`);
    await refresh();
  };
  return (
    <div className="stack">
      <Starting contactId={id} onStarted={refresh} />
      <Shown query={executions}>
        {(found) =>
          found.length === 0 ? (
            <Empty title="In no workflow yet">Contacts enter when a trigger fires, or when you start a workflow.</Empty>
          ) : (
            <Executions contact={id} rows={found} onStop={setStopping} />
          )
        }
      </Shown>
      {stopping ? (
        <ConfirmDialog
          title={`Stop ${stopping.workflow.name} for ${email}?`}
          action="Stop workflow"
          onConfirm={() => stop(stopping)}
          onClose={() => setStopping(null)}
        >
          No further steps run for this contact. Emails that were sent stay sent.
        </ConfirmDialog>
      ) : null}
    </div>
  );
}

function Starting({ contactId, onStarted }: { contactId: string; onStarted: () => Promise<unknown> }) {
  const project = useProjectId();
  const [chosen, setChosen] = useState('');
  const workflows = useQuery({
    queryKey: ['workflows', project, 'enabled'],
    queryFn: async () => (await answer(api.GET('/workflows', { params: { query: { pageSize: 100 } } }))).data,
  });
  const offered = (workflows.data ?? []).filter(({ enabled }) => enabled);
  const start = useMutation({
    mutationFn: () =>
      answer(api.POST('/workflows/{id}/executions', { params: { path: { id: chosen } }, body: { contactId } })),
    onSuccess: async () => {
      toast('Workflow started');
      await onStarted();
    },
  });
  return (
    <>
      <Form className="filters" onSubmit={() => start.mutate()}>
        <SelectField label="Workflow" value={chosen} onChange={({ target }) => setChosen(target.value)}>
          <option value="">{offered.length === 0 ? 'No enabled workflow' : 'Select a workflow'}</option>
          {offered.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <Button type="submit" busy={start.isPending} disabled={chosen === ''}>
          Start workflow
        </Button>
      </Form>
      {start.error ? <Problem error={start.error} /> : null}
    </>
  );
}

function Executions({
  contact,
  rows,
  onStop,
}: {
  contact: string;
  rows: readonly Execution[];
  onStop: (execution: Execution) => void;
}) {
  const project = useProjectId();
  return (
    <Table
      label="Workflows of this contact"
      rows={rows}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'workflow',
          title: 'Workflow',
          cell: ({ id, workflow }) => (
            <Link
              to="/app/$project/workflows/$workflow/executions/$execution"
              params={{ project, workflow: workflow.id, execution: id }}
              dir="auto"
            >
              {workflow.name}
            </Link>
          ),
        },
        {
          key: 'status',
          title: 'Status',
          cell: ({ status }) => <Badge tone={executionStates[status].tone}>{executionStates[status].name}</Badge>,
        },
        { key: 'step', title: 'At', cell: ({ currentStep }) => <span dir="auto">{currentStep?.name ?? '–'}</span> },
        { key: 'started', title: 'Entered', cell: ({ startedAt }) => <Timestamp at={startedAt} /> },
        {
          key: 'stop',
          title: 'Action',
          cell: (execution) =>
            isActive(execution) ? (
              <Button size="small" aria-label={`Stop ${execution.workflow.name}`} onClick={() => onStop(execution)}>
                Stop
              </Button>
            ) : (
              <span className="muted">Ended</span>
            ),
        },
        {
          key: 'why',
          title: 'Explanation',
          cell: ({ workflow }) => (
            <WhyButton contact={contact} about={{ workflowId: workflow.id }} row={workflow.name} />
          ),
        },
      ]}
    />
  );
}
