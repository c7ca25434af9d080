import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useProjectId } from '../../../app/address.ts';
import { Button, buttonClass } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Note, Shown } from '../../../ui/States.tsx';
import { counted } from '../../../words/numbers.ts';
import { ChangeList } from '../designer/ChangeList.tsx';
import { blockedBy, type Editing } from '../designer/editing.ts';
import { readKept } from '../designer/kept.ts';
import { hasAction } from '../graph/graph.ts';
import type { Workflow } from '../workflow.ts';
import { dryRunQuery, Issues, type PublishPreview } from './dry-run.tsx';
import type { Enabling } from './WorkflowSwitch.tsx';

/** Asks what is to be enabled: the published version, or the edit as well, which it names; and warns of one that does nothing. */
export function EnableDialog({
  workflow,
  editing,
  onEnable,
  onClose,
}: {
  workflow: Workflow;
  /** Absent where the automation is enabled without being edited, such as in a list. */
  editing: Editing | undefined;
  onEnable: (what: Enabling) => Promise<unknown>;
  onClose: () => void;
}) {
  const { name } = workflow;
  const changes = editing?.changes ?? 0;
  const [busy, setBusy] = useState<Enabling | null>(null);
  const project = useProjectId();
  const preview = useQuery({
    ...dryRunQuery(project, workflow.id, editing, null, 'enable'),
    enabled: changes > 0,
  });
  const enable = async (what: Enabling) => {
    setBusy(what);
    // A refusal is shown by the page behind.
    await onEnable(what).catch(() => null);
    onClose();
  };
  const acts = hasAction(workflow.steps, workflow.transitions);
  const issues = preview.data?.issues ?? [];
  const blocked = editing ? blockedBy(editing) : null;
  return (
    <Dialog
      title={titleOf(name, changes, acts)}
      description="Once enabled, contacts enter the workflow whenever it is triggered."
      onClose={onClose}
    >
      {changes > 0 && editing ? <Unpublished workflow={workflow} editing={editing} preview={preview} /> : null}
      <Warnings workflow={workflow} editing={editing} />
      {blocked || issues.length > 0 ? (
        <Issues tone="bad" title={blocked ?? 'Fix these before you publish and enable:'} issues={issues} />
      ) : null}
      <footer>
        <Button onClick={onClose}>{editing ? 'Keep editing' : 'Cancel'}</Button>
        <Button
          {...(changes > 0 ? {} : { variant: 'primary' as const })}
          busy={busy === 'published'}
          disabled={busy !== null}
          onClick={() => void enable('published')}
        >
          {acts || changes > 0 ? 'Enable published version' : 'Enable anyway'}
        </Button>
        {changes > 0 ? (
          <Button
            variant="primary"
            busy={busy === 'edit'}
            disabled={busy !== null || blocked !== null || !preview.data || issues.length > 0}
            onClick={() => void enable('edit')}
          >
            Publish and enable
          </Button>
        ) : null}
      </footer>
    </Dialog>
  );
}

function titleOf(name: string, changes: number, acts: boolean): string {
  if (changes > 0) return `Publish ${counted(changes, 'change')} and enable ${name}?`;
  return acts ? `Enable ${name} without your unsaved changes?` : `Enable ${name}, which does nothing?`;
}

function Unpublished({
  workflow,
  editing,
  preview,
}: {
  workflow: Workflow;
  editing: Editing;
  preview: UseQueryResult<PublishPreview>;
}) {
  return (
    <section className="stack" aria-label="Unpublished changes">
      <h3>Unpublished changes</h3>
      <Shown query={preview}>
        {(result) => (
          <>
            <ChangeList changes={result.changes} graph={editing.graph} ids={result.ids} workflow={workflow} />
            {result.people.people > 0 ? (
              <p>{counted(result.people.people, 'contact stays', 'contacts stay')} on the version they entered.</p>
            ) : null}
          </>
        )}
      </Shown>
    </section>
  );
}

function Warnings({ workflow, editing }: { workflow: Workflow; editing: Editing | undefined }) {
  const project = useProjectId();
  const publishedActs = hasAction(workflow.steps, workflow.transitions);
  const editActs = !editing || hasAction(editing.graph.steps, editing.graph.transitions);
  const hasChanges = (editing?.changes ?? 0) > 0;
  const nothing = 'no step that acts: nothing is sent, called or updated';
  const which = !hasChanges
    ? publishedActs
      ? null
      : `This workflow has ${nothing}.`
    : !publishedActs && !editActs
      ? `Both the published version and your changes have ${nothing}.`
      : !publishedActs
        ? `The published version has ${nothing}.`
        : !editActs
          ? `With your changes the workflow has ${nothing}.`
          : null;
  const isKept = !editing && readKept(project, workflow.id) !== null;
  return (
    <>
      {which ? (
        <Note tone="warn">
          <p>{which} Add a step that sends an email, calls a webhook or updates the contact.</p>
        </Note>
      ) : null}
      {editing?.settings ? (
        <Note tone="warn">
          <p>
            Your changes to the trigger and settings are not saved and will not apply. To include them, save them first.
          </p>
        </Note>
      ) : null}
      {isKept ? (
        <Note tone="warn">
          <p>This browser has unpublished changes to this workflow. They are not part of what is enabled.</p>
          <Link
            className={buttonClass(undefined, 'small')}
            to="/app/$project/workflows/$workflow"
            params={{ project, workflow: workflow.id }}
          >
            Review changes
          </Link>
        </Note>
      ) : null}
    </>
  );
}
