import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Problem, Shown } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import { ChangeList } from '../designer/ChangeList.tsx';
import type { Editing } from '../designer/editing.ts';
import { type PutGraph, refreshWorkflows, type Workflow } from '../workflow.ts';
import { dryRunQuery, Issues } from './dry-run.tsx';
import { isUnfinished, MovePlan, MoveProgress, type MoveRules, planOf } from './MovePlan.tsx';

/** Publishes the edit of a graph: what changes, whom it meets, what becomes of them, and how far their move is. */
export function PublishDialog({
  workflow,
  editing,
  onClose,
}: {
  workflow: Workflow;
  editing: Editing;
  onClose: () => void;
}) {
  const project = useProjectId();
  const { id, name, enabled } = workflow;
  const { graph } = editing;
  const [rules, setRules] = useState<MoveRules>({});
  const [job, setJob] = useState<string | null>(null);
  const migrate = planOf(rules);
  const preview = useQuery(dryRunQuery(project, id, editing, null, 'publish'));
  // Says at once what cannot work; with nobody to move there is nothing to ask.
  const plan = useQuery({
    ...dryRunQuery(project, id, editing, migrate, migrate),
    enabled: migrate !== null && !isUnfinished(rules),
  });
  const publish = usePublish(workflow, editing, setJob, onClose);
  if (job) return <MoveDialog workflow={id} job={job} onClose={onClose} />;
  const issues = preview.data?.issues ?? [];
  const isBlocked = !preview.data || (enabled && issues.length > 0);
  return (
    <Dialog
      title={`Publish ${name}?`}
      description={
        enabled
          ? 'Contacts who enter from now on follow the new version. The workflow stays enabled, so no event is missed.'
          : 'The workflow is disabled. No contacts enter until you enable it.'
      }
      onClose={onClose}
    >
      <Shown query={preview}>
        {(result) => (
          <div className="stack">
            <section aria-label="Changes">
              <h3>Changes</h3>
              <ChangeList changes={result.changes} graph={graph} ids={result.ids} workflow={workflow} />
            </section>
            {issues.length > 0 ? (
              <Issues
                tone={enabled ? 'bad' : 'warn'}
                title={`Fix these problems before you ${enabled ? 'publish' : 'enable the workflow'}:`}
                issues={issues}
              />
            ) : null}
            <section className="stack" aria-label="Contacts in this workflow">
              <h3>Contacts in this workflow</h3>
              <People people={result.people} steps={graph.steps} rules={rules} onChange={setRules} />
              {plan.error && migrate ? <Problem error={plan.error} /> : null}
            </section>
          </div>
        )}
      </Shown>
      {publish.error ? <Problem error={publish.error} /> : null}
      <footer>
        <Button onClick={onClose}>Keep editing</Button>
        <Button
          variant="primary"
          busy={publish.isPending}
          disabled={isBlocked || isUnfinished(rules) || (migrate !== null && !plan.data)}
          onClick={() => publish.mutate(migrate)}
        >
          {migrate ? 'Publish and migrate' : 'Publish'}
        </Button>
      </footer>
    </Dialog>
  );
}

function usePublish(
  { name, enabled }: Workflow,
  editing: Editing,
  onMigration: (job: string) => void,
  onClose: () => void,
) {
  const project = useProjectId();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (migrate: PutGraph['migrate']) => editing.publish(migrate),
    onSuccess: ({ migration }) => {
      void refreshWorkflows(queries, project);
      if (migration) onMigration(migration.id);
      else {
        toast(enabled ? `${name} published: contacts who enter now follow the new version` : `${name} saved`);
        onClose();
      }
    },
    // Somebody was faster: the page behind says so, and shows both edits together.
    onError: (problem) => problem instanceof ApiError && problem.status === 412 && onClose(),
  });
}

function MoveDialog({ workflow, job, onClose }: { workflow: string; job: string; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  return (
    <Dialog title="Published, migrating contacts" onClose={onClose}>
      <MoveProgress workflow={workflow} job={job} onEnded={() => void refreshWorkflows(queries, project)} />
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  );
}

function People({
  people: { people, rules: standing },
  ...plan
}: { people: { people: number; rules: ComponentProps<typeof MovePlan>['standing'] } } & Omit<
  ComponentProps<typeof MovePlan>,
  'standing'
>) {
  if (people === 0) return <p>No contacts are in an older version.</p>;
  return (
    <>
      <p>{counted(people, 'contact is', 'contacts are')} in an older version. By default they finish there.</p>
      <MovePlan standing={standing} {...plan} />
    </>
  );
}
