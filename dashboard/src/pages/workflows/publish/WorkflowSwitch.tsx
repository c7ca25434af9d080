import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePart } from '../../../standby/use-part.ts';
import { Button } from '../../../ui/Button.tsx';
import { toast } from '../../../ui/toasts.tsx';
import type { Editing } from '../designer/editing.ts';
import { readKept } from '../designer/kept.ts';
import { hasAction } from '../graph/graph.ts';
import { refreshWorkflows, type Workflow, workflowQuery } from '../workflow.ts';

/** The automation to enable. */
export type Enabling = 'published' | 'edit';

const loadDialog = () => import('./EnableDialog.tsx');

/**
 * Enables or disables an automation, and asks first where there is something to decide. What keeps it from being enabled goes
 * to `onRefused`.
 */
export function WorkflowSwitch({
  workflow: { id, enabled, name },
  editing,
  size,
  onRefused,
}: {
  workflow: Pick<Workflow, 'id' | 'enabled' | 'name'>;
  /** Where the automation is edited: changes are guarded by its revision. */
  editing?: Editing;
  size?: 'small';
  onRefused: (error: unknown) => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Workflow | null>(null);
  const dialog = usePart(loadDialog, asked !== null);
  const patch = (body: { enabled: boolean }) =>
    editing ? editing.patch(body) : answer(api.PATCH('/workflows/{id}', { params: { path: { id } }, body }));
  const turn = useMutation({
    mutationFn: async (what: Enabling) => {
      if (what === 'edit') await editing?.publish(null);
      await patch({ enabled: !enabled });
    },
    onSuccess: () => {
      onRefused(null);
      toast(enabled ? `${name} is disabled. Contacts already in it continue.` : `${name} is enabled`);
    },
    onError: onRefused,
    onSettled: () => refreshWorkflows(queries, project),
  });
  const press = useMutation({
    mutationFn: () => queries.fetchQuery(workflowQuery(project, id)),
    onSuccess: (workflow) => {
      if (needsQuestion(project, workflow, editing)) setAsked(workflow);
      else turn.mutate('published');
    },
    onError: onRefused,
  });
  return (
    <>
      <Button
        {...(size ? { size } : {})}
        {...(enabled ? {} : { variant: 'primary' as const })}
        aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
        busy={turn.isPending || press.isPending}
        onClick={() => (enabled ? turn.mutate('published') : press.mutate())}
      >
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      {asked && dialog ? (
        <dialog.EnableDialog
          workflow={asked}
          editing={editing}
          onEnable={(what) => turn.mutateAsync(what)}
          onClose={() => setAsked(null)}
        />
      ) : null}
    </>
  );
}

/** Whether enabling an automation needs a question first: there are unpublished changes, or it would do nothing. */
function needsQuestion(project: string, workflow: Workflow, editing?: Editing): boolean {
  const hasChanges = editing
    ? editing.changes > 0 || editing.settings !== null
    : readKept(project, workflow.id) !== null;
  return hasChanges || !hasAction(workflow.steps, workflow.transitions);
}
