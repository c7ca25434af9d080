import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Problem, Shown } from '../../../ui/States.tsx';
import { refreshWorkflows, type Workflow } from '../workflow.ts';
import { isUnfinished, MovePlan, MoveProgress, type MoveRules, planOf } from './MovePlan.tsx';

/** Moves people of older versions to the graph that is published: a rule for each step at which somebody stands. */
export function MigrateDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const { id, steps } = workflow;
  const [rules, setRules] = useState<MoveRules>({});
  const [job, setJob] = useState<string | null>(null);
  const path = { id };
  // With the rule that is always possible it says who stands where.
  const inside = useQuery({
    queryKey: ['workflows', project, id, 'migrate', 'who'],
    staleTime: 0,
    queryFn: async () => {
      const result = await answer(api.POST('/workflows/{id}/migrate', { params: { path }, body: { dryRun: true } }));
      return 'dryRun' in result ? result : null;
    },
  });
  const plan = planOf(rules)?.plan ?? [];
  const move = useMutation({
    mutationFn: () => answer(api.POST('/workflows/{id}/migrate', { params: { path }, body: { plan } })),
    onSuccess: (result) => {
      if (!('dryRun' in result)) setJob(result.id);
    },
  });
  if (job)
    return (
      <Dialog title="Migrating contacts" onClose={onClose}>
        <MoveProgress workflow={id} job={job} onEnded={() => void refreshWorkflows(queries, project)} />
        <footer>
          <Button onClick={onClose}>Close</Button>
        </footer>
      </Dialog>
    );
  return (
    <Dialog
      title={`Migrate contacts in ${workflow.name}`}
      description="Contacts follow the version they entered with until you migrate them to the published one."
      onClose={onClose}
    >
      <Shown query={inside}>
        {(result) =>
          result === null || result.people === 0 ? (
            <p>All contacts are in the published version.</p>
          ) : (
            <MovePlan
              standing={result.rules}
              steps={steps}
              rules={rules}
              onChange={(next) => {
                move.reset();
                setRules(next);
              }}
            />
          )
        }
      </Shown>
      {move.error ? <Problem error={move.error} /> : null}
      <footer>
        <Button onClick={onClose}>Close</Button>
        {inside.data && inside.data.people > 0 ? (
          <Button
            variant="primary"
            busy={move.isPending}
            disabled={plan.length === 0 || isUnfinished(rules)}
            onClick={() => move.mutate()}
          >
            Migrate contacts
          </Button>
        ) : null}
      </footer>
    </Dialog>
  );
}
