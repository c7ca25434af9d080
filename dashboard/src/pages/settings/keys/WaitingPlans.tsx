import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { Button } from '../../../ui/Button.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Problem } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { mayAdminister, type Project } from '../project.ts';

type Plan = components['schemas']['WaitingPlan'];

const refreshMs = 5_000;

/** Plans of AI assistants that wait for a member; nothing while there are none. */
export function WaitingPlans({ project }: { project: Project }) {
  const plans = useQuery({
    queryKey: ['mcp-plans', project.id],
    refetchInterval: refreshMs,
    queryFn: () => answer(api.GET('/projects/{id}/mcp-plans', { params: { path: { id: project.id } } })),
  });
  if (plans.error) return <Problem error={plans.error} again={() => void plans.refetch()} />;
  if (!plans.data?.length) return null;
  return (
    <Card title="Plans waiting for approval">
      <ul aria-label="Plans waiting for approval" className="stack">
        {plans.data.map((plan) => (
          <WaitingPlan key={plan.id} project={project} plan={plan} />
        ))}
      </ul>
    </Card>
  );
}

function WaitingPlan({ project, plan }: { project: Project; plan: Plan }) {
  const queries = useQueryClient();
  const decide = useMutation({
    mutationFn: async (isApproved: boolean) => {
      const params = { path: { id: project.id, planId: plan.id } };
      await answer(
        isApproved
          ? api.POST('/projects/{id}/mcp-plans/{planId}/approve', { params })
          : api.POST('/projects/{id}/mcp-plans/{planId}/refuse', { params }),
      );
      return isApproved;
    },
    onSuccess: (isApproved) =>
      toast(
        isApproved
          ? 'Approved. The assistant can carry the plan out until it expires, unless something changes.'
          : 'Plan refused',
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['mcp-plans', project.id] }),
  });
  return (
    <li className="stack rounded-lg border border-line p-3">
      <p className="break font-medium" dir="auto">
        {plan.sentence}
      </p>
      <p className="muted break">
        By an assistant with {plan.key === null ? 'a deleted key' : `the key ${plan.key}`}, expires{' '}
        <Timestamp at={plan.expiresAt} after />.
        {plan.samples.length > 0 ? ` Reaches ${plan.samples.join(', ')}${more(plan)}.` : ''}
      </p>
      {mayAdminister(project) ? (
        <div className="row">
          <Button variant="primary" busy={decide.isPending} onClick={() => decide.mutate(true)}>
            Approve plan
          </Button>
          <Button disabled={decide.isPending} onClick={() => decide.mutate(false)}>
            Refuse plan
          </Button>
        </div>
      ) : (
        <p className="muted">Only admins and the owner can approve it.</p>
      )}
      {decide.error ? <Problem error={decide.error} /> : null}
    </li>
  );
}

function more({ affects, samples }: Plan): string {
  return affects > samples.length ? ` and ${affects - samples.length} more` : '';
}
