import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePart } from '../../../standby/use-part.ts';
import { Address } from '../../../ui/Address.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, buttonClass } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { Card, Page } from '../../../ui/Page.tsx';
import { Loading, Shown } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { WhyButton } from '../../explain/Why.tsx';
import { Canvas } from '../canvas/Canvas.tsx';
import { loadLayout } from '../canvas/layout-part.ts';
import type { Selection } from '../canvas/selection.ts';
import { type Execution, executionStates, isActive, refreshWorkflows, type Version } from '../workflow.ts';
import { ExecutionFacts } from './ExecutionFacts.tsx';
import { ExecutionSteps, Json } from './ExecutionSteps.tsx';
import { drawn, isPlaced, useOutcomes } from './trace.ts';

/** One contact's path through an automation. */
export function ExecutionPage() {
  const project = useProjectId();
  const { workflow: id = '', execution: executionId = '' } = useParams({ strict: false });
  const execution = useQuery({
    queryKey: ['workflows', project, id, 'executions', executionId],
    refetchInterval: ({ state }) => (state.data && !isActive(state.data) ? false : 1_500),
    queryFn: () =>
      answer(api.GET('/workflows/{id}/executions/{executionId}', { params: { path: { id, executionId } } })),
  });
  const number = execution.data?.version ?? 0;
  const version = useQuery({
    queryKey: ['workflows', project, id, 'versions', number],
    enabled: number > 0,
    queryFn: () =>
      answer(api.GET('/workflows/{id}/versions/{version}', { params: { path: { id, version: String(number) } } })),
    // Another arrangement or a newer version may come; the graph itself never changes.
    placeholderData: (before) => before,
  });
  return (
    <Shown query={execution}>
      {(story) => (
        <Shown query={version}>
          {(graph) =>
            isPlaced(graph) ? (
              <Story version={graph} execution={story} />
            ) : (
              <Arranged version={graph} execution={story} />
            )
          }
        </Shown>
      )}
    </Shown>
  );
}

interface Loaded {
  version: Version;
  execution: Execution;
}

/** The path through a version whose steps have no places yet. */
function Arranged(result: Loaded) {
  const part = usePart(loadLayout, true);
  return part ? <Story {...result} arrange={part.automaticLayout} /> : <Loading />;
}

function Story({ version, execution, arrange }: Loaded & { arrange?: Parameters<typeof drawn>[1] }) {
  const [selection, setSelection] = useState<Selection>(null);
  const { contact, status, stepExecutions, workflow } = execution;
  const outcomes = useOutcomes(stepExecutions);
  const { steps, ways } = useMemo(
    () => drawn(version, arrange, stepExecutions, outcomes),
    [version, arrange, stepExecutions, outcomes],
  );
  const selected = steps.find(({ step }) => selection?.kind === 'step' && step.id === selection.id)?.step ?? null;
  return (
    <Page
      title={contact.name ?? contact.email}
      above={<Above workflow={workflow} />}
      about={
        <>
          {contact.name === null ? null : (
            <div>
              <Address>{contact.email}</Address>
            </div>
          )}
          <Badge tone={executionStates[status].tone}>{executionStates[status].name}</Badge>{' '}
          {execution.exitReason ? <span dir="auto">{execution.exitReason}</span> : null}
        </>
      }
      actions={<Actions execution={execution} />}
    >
      <div className="execution">
        <Canvas
          label={`Path of ${contact.email}`}
          steps={steps}
          ways={ways}
          selection={selection}
          onSelect={setSelection}
          foot={<Foot version={version} workflow={workflow.id} />}
        />
        <div className="stack">
          <ExecutionFacts execution={execution} version={version} />
          <ExecutionSteps
            runs={stepExecutions}
            outcomes={outcomes}
            selected={selected}
            onShowAll={() => setSelection(null)}
          />
          {execution.context ? (
            <Card title="Context">
              <Json label="Context" value={execution.context} />
            </Card>
          ) : null}
        </div>
      </div>
    </Page>
  );
}

function Above({ workflow: { id, name } }: Pick<Execution, 'workflow'>) {
  const project = useProjectId();
  return (
    <>
      <Link to="/app/$project/workflows" params={{ project }}>
        Workflows
      </Link>
      {' / '}
      <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: id }} dir="auto">
        {name}
      </Link>
      {' / '}
      <Link to="/app/$project/workflows/$workflow/executions" params={{ project, workflow: id }}>
        Runs
      </Link>
    </>
  );
}

const loadRetry = () => import('./RetryDialog.tsx');

function Actions({ execution }: { execution: Execution }) {
  const project = useProjectId();
  const [isCancelling, setCancelling] = useState(false);
  const [isRetrying, setRetrying] = useState(false);
  const retry = usePart(loadRetry, isRetrying);
  return (
    <>
      <WhyButton contact={execution.contact.id} about={{ workflowId: execution.workflow.id }} />
      <Link
        className={buttonClass()}
        to="/app/$project/contacts/$contact"
        params={{ project, contact: execution.contact.id }}
      >
        View contact
      </Link>
      <a className={buttonClass()} href={execution.temporal.url} target="_blank" rel="noreferrer">
        Open in Temporal
      </a>
      {isActive(execution) ? (
        <Button variant="danger" onClick={() => setCancelling(true)}>
          Cancel run
        </Button>
      ) : null}
      {execution.status === 'FAILED' && execution.workflow.enabled ? (
        <Button variant="primary" onClick={() => setRetrying(true)}>
          Retry run
        </Button>
      ) : null}
      {isRetrying && retry ? (
        <retry.RetryDialog
          workflow={execution.workflow}
          title={`Retry the run for ${execution.contact.email}?`}
          executionId={execution.id}
          onClose={() => setRetrying(false)}
        />
      ) : null}
      {isCancelling ? <CancelDialog execution={execution} onClose={() => setCancelling(false)} /> : null}
    </>
  );
}

function CancelDialog({ execution, onClose }: { execution: Execution; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const { contact, workflow } = execution;
  return (
    <ConfirmDialog
      title={`Cancel the run for ${contact.email}?`}
      action="Cancel run"
      wayOut="Keep running"
      onConfirm={async () => {
        const path = { id: workflow.id, executionId: execution.id };
        await answer(api.DELETE('/workflows/{id}/executions/{executionId}', { params: { path } }));
        await refreshWorkflows(queries, project);
      }}
      onClose={onClose}
    >
      {contact.email} exits {workflow.name} at the current step. Queued emails are still sent.
    </ConfirmDialog>
  );
}

function Foot({ version, workflow }: { version: Version; workflow: string }) {
  const project = useProjectId();
  return (
    <>
      Version {version.version}, published <Timestamp at={version.createdAt} />.{' '}
      {version.isCurrent ? null : (
        <Link to="/app/$project/workflows/$workflow" params={{ project, workflow }}>
          Current version
        </Link>
      )}
    </>
  );
}
