import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { count } from '../../ui/numbers.ts';
import { Page } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { useUnsaved } from '../mail/unsaved.ts';
import { Canvas, type Selection, shownWays } from './Canvas.tsx';
import { DeleteStep } from './DeleteStep.tsx';
import { DeleteWorkflow } from './DeleteWorkflow.tsx';
import { ChangedByOthers, useEditing } from './editing.ts';
import { addable, automaticLayout, openWays, reachable, stepNames, stepSize, waysOut } from './graph.ts';
import { MigrateDialog } from './MigrateDialog.tsx';
import { PeopleDialog } from './PeopleDialog.tsx';
import { hasChanges, StepPanel, type Writing } from './StepPanel.tsx';
import { type Settings, TriggerForm } from './TriggerForm.tsx';
import { WayPanel } from './WayPanel.tsx';
import { WorkflowSwitch } from './WorkflowSwitch.tsx';
import { peopleQuery, type StepType, type Workflow } from './workflow.ts';

type Addable = Exclude<StepType, 'TRIGGER'>;

/** The graph of an automation, drawn and edited: each edit is saved at once and can be undone. */
export function Designer({ workflow }: { workflow: Workflow }) {
  const project = useProjectId();
  const navigate = useNavigate();
  const { id, name, enabled, steps, transitions, issues } = workflow;
  const [selection, setSelection] = useState<Selection>(null);
  const [writings, setWritings] = useState<Record<string, Writing>>({});
  const [settings, setSettings] = useState<Settings | null>(null);
  const [dialog, setDialog] = useState<'step' | 'way' | 'people' | 'workflow' | 'migrate' | null>(null);
  const [refused, setRefused] = useState<unknown>(null);
  const editing = useEditing(id, workflow);
  const people = useQuery(peopleQuery(project, id));
  const step = selection?.kind === 'step' ? steps.find((each) => each.id === selection.id) : undefined;
  const way = selection?.kind === 'way' ? transitions.find((each) => each.id === selection.id) : undefined;
  const isUnsaved = settings !== null || steps.some((each) => hasChanges(writings[each.id]));
  useUnsaved(isUnsaved);

  const shownSteps = useMemo(
    () =>
      steps.map((each) => ({
        step: each,
        people: people.data?.steps.find(({ stepId }) => stepId === each.id),
        issues: issues.filter(({ stepId }) => stepId === each.id),
        unsaved: hasChanges(writings[each.id]) || (each.type === 'TRIGGER' && settings !== null),
      })),
    [steps, issues, people.data, writings, settings],
  );
  const ways = useMemo(() => shownWays(steps, transitions, people.data), [steps, transitions, people.data]);
  const write = (stepId: string, writing: Writing | undefined) =>
    setWritings(({ [stepId]: _, ...others }) => (writing ? { ...others, [stepId]: writing } : others));
  const close = () => setDialog(null);

  const connect = (fromStepId: string, key: string, toStepId: string) =>
    void editing.edit(async (fresh) => {
      const from = fresh.steps.find((each) => each.id === fromStepId);
      const out = from && waysOut(from).find((each) => each.key === key);
      await answer(
        api.POST('/workflows/{id}/transitions', {
          params: { path: { id } },
          body: { fromStepId, toStepId, branch: out?.branch ?? null, waitOutcome: out?.waitOutcome ?? null },
        }),
      );
    });

  const add = async (type: Addable, position?: { x: number; y: number }) => {
    const config = addable.find((each) => each.type === type)?.config ?? {};
    const names = new Set(steps.map((each) => each.name));
    const made = await editing.edit(async (fresh) => {
      const from = position ? undefined : fresh.steps.find((each) => each.id === step?.id);
      const [out] = from ? openWays(from, fresh.transitions) : [];
      const lowest = Math.max(...fresh.steps.map((each) => each.position.y));
      const nextTo = fresh.transitions.filter(({ fromStepId }) => fromStepId === from?.id).length;
      const at =
        position ??
        (from && out
          ? { x: from.position.x + nextTo * (stepSize.width + 48), y: from.position.y + stepSize.height + 72 }
          : { x: fresh.steps[0]?.position.x ?? 100, y: lowest + stepSize.height + 72 });
      const body = { type, name: freeName(stepNames[type], names), config, position: at, autoConnect: false };
      const added = await answer(api.POST('/workflows/{id}/steps', { params: { path: { id } }, body }));
      if (from && out)
        await answer(
          api.POST('/workflows/{id}/transitions', {
            params: { path: { id } },
            body: { fromStepId: from.id, toStepId: added.id, branch: out.branch, waitOutcome: out.waitOutcome },
          }),
        );
      return added;
    });
    if (made) setSelection({ kind: 'step', id: made.id });
  };

  const insert = async (type: Addable) => {
    if (way === undefined) return;
    const config = addable.find((each) => each.type === type)?.config ?? {};
    const names = new Set(steps.map((each) => each.name));
    const made = await editing.edit(async (fresh) => {
      const target = fresh.steps.find((each) => each.id === way.toStepId);
      const source = fresh.steps.find((each) => each.id === way.fromStepId);
      const position = { x: target?.position.x ?? 0, y: (source?.position.y ?? 0) + stepSize.height + 72 };
      const added = await answer(
        api.POST('/workflows/{id}/transitions/{transitionId}/insert-step', {
          params: { path: { id, transitionId: way.id } },
          body: { type, name: freeName(stepNames[type], names), config, position },
        }),
      );
      // What follows makes room.
      for (const below of fresh.steps)
        if (reachable(fresh.transitions, way.toStepId).has(below.id))
          await answer(
            api.PATCH('/workflows/{id}/steps/{stepId}', {
              params: { path: { id, stepId: below.id } },
              body: { position: { x: below.position.x, y: below.position.y + stepSize.height + 72 } },
            }),
          );
      return added;
    });
    if (made) setSelection({ kind: 'step', id: made.id });
  };

  const move = (moved: { id: string; position: { x: number; y: number } }[]) =>
    void editing.edit(
      async () => {
        for (const { id: stepId, position } of moved)
          await answer(
            api.PATCH('/workflows/{id}/steps/{stepId}', { params: { path: { id, stepId } }, body: { position } }),
          );
      },
      { moves: true },
    );

  const arrange = () => {
    const places = automaticLayout(steps, transitions);
    const moved = steps.flatMap((each) => {
      const position = places.get(each.id);
      const isSame = position?.x === each.position.x && position.y === each.position.y;
      return position && !isSame ? [{ id: each.id, position }] : [];
    });
    if (moved.length > 0) move(moved);
  };

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
              {count(people.data.active)} inside
              {people.data.arriving > 0 ? `, ${count(people.data.arriving)} arriving` : ''}
            </>
          ) : null}
          {workflow.description ? <span dir="auto"> · {workflow.description}</span> : null}
        </>
      }
      actions={
        <>
          <Link className="button" to="/app/$project/workflows/$workflow/executions" params={{ project, workflow: id }}>
            Executions
          </Link>
          <Button onClick={() => setDialog('migrate')}>Move people inside …</Button>
          <Button look="danger" onClick={() => setDialog('workflow')}>
            Delete
          </Button>
          <WorkflowSwitch workflow={workflow} onRefused={setRefused} />
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
        {editing.error ? (
          <div>
            {editing.error instanceof ChangedByOthers ? (
              <Note tone="warn">{editing.error.message}</Note>
            ) : (
              <Problem error={editing.error} />
            )}
            <Button size="small" look="plain" onClick={editing.dismiss}>
              Close
            </Button>
          </div>
        ) : null}
        {general.length > 0 ? (
          <Note tone="warn">
            <ul>
              {general.map(({ field, message }) => (
                <li key={`${field} ${message}`}>
                  <code>{field}</code> {message}
                </li>
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
            disabled={editing.isBusy}
            onClick={() => void add(type)}
          >
            Add {stepNames[type].toLowerCase()}
          </Button>
        ))}
        <Button size="small" disabled={!editing.canUndo} onClick={editing.undo}>
          Undo
        </Button>
        <Button size="small" disabled={!editing.canRedo} onClick={editing.redo}>
          Redo
        </Button>
        <Button size="small" disabled={editing.isBusy} onClick={arrange}>
          Arrange
        </Button>
        <span className="muted" role="status">
          {editing.isBusy ? 'Saving…' : 'All edits of the graph are saved'}
        </span>
      </div>
      <div className="designer">
        <Canvas
          label={`Graph of ${name}`}
          steps={shownSteps}
          ways={ways}
          selection={selection}
          onSelect={setSelection}
          onMove={move}
          onConnect={connect}
          onDelete={() => (step && step.type !== 'TRIGGER' ? setDialog('step') : way ? setDialog('way') : undefined)}
          onDrop={(type, position) => {
            const known = addable.find((each) => each.type === type);
            if (known) void add(known.type, position);
          }}
          onUndo={() => editing.canUndo && editing.undo()}
          onRedo={() => editing.canRedo && editing.redo()}
        />
        <aside className="card" aria-label="What is selected">
          {step ? (
            <div className="stack" key={step.id}>
              {step.type === 'TRIGGER' ? (
                <TriggerForm workflow={workflow} draft={settings} onWrite={setSettings} />
              ) : null}
              <StepPanel
                workflow={workflow}
                step={step}
                writing={writings[step.id]}
                editing={editing}
                onWrite={(writing) => write(step.id, writing)}
                onDelete={() => setDialog('step')}
                onPeople={() => setDialog('people')}
              />
            </div>
          ) : way ? (
            <WayPanel
              workflow={workflow}
              way={way}
              editing={editing}
              onInsert={(type) => void insert(type)}
              onRemove={() => setDialog('way')}
            />
          ) : (
            <div className="stack">
              <h2>Nothing selected</h2>
              <p>
                Select a step to change it, or a way to put a step into it. A step that you add follows the selected
                one. Drag from the lower edge of a step to connect it.
              </p>
              <p className="muted">
                By keyboard: Tab to a step, arrows to its neighbours, Alt and arrows to move it, Enter to open it,
                Delete to delete it, Escape to let go, Ctrl+Z and Ctrl+Y to undo and redo.
              </p>
            </div>
          )}
        </aside>
      </div>
      {dialog === 'step' && step ? (
        <DeleteStep workflow={workflow} step={step} editing={editing} onClose={close} />
      ) : null}
      {dialog === 'people' && step ? <PeopleDialog workflow={id} step={step} onClose={close} /> : null}
      {dialog === 'migrate' ? <MigrateDialog workflow={workflow} onClose={close} /> : null}
      {dialog === 'way' && way ? (
        <ConfirmDialog
          title="Remove the way"
          action="Remove the way"
          onConfirm={async () => {
            await editing.edit(() =>
              answer(
                api.DELETE('/workflows/{id}/transitions/{transitionId}', {
                  params: { path: { id, transitionId: way.id } },
                }),
              ),
            );
            setSelection(null);
          }}
          onClose={close}
        >
          The way from {steps.find((each) => each.id === way.fromStepId)?.name} to{' '}
          {steps.find((each) => each.id === way.toStepId)?.name} is removed; both steps stay. Undo brings it back.
        </ConfirmDialog>
      ) : null}
      {dialog === 'workflow' ? (
        <DeleteWorkflow
          workflow={{ id, name, steps: steps.length }}
          onDeleted={() => navigate({ to: '/app/$project/workflows', params: { project }, ignoreBlocker: true })}
          onClose={close}
        />
      ) : null}
    </Page>
  );
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name} ${n}`;
  return free;
}
