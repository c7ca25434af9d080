import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { count } from '../../ui/numbers.ts';
import { Note, Problem, Shown } from '../../ui/States.tsx';
import { refreshWorkflows, type Workflow } from './workflow.ts';

type Action = 'finish' | 'moveAtNextStep' | 'moveNow' | 'exit';
interface Rule {
  action: Action;
  toStepId: string;
  reason: string;
}

const actionNames: Record<Action, string> = {
  finish: 'Finish in the graph they began with',
  moveAtNextStep: 'Follow the new graph from their next step',
  moveNow: 'Go to another step now',
  exit: 'Leave the workflow',
};

const stay: Rule = { action: 'finish', toStepId: '', reason: '' };

/** What happens to the people inside after an edit: a rule for each step at which somebody stands, and the move itself. */
export function MigrateDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const { id, steps } = workflow;
  const [rules, setRules] = useState<Record<string, Rule>>({});
  const [job, setJob] = useState<string | null>(null);
  const path = { id };
  // With the rule that is always possible it says who stands where.
  const inside = useQuery({
    queryKey: ['workflows', project, id, 'migrate', 'who'],
    staleTime: 0,
    queryFn: async () => {
      const told = await answer(api.POST('/workflows/{id}/migrate', { params: { path }, body: { dryRun: true } }));
      return 'dryRun' in told ? told : null;
    },
  });
  const plan = Object.entries(rules).map(([stepId, { action, toStepId, reason }]) => ({
    stepId,
    action,
    ...(action === 'moveNow' && toStepId ? { toStepId } : {}),
    ...(action === 'exit' && reason ? { reason } : {}),
  }));
  const ask = useMutation({
    mutationFn: (dryRun: boolean) =>
      answer(api.POST('/workflows/{id}/migrate', { params: { path }, body: { dryRun, plan } })),
    onSuccess: (told) => {
      if (!('dryRun' in told)) setJob(told.id);
    },
  });
  const preview = ask.data && 'dryRun' in ask.data ? ask.data : null;
  const change = (stepId: string, part: Partial<Rule>) => {
    ask.reset();
    setRules((before) => ({ ...before, [stepId]: { ...(before[stepId] ?? stay), ...part } }));
  };
  if (job)
    return (
      <Dialog title="Moving people" onClose={onClose}>
        <Progress workflow={id} job={job} onEnded={() => void refreshWorkflows(queries, project)} />
        <footer>
          <Button onClick={onClose}>Close</Button>
        </footer>
      </Dialog>
    );
  return (
    <Dialog
      title={`People inside ${workflow.name}`}
      description="Everybody inside follows the graph as it was when they entered, until you move them to the graph as it is now."
      onClose={onClose}
    >
      <Shown query={inside}>
        {(told) =>
          told === null || told.people === 0 ? (
            <p>Everybody inside follows the graph as it is now. There is nobody to move.</p>
          ) : (
            <div className="plan">
              {told.rules
                .filter(({ people }) => people > 0)
                .map(({ stepId, stepName, people }) => {
                  const known = steps.some((step) => step.id === stepId);
                  const title = `${count(people)} at ${stepName ?? 'the beginning'}`;
                  if (stepId === null) return <p key="none">{title} finish in the graph they began with.</p>;
                  const rule = rules[stepId] ?? stay;
                  return (
                    <fieldset className="field" key={stepId}>
                      <legend className="break">
                        {title}
                        {known ? '' : ' (the step is gone)'}
                      </legend>
                      <SelectField
                        label={`What they do (${stepName ?? ''})`}
                        value={rule.action}
                        onChange={(event) => change(stepId, { action: event.target.value as Action })}
                      >
                        {(Object.keys(actionNames) as Action[])
                          .filter((action) => known || action !== 'moveAtNextStep')
                          .map((action) => (
                            <option key={action} value={action}>
                              {actionNames[action]}
                            </option>
                          ))}
                      </SelectField>
                      {rule.action === 'moveNow' ? (
                        <SelectField
                          label={`To the step (${stepName ?? ''})`}
                          hint="The step itself gives those who wait there its new times."
                          value={rule.toStepId}
                          onChange={(event) => change(stepId, { toStepId: event.target.value })}
                        >
                          <option value="">Choose one</option>
                          {steps
                            .filter(({ type }) => type !== 'TRIGGER')
                            .map((step) => (
                              <option key={step.id} value={step.id}>
                                {step.name}
                              </option>
                            ))}
                        </SelectField>
                      ) : null}
                      {rule.action === 'exit' ? (
                        <TextField
                          label={`Reason (${stepName ?? ''})`}
                          maxLength={200}
                          value={rule.reason}
                          onChange={(event) => change(stepId, { reason: event.target.value })}
                        />
                      ) : null}
                    </fieldset>
                  );
                })}
              {preview ? (
                <Note tone="info">
                  <p>To version {preview.toVersion}:</p>
                  <ul>
                    {preview.rules
                      .filter(({ people }) => people > 0)
                      .map(({ stepId, stepName, action, toStepId, people }) => (
                        <li key={stepId ?? ''} className="break">
                          {count(people)} at {stepName ?? 'the beginning'}: {actionNames[action].toLowerCase()}
                          {toStepId ? ` (${steps.find((step) => step.id === toStepId)?.name ?? toStepId})` : ''}
                        </li>
                      ))}
                  </ul>
                </Note>
              ) : null}
              {ask.error ? <Problem error={ask.error} /> : null}
            </div>
          )
        }
      </Shown>
      <footer>
        <Button onClick={onClose}>Close</Button>
        {inside.data && inside.data.people > 0 ? (
          preview ? (
            <Button look="primary" busy={ask.isPending} onClick={() => ask.mutate(false)}>
              Move them
            </Button>
          ) : (
            <Button look="primary" busy={ask.isPending} disabled={plan.length === 0} onClick={() => ask.mutate(true)}>
              See what it does
            </Button>
          )
        ) : null}
      </footer>
    </Dialog>
  );
}

function Progress({ workflow, job, onEnded }: { workflow: string; job: string; onEnded: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const params = { path: { id: workflow, migrationId: job } };
  const key = ['workflows', project, workflow, 'migrations', job];
  const migration = useQuery({
    queryKey: key,
    refetchInterval: ({ state }) => (state.data && state.data.completedAt !== null ? false : 700),
    queryFn: () => answer(api.GET('/workflows/{id}/migrations/{migrationId}', { params })),
  });
  const hasEnded = migration.data !== undefined && migration.data.completedAt !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once, when the move has ended
  useEffect(() => {
    if (hasEnded) onEnded();
  }, [hasEnded]);
  const cancel = useMutation({
    mutationFn: () => answer(api.DELETE('/workflows/{id}/migrations/{migrationId}', { params })),
    onSuccess: (told) => queries.setQueryData(key, told),
  });
  return (
    <Shown query={migration}>
      {({ state, progress, expected, completedAt, failedReason, ...counts }) => (
        <div className="stack" aria-live="polite">
          <p>
            <Badge>{state.toLowerCase()}</Badge> of {count(expected)} people
          </p>
          {completedAt === null ? <progress aria-label="Progress" max={100} value={progress} /> : null}
          <ul>
            <li>{count(counts.movedAtNextStep)} follow the new graph from their next step</li>
            <li>{count(counts.movedNow)} went to another step or got new times</li>
            <li>{count(counts.exited)} left</li>
            <li>{count(counts.finished)} finish in the graph they began with</li>
            <li>{count(counts.passedOver)} could not be reached by their rule and stay as they are</li>
          </ul>
          {failedReason ? <Note tone="bad">{failedReason}</Note> : null}
          {cancel.error ? <Problem error={cancel.error} /> : null}
          {completedAt === null ? (
            <div>
              <Button look="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
                Stop the move
              </Button>
              <p className="muted">Whom it has moved stays moved. You may close this; it goes on.</p>
            </div>
          ) : null}
        </div>
      )}
    </Shown>
  );
}
