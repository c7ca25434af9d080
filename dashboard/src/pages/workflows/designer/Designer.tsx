import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useProjectId } from '../../../app/address.ts';
import { useUnsaved } from '../../../app/unsaved.tsx';
import { usePart } from '../../../standby/use-part.ts';
import { Button } from '../../../ui/Button.tsx';
import { Page } from '../../../ui/Page.tsx';
import { Note, Problem } from '../../../ui/States.tsx';
import { fieldSentence } from '../../../words/sentences.ts';
import { Canvas } from '../canvas/Canvas.tsx';
import { FiguresPeriod } from '../canvas/FiguresPeriod.tsx';
import type { Selection } from '../canvas/selection.ts';
import { useSteady } from '../canvas/steady.ts';
import { type Issue, type People, peopleQuery, type Workflow } from '../workflow.ts';
import { useCheck } from './check.ts';
import type { DesignerDialogsProps, OpenDialog } from './DesignerDialogs.tsx';
import { DesignerAbout, DesignerActions } from './DesignerHead.tsx';
import { editsOf } from './designer-edits.ts';
import { type Editing, useEditing } from './editing.ts';
import { SidePanel } from './SidePanel.tsx';
import { type ShownTest, shownSteps, shownWays } from './shown.ts';
import { DesignerToolbar } from './Toolbar.tsx';

const loadCopying = () => import('./copying.ts');

/** The graph of an automation, drawn and edited. An edit is of this browser alone until it is published as a whole. */
export function Designer({ workflow }: { workflow: Workflow }) {
  const editing = useEditing(workflow);
  const { selection, select, isPanelOpen, setPanelOpen } = useSelection();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const { people, days, setDays } = usePeople(workflow.id);
  const [arranged, setArranged] = useState(0);
  const publishes = workflow.enabled || (people.data?.active ?? 0) > 0;
  const { save, isSaving, isTried, refused, setRefused } = useSaving(editing, publishes, () => setDialog('publish'));
  const { issues, error: unchecked, isChecking } = useCheck(workflow, editing, isTried);
  // An edit kept by the browser is there when the page is opened again.
  const unsaved = useUnsaved(!editing.isKept);
  const copying = usePart(loadCopying);
  const [pasted, setPasted] = useState<string | null>(null);
  const edits = useSteady(editsOf(editing, selection, select, () => setDialog('step'), copying, setPasted));
  useEffect(() => {
    if (copying === null || pasted === null) return;
    edits.onPaste(pasted);
    setPasted(null);
  }, [copying, pasted, edits]);
  const { drawing, hideTest, setTest } = useShown(workflow, editing, issues, people.data);
  return (
    <Page
      title={workflow.name}
      above={<ToWorkflows />}
      about={<DesignerAbout workflow={workflow} people={people.data} />}
      actions={<DesignerActions workflow={workflow} editing={editing} onRefused={setRefused} onOpen={setDialog} />}
    >
      <Notes refused={refused} onClose={() => setRefused(null)} unchecked={unchecked} issues={issues}>
        <State editing={editing} onSelect={(id) => select({ kind: 'step', id })} />
      </Notes>
      <div className="designer" data-panel={isPanelOpen}>
        <DesignerToolbar
          editing={editing}
          isChecking={isChecking}
          publishes={publishes}
          isSaving={isSaving}
          isPanelOpen={isPanelOpen}
          edits={edits}
          selection={selection}
          onArrange={() => setArranged((times) => times + 1)}
          onSave={() => void save()}
          onPanel={setPanelOpen}
        />
        <Canvas
          label={`Graph of ${workflow.name}`}
          {...drawing}
          selection={selection}
          onSelect={select}
          edits={edits}
          arranged={arranged}
          foot={hideTest ?? <FiguresPeriod days={days} onChange={setDays} />}
        />
        {isPanelOpen ? (
          <SidePanel
            workflow={workflow}
            editing={editing}
            selection={selection}
            issues={issues}
            publishes={publishes}
            edits={edits}
            ways={drawing.ways}
            onDeleteStep={() => setDialog('step')}
            onPeople={() => setDialog('people')}
          />
        ) : null}
      </div>
      <Dialogs
        open={dialog}
        workflow={workflow}
        editing={editing}
        step={selection?.kind === 'step' ? editing.graph.steps.find(({ id }) => id === selection.id) : undefined}
        onShowTest={setTest}
        onClose={() => setDialog(null)}
      />
      {unsaved}
    </Page>
  );
}

const loadDialogs = () => import('./DesignerDialogs.tsx');

function Dialogs(props: DesignerDialogsProps) {
  const part = usePart(loadDialogs, props.open !== null);
  return part && props.open ? <part.DesignerDialogs {...props} /> : null;
}

const loadState = () => import('./EditState.tsx');

// Few edits have anything to say; the part is loaded with the first that does.
function State(props: { editing: Editing; onSelect: (stepId: string) => void }) {
  const { news, conflicts, foundFrom, isKept } = props.editing;
  const says = news !== null || conflicts.length > 0 || foundFrom !== null || !isKept;
  const part = usePart(loadState, says);
  return part && says ? <part.EditState {...props} /> : null;
}

function ToWorkflows() {
  const project = useProjectId();
  return (
    <Link to="/app/$project/workflows" params={{ project }}>
      Workflows
    </Link>
  );
}

/** How many contacts are where in a workflow, and how many took each path in a period of days; 0 is all time. */
function usePeople(workflow: string) {
  const project = useProjectId();
  const [days, setDays] = useState(0);
  const people = useQuery({ ...peopleQuery(project, workflow, days), placeholderData: keepPreviousData });
  return { people, days, setDays };
}

/** Holds the selection; a new selection is shown in the panel. */
function useSelection() {
  const [selection, setSelection] = useState<Selection>(null);
  // On a phone the graph comes first.
  const [isPanelOpen, setPanelOpen] = useState(() => window.matchMedia('(min-width: 60.01rem)').matches);
  const select = (next: Selection) => {
    setSelection(next);
    if (next !== null) setPanelOpen(true);
  };
  return { selection, select, isPanelOpen, setPanelOpen };
}

/** Saves the edit of an automation that no contact notices; for another one it asks for the dialog that publishes. */
function useSaving(editing: Editing, publishes: boolean, onPublish: () => void) {
  const [isSaving, setSaving] = useState(false);
  const [refused, setRefused] = useState<unknown>(null);
  const [isTried, setTried] = useState(false);
  const save = async () => {
    setTried(true);
    if (publishes) {
      onPublish();
      return;
    }
    setSaving(true);
    await editing.publish(null).then(() => setRefused(null), setRefused);
    setSaving(false);
  };
  return { save, isSaving, isTried, refused, setRefused };
}

/** The graph as it is drawn: with its problems, how many contacts are where, and a test or simulation until it is hidden or the graph changes. */
function useShown(
  workflow: Workflow,
  { graph, conflicts, settings }: Editing,
  issues: readonly Issue[],
  people: People | undefined,
) {
  const [test, setTest] = useState<ShownTest | null>(null);
  const isTest = test?.graph === graph;
  const steps = useMemo(
    () => shownSteps(workflow, { graph, conflicts, settings }, issues, people),
    [workflow, graph, conflicts, settings, issues, people],
  );
  const ways = useMemo(() => shownWays(graph.steps, graph.transitions, people), [graph, people]);
  const drawing = useMemo(() => (isTest ? test.draw({ steps, ways }) : { steps, ways }), [isTest, test, steps, ways]);
  const hideTest = isTest ? (
    <Button size="small" onClick={() => setTest(null)}>
      {test.hide}
    </Button>
  ) : null;
  return { drawing, hideTest, setTest };
}

/** Shows problems of the whole graph, or a refusal; `children` show the state of the edit. */
function Notes({
  refused,
  onClose,
  unchecked,
  issues,
  children,
}: {
  refused: unknown;
  onClose: () => void;
  unchecked: unknown;
  issues: readonly Issue[];
  children: ReactNode;
}) {
  return (
    <div className="designer-notes">
      {refused ? <Refused error={refused} onClose={onClose} /> : null}
      {children}
      {unchecked ? <Problem error={unchecked} /> : null}
      <GeneralIssues issues={issues.filter(({ stepId }) => stepId === null)} />
    </div>
  );
}

function Refused({ error, onClose }: { error: unknown; onClose: () => void }) {
  return (
    <div>
      <Problem error={error} />
      <Button size="small" variant="plain" onClick={onClose}>
        Close
      </Button>
    </div>
  );
}

function GeneralIssues({ issues }: { issues: readonly Issue[] }) {
  if (issues.length === 0) return null;
  return (
    <Note tone="warn">
      <ul>
        {issues.map(({ field, message }) => (
          <li key={`${field} ${message}`}>{fieldSentence({ field: field ?? '', message })}</li>
        ))}
      </ul>
    </Note>
  );
}
