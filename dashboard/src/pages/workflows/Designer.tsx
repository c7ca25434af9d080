import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useProjectId } from '../../app/address.ts';
import { useUnsaved } from '../../app/unsaved.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button, buttonClass } from '../../ui/Button.tsx';
import { Page } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count, counted } from '../../words/numbers.ts';
import { fieldSentence } from '../../words/sentences.ts';
import { Canvas, type Selection, shownWays } from './Canvas.tsx';
import { useCheck } from './check.ts';
import { DeleteStep } from './DeleteStep.tsx';
import { DeleteWorkflow } from './DeleteWorkflow.tsx';
import { EditState } from './EditState.tsx';
import { useEditing } from './editing.ts';
import {
  connectProblem,
  type DraftStep,
  hasBrokenBody,
  isSameStep,
  newName,
  withNewStep,
  withoutStep,
  withoutWay,
  withPlaces,
  withStepBetween,
  withWay,
} from './graph/draft.ts';
import { addable, openWays, stepNames, stepSize } from './graph/graph.ts';
import { automaticLayout } from './layout.ts';
import { MigrateDialog } from './MigrateDialog.tsx';
import { PeopleDialog } from './PeopleDialog.tsx';
import { PublishDialog } from './PublishDialog.tsx';
import { StepPanel } from './StepPanel.tsx';
import { TriggerForm } from './TriggerForm.tsx';
import { WayPanel } from './WayPanel.tsx';
import { WorkflowSwitch } from './WorkflowSwitch.tsx';
import { peopleQuery, type StepType, type Workflow } from './workflow.ts';

type Addable = Exclude<StepType, 'TRIGGER'>;

/** The graph of an automation, drawn and edited. An edit is of this browser alone until it is published as a whole. */
export function Designer({ workflow }: { workflow: Workflow }) {
  const project = useProjectId();
  const navigate = useNavigate();
  const { id, name, enabled } = workflow;
  const editing = useEditing(workflow);
  const { graph, changes } = editing;
  const { issues, error: unchecked, isChecking } = useCheck(workflow, editing);
  const [selection, setSelection] = useState<Selection>(null);
  const [dialog, setDialog] = useState<'step' | 'people' | 'workflow' | 'migrate' | 'publish' | null>(null);
  const [refused, setRefused] = useState<unknown>(null);
  const [isSaving, setSaving] = useState(false);
  const people = useQuery(peopleQuery(project, id));
  const step = selection?.kind === 'step' ? graph.steps.find((each) => each.id === selection.id) : undefined;
  const way = selection?.kind === 'way' ? graph.transitions.find((each) => each.id === selection.id) : undefined;
  // What the browser keeps is there when one comes back.
  const unsaved = useUnsaved(!editing.isKept);

  const shownSteps = useMemo(() => {
    const published = new Map(workflow.steps.map((each) => [each.id, each]));
    const undecided = new Set(editing.conflicts.map(({ stepId }) => stepId));
    const markOf = (each: DraftStep) => {
      const before = published.get(each.id);
      if (undecided.has(each.id)) return 'changed by two';
      if (before === undefined) return 'new';
      return isSameStep(each, before) && !(each.type === 'TRIGGER' && editing.settings) ? undefined : 'changed';
    };
    return graph.steps.map((each) => ({
      step: each,
      people: people.data?.steps.find(({ stepId }) => stepId === each.id),
      issues: issues.filter(({ stepId }) => stepId === each.id),
      mark: markOf(each),
    }));
  }, [graph, issues, people.data, workflow.steps, editing.conflicts, editing.settings]);
  const ways = useMemo(() => shownWays(graph.steps, graph.transitions, people.data), [graph, people.data]);
  const close = () => setDialog(null);

  const connect = (fromStepId: string, key: string, toStepId: string) => {
    const problem = connectProblem(graph, fromStepId, toStepId);
    if (problem !== null) toast(problem);
    else editing.edit((before) => withWay(before, fromStepId, key, toStepId));
  };

  const made = (type: Addable, position: DraftStep['position']): DraftStep => {
    const config = addable.find((each) => each.type === type)?.config ?? {};
    const names = new Set(graph.steps.map((each) => each.name));
    return { id: newName(), type, name: freeName(stepNames[type], names), position, config, templateId: null };
  };

  const add = (type: Addable, position?: DraftStep['position']) => {
    const from = position ? undefined : step;
    const [out] = from ? openWays(from, graph.transitions) : [];
    const nextTo = graph.transitions.filter(({ fromStepId }) => fromStepId === from?.id).length;
    const lowest = Math.max(...graph.steps.map((each) => each.position.y));
    const at =
      position ??
      (from && out
        ? { x: from.position.x + nextTo * (stepSize.width + 48), y: from.position.y + stepSize.height + 72 }
        : { x: graph.steps[0]?.position.x ?? 100, y: lowest + stepSize.height + 72 });
    const added = made(type, at);
    editing.edit((before) => {
      const grown = withNewStep(before, added);
      return from && out ? withWay(grown, from.id, out.key, added.id) : grown;
    });
    setSelection({ kind: 'step', id: added.id });
  };

  const insert = (type: Addable) => {
    if (way === undefined) return;
    const source = graph.steps.find((each) => each.id === way.fromStepId);
    const target = graph.steps.find((each) => each.id === way.toStepId);
    const added = made(type, {
      x: target?.position.x ?? 0,
      y: (source?.position.y ?? 0) + stepSize.height + 72,
    });
    editing.edit((before) => withStepBetween(before, way.id, added));
    setSelection({ kind: 'step', id: added.id });
  };

  const removeWay = (wayId: string) => {
    editing.edit((before) => withoutWay(before, wayId));
    setSelection(null);
  };

  const inside = people.data?.active ?? 0;
  const needsDialog = enabled || inside > 0;
  const save = async () => {
    if (needsDialog) {
      setDialog('publish');
      return;
    }
    setSaving(true);
    await editing.publish(null).then(
      () => setRefused(null),
      (problem: unknown) => setRefused(problem),
    );
    setSaving(false);
  };
  const blocked =
    editing.conflicts.length > 0
      ? 'Resolve the conflicting steps first.'
      : graph.steps.some(hasBrokenBody)
        ? 'The body of a webhook is not valid JSON.'
        : null;

  const general = issues.filter(({ stepId }) => stepId === null);
  return (
    <Page
      title={name}
      above={
        <Link to="/app/$project/workflows" params={{ project }}>
          Workflows
        </Link>
      }
      about={
        <>
          <Badge {...(enabled ? { tone: 'good' as const } : {})}>{enabled ? 'Enabled' : 'Disabled'}</Badge>{' '}
          {people.data ? (
            <>
              {counted(people.data.active, 'contact')} in this workflow
              {people.data.arriving > 0 ? `, ${count(people.data.arriving)} entering` : ''}
            </>
          ) : null}
          {workflow.description ? <span dir="auto"> · {workflow.description}</span> : null}
        </>
      }
      actions={
        <>
          <Link
            className={buttonClass()}
            to="/app/$project/workflows/$workflow/executions"
            params={{ project, workflow: id }}
          >
            Executions
          </Link>
          <Button onClick={() => setDialog('migrate')}>Migrate contacts</Button>
          <Button look="danger" onClick={() => setDialog('workflow')}>
            Delete
          </Button>
          <WorkflowSwitch
            workflow={workflow}
            onRefused={setRefused}
            onTurn={async (next) => {
              // What is enabled is what is seen.
              if (next && changes > 0 && blocked === null) await editing.publish(null);
              await editing.patch({ enabled: next });
            }}
          />
        </>
      }
    >
      <div className="stack">
        {refused ? (
          <div>
            <Problem error={refused} />
            <Button size="small" look="plain" onClick={() => setRefused(null)}>
              Close
            </Button>
          </div>
        ) : null}
        <EditState editing={editing} onSelect={(stepId) => setSelection({ kind: 'step', id: stepId })} />
        {unchecked ? <Problem error={unchecked} /> : null}
        {general.length > 0 ? (
          <Note tone="warn">
            <ul>
              {general.map(({ field, message }) => (
                <li key={`${field} ${message}`}>{fieldSentence({ field: field ?? '', message })}</li>
              ))}
            </ul>
          </Note>
        ) : null}
      </div>
      <div className="palette" role="toolbar" aria-label="Edit the workflow">
        {addable.map(({ type }) => (
          <Button
            key={type}
            size="small"
            draggable
            onDragStart={(event) => event.dataTransfer.setData('text/step-type', type)}
            onClick={() => add(type)}
          >
            <Plus aria-hidden /> {stepNames[type]}
          </Button>
        ))}
        <Button size="small" disabled={!editing.canUndo} onClick={editing.undo}>
          Undo
        </Button>
        <Button size="small" disabled={!editing.canRedo} onClick={editing.redo}>
          Redo
        </Button>
        <Button
          size="small"
          onClick={() =>
            editing.edit((before) => withPlaces(before, automaticLayout(before.steps, before.transitions)))
          }
        >
          Arrange
        </Button>
        <span className="palette-end">
          <span className="muted" role="status">
            {changes === 0
              ? 'No changes'
              : `${counted(changes, 'change')} not ${needsDialog ? 'published' : 'saved'}${isChecking ? ', checking…' : ''}`}
          </span>
          {changes > 0 ? (
            <Button size="small" look="plain" onClick={editing.discard}>
              Discard changes
            </Button>
          ) : null}
          <Button
            size="small"
            look="primary"
            busy={isSaving}
            disabled={changes === 0 || blocked !== null}
            title={blocked ?? undefined}
            onClick={() => void save()}
          >
            {needsDialog ? 'Review and publish' : 'Save'}
          </Button>
        </span>
      </div>
      <div className="designer">
        <Canvas
          label={`Graph of ${name}`}
          steps={shownSteps}
          ways={ways}
          selection={selection}
          onSelect={setSelection}
          onMove={(moved) =>
            editing.edit((before) => withPlaces(before, new Map(moved.map((each) => [each.id, each.position]))))
          }
          onConnect={connect}
          onDelete={() => {
            if (step && step.type !== 'TRIGGER') setDialog('step');
            else if (way) removeWay(way.id);
          }}
          onDrop={(type, position) => {
            const known = addable.find((each) => each.type === type);
            if (known) add(known.type, position);
          }}
          onUndo={editing.undo}
          onRedo={editing.redo}
          foot="Numbers on paths show how many contacts have taken them."
        />
        <aside className="min-w-0 rounded-lg border border-line bg-surface p-4" aria-label="Selection">
          {step ? (
            <div className="stack" key={step.id}>
              {step.type === 'TRIGGER' ? <TriggerForm workflow={workflow} editing={editing} /> : null}
              <StepPanel
                step={step}
                editing={editing}
                issues={issues.filter(({ stepId }) => stepId === step.id)}
                onDelete={() => setDialog('step')}
                onPeople={() => setDialog('people')}
              />
            </div>
          ) : way ? (
            <WayPanel graph={graph} way={way} onInsert={insert} onRemove={() => removeWay(way.id)} />
          ) : (
            <div className="stack">
              <h2>Nothing selected</h2>
              <p>
                Select a step to edit it, or a path to insert a step. New steps follow the selected one. Drag from the
                lower edge of a step to connect it.
              </p>
              <p>
                Your changes are kept in this browser and affect no contacts until you{' '}
                {needsDialog ? 'publish' : 'save'} them.
              </p>
              <p className="muted">
                Keyboard: Tab to a step, arrow keys to move between steps, Alt and arrow keys to move the step, Enter to
                open it, Delete to delete it, Escape to deselect, Ctrl+Z and Ctrl+Y to undo and redo.
              </p>
            </div>
          )}
        </aside>
      </div>
      {dialog === 'step' && step ? (
        <DeleteStep
          graph={graph}
          step={step}
          onDelete={(splice) => editing.edit((before) => withoutStep(before, step.id, splice))}
          onClose={close}
        />
      ) : null}
      {dialog === 'people' && step ? <PeopleDialog workflow={id} step={step} onClose={close} /> : null}
      {dialog === 'migrate' ? <MigrateDialog workflow={workflow} onClose={close} /> : null}
      {dialog === 'publish' ? <PublishDialog workflow={workflow} editing={editing} onClose={close} /> : null}
      {dialog === 'workflow' ? (
        <DeleteWorkflow
          workflow={{ id, name, steps: workflow.steps.length, revision: editing.revision }}
          onDeleted={() => navigate({ to: '/app/$project/workflows', params: { project }, ignoreBlocker: true })}
          onClose={close}
        />
      ) : null}
      {unsaved}
    </Page>
  );
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name} ${n}`;
  return free;
}
