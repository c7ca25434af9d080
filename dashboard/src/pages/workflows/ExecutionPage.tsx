import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Button, buttonClass } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { Canvas, type Selection, type ShownStep, type ShownWay, shownWays } from './Canvas.tsx';
import { stepNames, stepSize } from './graph/graph.ts';
import { automaticLayout } from './layout.ts';
import {
  type Execution,
  executionStates,
  isActive,
  refreshWorkflows,
  type StepExecution,
  type Version,
} from './workflow.ts';

const states: Record<StepExecution['status'], { name: string; tone?: Tone }> = {
  PENDING: { name: 'Pending', tone: 'info' },
  SCHEDULED: { name: 'Scheduled', tone: 'info' },
  WAITING: { name: 'Waiting', tone: 'info' },
  RUNNING: { name: 'Running', tone: 'info' },
  COMPLETED: { name: 'Completed', tone: 'good' },
  SKIPPED: { name: 'Skipped', tone: 'warn' },
  FAILED: { name: 'Failed', tone: 'bad' },
};

/** What became of a step: one that ran through without doing its work is not called completed, and says why. */
function outcomeOf({ status, output }: StepExecution): { name: string; tone?: Tone; why?: string } {
  if (status !== 'COMPLETED' || output?.skipped === undefined) return states[status];
  const why =
    output.skipped === 'unsubscribed'
      ? 'Email not sent: the contact is unsubscribed.'
      : `Nothing was done: ${String(output.skipped)}.`;
  return { ...states.SKIPPED, why };
}

/** One contact's way through an automation. */
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
      {(story) => <Shown query={version}>{(graph) => <Story version={graph} execution={story} />}</Shown>}
    </Shown>
  );
}

function Story({ version, execution }: { version: Version; execution: Execution }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [selection, setSelection] = useState<Selection>(null);
  const [isCancelling, setCancelling] = useState(false);
  const { contact, status, stepExecutions, temporal, waitingFor, workflow } = execution;
  const { steps, ways } = useMemo(() => drawn(version, stepExecutions), [version, stepExecutions]);
  const shown =
    selection?.kind === 'step' ? stepExecutions.filter(({ stepId }) => stepId === selection.id) : stepExecutions;
  return (
    <Page
      title={contact.email}
      above={
        <>
          <Link to="/app/$project/workflows" params={{ project }}>
            Workflows
          </Link>
          {' / '}
          <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: workflow.id }} dir="auto">
            {workflow.name}
          </Link>
          {' / '}
          <Link to="/app/$project/workflows/$workflow/executions" params={{ project, workflow: workflow.id }}>
            Executions
          </Link>
        </>
      }
      about={
        <>
          <Badge tone={executionStates[status].tone}>{executionStates[status].name}</Badge>{' '}
          {execution.exitReason ? <span dir="auto">{execution.exitReason}</span> : null}
        </>
      }
      actions={
        <>
          <Link
            className={buttonClass()}
            to="/app/$project/contacts/$contact"
            params={{ project, contact: contact.id }}
          >
            View contact
          </Link>
          <a className={buttonClass()} href={temporal.url} target="_blank" rel="noreferrer">
            Open in Temporal
          </a>
          {isActive(execution) ? (
            <Button look="danger" onClick={() => setCancelling(true)}>
              Cancel execution
            </Button>
          ) : null}
        </>
      }
    >
      <div className="stack">
        <Card title="Status">
          <dl className="facts">
            <dt>Entered</dt>
            <dd>
              <Timestamp at={execution.startedAt} />
            </dd>
            {execution.completedAt ? (
              <>
                <dt>Completed</dt>
                <dd>
                  <Timestamp at={execution.completedAt} />
                </dd>
              </>
            ) : null}
            {execution.currentStep ? (
              <>
                <dt>{isActive(execution) ? 'At' : 'Ended at'}</dt>
                <dd>{execution.currentStep.name}</dd>
              </>
            ) : null}
            {waitingFor ? (
              <>
                <dt>Waiting for</dt>
                <dd>
                  {waitingFor}
                  {execution.waitingUntil ? (
                    <>
                      , until <Timestamp at={execution.waitingUntil} after />
                    </>
                  ) : null}
                  {execution.waitingSince ? (
                    <>
                      , since <Timestamp at={execution.waitingSince} after />
                    </>
                  ) : null}
                </dd>
              </>
            ) : null}
            <dt>Version</dt>
            <dd>
              {execution.version}
              {version.isCurrent ? ' (published)' : ' (older: shown below as it was then)'}
              {execution.nextVersion === null ? '' : `. Moves to version ${execution.nextVersion} at the next step`}
            </dd>
          </dl>
        </Card>
        <Canvas
          label={`Path of ${contact.email}`}
          steps={steps}
          ways={ways}
          selection={selection}
          onSelect={setSelection}
          foot={
            <>
              Version {version.version}, published <Timestamp at={version.createdAt} />.{' '}
              {version.isCurrent ? null : (
                <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: workflow.id }}>
                  Current version
                </Link>
              )}
            </>
          }
        />
        <Card title={selection ? `At ${steps.find(({ step }) => step.id === selection.id)?.step.name ?? ''}` : 'Steps'}>
          {selection ? (
            <p>
              <Button size="small" onClick={() => setSelection(null)}>
                Show all steps
              </Button>
            </p>
          ) : null}
          {shown.length === 0 ? <p>This execution hasn’t reached this step.</p> : null}
          <ol className="stack">
            {shown.map((each) => (
              <li key={each.id}>
                <StepStory run={each} number={stepExecutions.indexOf(each) + 1} />
              </li>
            ))}
          </ol>
        </Card>
        {execution.context ? (
          <Card title="Context">
            <Json label="Context" value={execution.context} />
          </Card>
        ) : null}
      </div>
      {isCancelling ? (
        <ConfirmDialog
          title={`Cancel the execution for ${contact.email}?`}
          action="Cancel execution"
          wayOut="Keep running"
          onConfirm={async () => {
            const path = { id: workflow.id, executionId: execution.id };
            await answer(api.DELETE('/workflows/{id}/executions/{executionId}', { params: { path } }));
            await refreshWorkflows(queries, project);
          }}
          onClose={() => setCancelling(false)}
        >
          {contact.email} exits {workflow.name} at the current step. Queued emails are still sent.
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}

function StepStory({ run, number }: { run: StepExecution; number: number }) {
  const outcome = outcomeOf(run);
  return (
    <article>
      <h3 className="break">
        {number}. {run.step.name} <Badge tone={outcome.tone}>{outcome.name}</Badge>
      </h3>
      <p className="muted">
        {stepNames[run.step.type]}, started <Timestamp at={run.startedAt} />
        {run.completedAt ? `, took ${took(run.durationMs)}` : ''}
        {run.scheduledFor && !run.completedAt ? (
          <>
            , continues <Timestamp at={run.scheduledFor} />
          </>
        ) : null}
        {run.executeAfter && !run.completedAt ? (
          <>
            , until <Timestamp at={run.executeAfter} after /> at most
          </>
        ) : null}
      </p>
      {outcome.why ? <Note tone="warn">{outcome.why}</Note> : null}
      {run.error ? <div className="break rounded-lg bg-bad-soft px-3 py-2 text-bad">{run.error}</div> : null}
      {run.input ? <Json label={`Input of ${run.step.name}`} title="Input" value={run.input} /> : null}
      {run.output ? <Json label={`Output of ${run.step.name}`} title="Output" value={run.output} /> : null}
    </article>
  );
}

function Json({ label, title, value }: { label: string; title?: string; value: unknown }) {
  const body = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section className="json" tabIndex={0} aria-label={label}>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </section>
  );
  if (title === undefined) return body;
  return (
    <details>
      <summary>{title}</summary>
      {body}
    </details>
  );
}

function took(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = ms / 1_000;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 120 ? `${Math.round(minutes)} minutes` : `${Math.round(minutes / 60)} hours`;
}

/** The version's graph with the way through it; steps of a version that was left meanwhile stand beside it. */
function drawn(version: Version, runs: readonly StepExecution[]): { steps: ShownStep[]; ways: ShownWay[] } {
  const places = automaticLayout(version.steps, version.transitions);
  const hasPlaces = version.steps.every(({ position }) => position !== null);
  const placed = version.steps.map((step) => ({
    ...step,
    position: (hasPlaces ? step.position : places.get(step.id)) ?? { x: 0, y: 0 },
  }));
  const right = Math.max(0, ...placed.map(({ position }) => position.x)) + stepSize.width + 120;
  const gone = new Map(
    runs.filter(({ stepId }) => placed.every(({ id }) => id !== stepId)).map(({ step }) => [step.id, step]),
  );
  const steps: ShownStep[] = [
    ...placed.map((step) => traced({ step }, runs)),
    ...[...gone.values()].map((step, n) =>
      traced({ step: { ...step, config: {}, position: { x: right, y: n * (stepSize.height + 72) } } }, runs),
    ),
  ];
  const pairs = runs.slice(1).map((run, n) => ({ from: runs[n]?.stepId ?? '', to: run.stepId }));
  const ways: ShownWay[] = shownWays(placed, version.transitions).map((way) => ({
    ...way,
    taken: pairs.some(({ from, to }) => from === way.fromStepId && to === way.toStepId) && fits(way, runs),
  }));
  for (const { from, to } of pairs)
    if (!ways.some((way) => way.taken && way.fromStepId === from && way.toStepId === to))
      ways.push({
        id: `${from} ${to}`,
        fromStepId: from,
        toStepId: to,
        branch: null,
        waitOutcome: null,
        label: 'moved',
        taken: true,
      });
  return { steps, ways };
}

// Two branches may lead to one step: only the one that was taken is shown as the way.
function fits(way: ShownWay, runs: readonly StepExecution[]): boolean {
  const output = runs.findLast(({ stepId }) => stepId === way.fromStepId)?.output ?? {};
  if (way.branch !== null) return output.branch === way.branch;
  return way.waitOutcome === null || output.waitOutcome === way.waitOutcome;
}

function traced(shown: ShownStep, runs: readonly StepExecution[]): ShownStep {
  const index = runs.findLastIndex(({ stepId }) => stepId === shown.step.id);
  const run = runs[index];
  if (run === undefined) return shown;
  const state = outcomeOf(run);
  const outcome = run.output?.branch ?? run.output?.waitOutcome ?? run.output?.statusCode;
  return {
    ...shown,
    trace: `${index + 1}. ${state.name}${outcome === undefined ? '' : `: ${String(outcome)}`}`,
    tone: state.tone,
  };
}
