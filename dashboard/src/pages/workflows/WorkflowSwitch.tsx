import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { toast } from '../../ui/toasts.tsx';
import { refreshWorkflows, type Workflow } from './workflow.ts';

/** Enables or disables an automation. What keeps it from being enabled goes to `onRefused`. */
export function WorkflowSwitch({
  workflow: { id, enabled, name },
  size,
  onTurn = (next) => answer(api.PATCH('/workflows/{id}', { params: { path: { id } }, body: { enabled: next } })),
  onRefused,
}: {
  workflow: Pick<Workflow, 'id' | 'enabled' | 'name'>;
  size?: 'small';
  /** How it is done, where more than the switch itself has to be. */
  onTurn?: (enabled: boolean) => Promise<unknown>;
  onRefused: (error: unknown) => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const turn = useMutation({
    mutationFn: () => onTurn(!enabled),
    onSuccess: () => {
      onRefused(null);
      toast(enabled ? `${name} is disabled. Contacts already in it continue.` : `${name} is enabled`);
    },
    onError: onRefused,
    onSettled: () => refreshWorkflows(queries, project),
  });
  return (
    <Button
      {...(size ? { size } : {})}
      {...(enabled ? {} : { look: 'primary' as const })}
      aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
      busy={turn.isPending}
      onClick={() => turn.mutate()}
    >
      {enabled ? 'Disable' : 'Enable'}
    </Button>
  );
}
