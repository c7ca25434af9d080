import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Note, Problem, Shown } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import { ChangeList } from '../designer/ChangeList.tsx';
import type { Editing } from '../designer/editing.ts';
import { type PutGraph, refreshWorkflows, type Workflow } from '../workflow.ts';
import { dryRunQuery, Issues } from './dry-run.tsx';
import { isUnfinished, MovePlan, MoveProgress, type MoveRules, planOf } from './MovePlan.tsx';
import { forAll, RolloutFields, rolloutOf } from './RolloutDialog.tsx';

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
  const [rules, setRules] = useState<MoveRules>({});
  const [job, setJob] = useState<string | null>(null);
  const [choice, setChoice] = useState(forAll);
  const migrate = planOf(rules);
  const rollout = rolloutOf(choice);
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
              <ChangeList changes={result.changes} graph={editing.graph} ids={result.ids} workflow={workflow} />
            </section>
            {issues.length > 0 ? (
              <Issues
                tone={enabled ? 'bad' : 'warn'}
                title={`Fix these problems before you ${enabled ? 'publish' : 'enable the workflow'}:`}
                issues={issues}
              />
            ) : null}
            <NewContacts workflow={workflow} migrates={migrate !== null} choice={choice} onChange={setChoice} />
            <section className="stack" aria-label="Contacts in this workflow">
              <h3>Contacts in this workflow</h3>
              <People
                people={result.people}
                stay={rollout !== undefined}
                steps={editing.graph.steps}
                rules={rules}
                onChange={setRules}
              />
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
          onClick={() => publish.mutate({ migrate, rollout })}
        >
          {migrate ? 'Publish and migrate' : rollout ? `Publish to ${choice.percent}%` : 'Publish'}
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
    mutationFn: ({ migrate, rollout }: Pick<PutGraph, 'migrate' | 'rollout'>) => editing.publish(migrate, rollout),
    onSuccess: ({ migration }, { rollout }) => {
      void refreshWorkflows(queries, project);
      if (migration) onMigration(migration.id);
      else {
        const who = rollout ? `${rollout.percent}% of new contacts` : 'contacts who enter now';
        toast(enabled ? `${name} published: ${who} follow the new version` : `${name} saved`);
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

/** Chooses how many new contacts get the graph first, where it is published to anybody and no contacts are migrated. */
function NewContacts({
  workflow: { enabled, rollout },
  migrates,
  ...fields
}: { workflow: Workflow; migrates: boolean } & ComponentProps<typeof RolloutFields>) {
  if (rollout?.state === 'RUNNING')
    return (
      <Note tone="warn">
        Version {rollout.version} is being rolled out to {rollout.percent}% of new contacts. Publishing ends the
        rollout: all new contacts get the new graph.
      </Note>
    );
  if (!enabled || migrates) return null;
  return (
    <section className="stack" aria-label="New contacts">
      <h3>New contacts</h3>
      <RolloutFields {...fields} />
    </section>
  );
}

function People({
  people: { people, rules: standing },
  stay,
  ...plan
}: { people: { people: number; rules: ComponentProps<typeof MovePlan>['standing'] }; stay: boolean } & Omit<
  ComponentProps<typeof MovePlan>,
  'standing'
>) {
  if (people === 0) return <p>No contacts are in an older version.</p>;
  if (stay) return <p>{counted(people, 'contact stays', 'contacts stay')} on the version they entered.</p>;
  return (
    <>
      <p>{counted(people, 'contact is', 'contacts are')} in an older version. By default they finish there.</p>
      <MovePlan standing={standing} {...plan} />
    </>
  );
}
