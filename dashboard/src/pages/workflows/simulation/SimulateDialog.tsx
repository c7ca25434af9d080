import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Note, Problem, Shown } from '../../../ui/States.tsx';
import type { Editing } from '../designer/editing.ts';
import type { ShownTest } from '../designer/shown.ts';
import { bodyOf, type Graph } from '../graph/draft.ts';
import {
  type Asked,
  firstAsked,
  isByEvent,
  isWhole,
  liveVersion,
  requestOf,
  whoseText,
} from '../graph/simulation/asked.ts';
import { type Sides, withCounts } from '../graph/simulation/counts.ts';
import type { Workflow } from '../workflow.ts';
import { SimulationForm } from './SimulationForm.tsx';
import { SimulationResult } from './SimulationResult.tsx';

type Request = components['schemas']['SimulateWorkflowRequest'];
export type Simulation = components['schemas']['WorkflowSimulation'];

/** A simulation that was started here, with the graph that it is of. */
interface Started {
  jobId: string;
  graph: Graph;
  asked: Asked;
  /** Of what time and of whom its figures are. */
  whose: string;
  sides: Sides;
}

// Of each workflow the latest: closing the dialog neither stops it nor loses it.
const started = new Map<string, Started>();

/** Simulates the graph as it is edited over contacts of the past, and shows its counts beside those of the live version. */
export function SimulateDialog({
  workflow,
  editing,
  onShow,
  onClose,
}: {
  workflow: Workflow;
  editing: Pick<Editing, 'graph' | 'settings'>;
  /** Draws the counts on the canvas. */
  onShow: (test: ShownTest) => void;
  onClose: () => void;
}) {
  const project = useProjectId();
  const { id, name } = workflow;
  const versions = useQuery({
    queryKey: ['workflows', project, id, 'versions'],
    queryFn: () => answer(api.GET('/workflows/{id}/versions', { params: { path: { id } } })),
  });
  return (
    <Dialog
      wide
      title={`Simulate ${name}`}
      description="Takes contacts of the past through the graph on the canvas, with your unsaved changes. Nothing is sent, called or changed."
      onClose={onClose}
    >
      <Shown query={versions}>
        {({ data }) => (
          <Simulating
            workflow={workflow}
            editing={editing}
            live={liveVersion(data)}
            onShow={onShow}
            onClose={onClose}
          />
        )}
      </Shown>
    </Dialog>
  );
}

function Simulating({
  workflow,
  editing: { graph, settings },
  live,
  onShow,
  onClose,
}: Parameters<typeof SimulateDialog>[0] & { live: { version: number; share: number } | null }) {
  const { id, triggerType } = workflow;
  const byEvent = isByEvent(graph.steps);
  const [latest, setLatest] = useState(() => started.get(id) ?? null);
  const [asked, setAsked] = useState(() => latest?.asked ?? firstAsked(byEvent, live !== null));
  const start = useStart(workflow, settings, live, (next) => {
    started.set(id, next);
    setLatest(next);
  });
  const job = useJob(id, latest?.jobId ?? null);
  const eventName = byEvent ? String(graph.steps.find(({ type }) => type === 'TRIGGER')?.config.eventName) : null;
  const isRunning = latest !== null && !job.error && !hasEnded(job.data);
  const result = job.data?.result;
  const show = () => {
    if (!result || !latest) return;
    onShow({ graph, hide: 'Hide simulation', draw: (drawing) => withCounts(drawing, result, latest.sides) });
    onClose();
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate({ graph, asked, eventName });
      }}
    >
      <SimulationForm asked={asked} trigger={{ eventName, type: triggerType }} live={live} onChange={setAsked} />
      {settings ? (
        <Note>
          Exits and the goal that you have typed are simulated. Other settings of the trigger are those that are saved.
        </Note>
      ) : null}
      {start.error ? <Problem error={start.error} /> : null}
      {latest && latest.graph !== graph ? (
        <Note tone="warn">
          The graph has changed since the simulation below. Simulate again to see your latest changes.
        </Note>
      ) : null}
      {latest ? (
        <Shown query={job}>
          {(simulation) => <State simulation={simulation} started={latest} workflow={workflow} />}
        </Shown>
      ) : null}
      <footer>
        <Button onClick={onClose}>Close</Button>
        {result && latest?.graph === graph && latest.asked.compare !== 'check' ? (
          <Button onClick={show}>Show on canvas</Button>
        ) : null}
        <Button type="submit" variant="primary" busy={start.isPending} disabled={isRunning || !isWhole(asked)}>
          Simulate
        </Button>
      </footer>
    </form>
  );
}

function useStart(
  { id }: Workflow,
  settings: Editing['settings'],
  live: { version: number; share: number } | null,
  onStarted: (started: Started) => void,
) {
  return useMutation({
    mutationFn: async ({ graph, asked, eventName }: { graph: Graph; asked: Asked; eventName: string | null }) => {
      const now = Date.now();
      const ends = settings ? { exits: settings.exits, goal: settings.goal } : {};
      const body = requestOf(asked, { ...bodyOf(graph), ...ends }, live?.version ?? null, now) as Request;
      const { jobId } = await answer(api.POST('/workflows/{id}/simulations', { params: { path: { id } }, body }));
      const isLive = live !== null && asked.compare === 'live';
      return {
        ...{ jobId, graph, asked, whose: whoseText(asked, eventName, live, now) },
        sides: {
          here: asked.compare === 'check' ? 'Simulation' : 'Draft',
          there: isLive ? (live.share > 0 ? 'Live' : `Version ${live.version}`) : 'Recorded',
        },
      };
    },
    onSuccess: onStarted,
  });
}

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled'] satisfies Simulation['state'][]);
const hasEnded = (job: Simulation | undefined) => job !== undefined && ended.has(job.state);
const jobKey = (project: string, id: string, jobId: string | null) => ['simulations', project, id, jobId];

function useJob(id: string, jobId: string | null) {
  const project = useProjectId();
  return useQuery({
    queryKey: jobKey(project, id, jobId),
    enabled: jobId !== null,
    refetchInterval: ({ state }) => (hasEnded(state.data) ? false : 700),
    queryFn: () =>
      answer(api.GET('/workflows/{id}/simulations/{jobId}', { params: { path: { id, jobId: jobId ?? '' } } })),
  });
}

function State({
  simulation: { state, progress, failedReason, at, result },
  started: latest,
  workflow,
}: {
  simulation: Simulation;
  started: Started;
  workflow: Workflow;
}) {
  if (state === 'failed') return <Note tone="bad">The simulation failed: {failedReason}</Note>;
  if (state === 'canceled') return <Note>The simulation was canceled. No results were kept.</Note>;
  if (result === null) return <Running workflow={workflow.id} jobId={latest.jobId} progress={progress} />;
  return <SimulationResult {...latest} result={result} at={at} workflow={workflow} />;
}

/** How far a simulation is, with a way to end it. */
function Running({ workflow: id, jobId, progress }: { workflow: string; jobId: string; progress: number }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => answer(api.DELETE('/workflows/{id}/simulations/{jobId}', { params: { path: { id, jobId } } })),
    onSuccess: (ended) => queries.setQueryData(jobKey(project, id, jobId), ended),
  });
  return (
    <div className="stack" role="status" aria-label="Progress of the simulation">
      <progress aria-label="Progress" max={100} value={progress} />
      <p>Simulating: {progress}%. You can close this dialog; the simulation continues.</p>
      {cancel.error ? <Problem error={cancel.error} /> : null}
      <div>
        <Button size="small" busy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel simulation
        </Button>
      </div>
    </div>
  );
}
