import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../ui/Field.tsx';
import { Note, Problem, Shown } from '../../../ui/States.tsx';
import { count, counted } from '../../../words/numbers.ts';
import type { DraftStep } from '../graph/draft.ts';
import type { PutGraph } from '../workflow.ts';

type Action = 'finish' | 'moveAtNextStep' | 'moveNow' | 'exit';

/** The choices for the contacts at a step. */
export interface MoveRule {
  action: Action;
  toStepId: string;
  reason: string;
}

/** The rules that were chosen, by the step that people stand at. */
export type MoveRules = Record<string, MoveRule>;

/** How the actions read. */
const actionNames: Record<Action, string> = {
  finish: 'Finish in their version',
  moveAtNextStep: 'Move to the new version at their next step',
  moveNow: 'Move to another step now',
  exit: 'Exit the workflow',
};

const stay: MoveRule = { action: 'finish', toStepId: '', reason: '' };

/** The rules as the service takes them; null where everybody stays. */
export function planOf(rules: MoveRules): NonNullable<PutGraph['migrate']> | null {
  const plan = Object.entries(rules)
    .filter(([, { action }]) => action !== 'finish')
    .map(([stepId, { action, toStepId, reason }]) => ({
      stepId,
      action,
      ...(action === 'moveNow' ? { toStepId } : {}),
      ...(action === 'exit' && reason ? { reason } : {}),
    }));
  return plan.length > 0 ? { plan } : null;
}

/** Whether a rule does not say yet where it leads. */
export function isUnfinished(rules: MoveRules): boolean {
  return Object.values(rules).some(({ action, toStepId }) => action === 'moveNow' && toStepId === '');
}

/** Where people stand, as a dry run tells it. */
export interface Standing {
  stepId: string | null;
  stepName: string | null;
  people: number;
}

/** A rule for the people at each step where somebody stands. `steps` are those of the graph they may go to. */
export function MovePlan({
  standing,
  steps,
  rules,
  onChange,
}: {
  standing: readonly Standing[];
  steps: readonly Pick<DraftStep, 'id' | 'name' | 'type'>[];
  rules: MoveRules;
  onChange: (rules: MoveRules) => void;
}) {
  const isThere = (stepId: string) => steps.some(({ id }) => id === stepId);
  const occupied = standing.filter(({ people }) => people > 0);
  const named = occupied.filter(({ stepId }) => stepId !== null);
  const change = (stepId: string, part: Partial<MoveRule>) =>
    onChange({ ...rules, [stepId]: { ...(rules[stepId] ?? stay), ...part } });
  const all = (action: Action) =>
    onChange(
      Object.fromEntries(
        named.flatMap(({ stepId }) =>
          stepId !== null && (action !== 'moveAtNextStep' || isThere(stepId)) ? [[stepId, { ...stay, action }]] : [],
        ),
      ),
    );
  return (
    <div className="grid gap-3">
      {named.length > 1 ? (
        <span className="row">
          <span>All contacts:</span>
          {(['finish', 'moveAtNextStep', 'exit'] as const).map((action) => (
            <Button key={action} size="small" onClick={() => all(action)}>
              {actionNames[action]}
            </Button>
          ))}
        </span>
      ) : null}
      {occupied.map(({ stepId, stepName, people }) => {
        const title = `${count(people)} at ${stepName ?? 'the start'}`;
        if (stepId === null) return <p key="none">{title} finish in their version.</p>;
        return (
          <RuleFields
            key={stepId}
            title={title}
            stepName={stepName ?? ''}
            isThere={isThere(stepId)}
            steps={steps}
            rule={rules[stepId] ?? stay}
            onChange={(part) => change(stepId, part)}
          />
        );
      })}
    </div>
  );
}

/** Chooses what happens to the contacts at one step. */
function RuleFields({
  title,
  stepName,
  isThere,
  steps,
  rule,
  onChange,
}: {
  title: string;
  stepName: string;
  /** Whether the new version has the step. */
  isThere: boolean;
  steps: readonly Pick<DraftStep, 'id' | 'name' | 'type'>[];
  rule: MoveRule;
  onChange: (part: Partial<MoveRule>) => void;
}) {
  return (
    <fieldset className="field">
      <legend className="break">
        {title}
        {isThere ? '' : ' (removed in the new version)'}
      </legend>
      <SelectField
        label={`Action (${stepName})`}
        value={rule.action}
        onChange={(event) => onChange({ action: event.target.value as Action })}
      >
        {(Object.keys(actionNames) as Action[])
          .filter((action) => isThere || action !== 'moveAtNextStep')
          .map((action) => (
            <option key={action} value={action}>
              {actionNames[action]}
            </option>
          ))}
      </SelectField>
      {rule.action === 'moveNow' ? (
        <SelectField
          label={`Target step (${stepName})`}
          hint="Contacts waiting there get the new times of the step."
          value={rule.toStepId}
          onChange={(event) => onChange({ toStepId: event.target.value })}
        >
          <option value="">Select one</option>
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
          label={`Reason (${stepName})`}
          maxLength={200}
          value={rule.reason}
          onChange={(event) => onChange({ reason: event.target.value })}
        />
      ) : null}
    </fieldset>
  );
}

/** How far a move of people is, polled to its end, with a way to stop it. */
export function MoveProgress({ workflow, job, onEnded }: { workflow: string; job: string; onEnded: () => void }) {
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: called once, when the migration has ended
  useEffect(() => {
    if (hasEnded) onEnded();
  }, [hasEnded]);
  const cancel = useMutation({
    mutationFn: () => answer(api.DELETE('/workflows/{id}/migrations/{migrationId}', { params })),
    onSuccess: (result) => queries.setQueryData(key, result),
  });
  return (
    <Shown query={migration}>
      {({ state, progress, expected, completedAt, failedReason, ...counts }) => (
        <div className="stack" aria-live="polite">
          <p>
            <Badge>{state.toLowerCase()}</Badge> of {counted(expected, 'contact')}
          </p>
          {completedAt === null ? <progress aria-label="Progress" max={100} value={progress} /> : null}
          <ul>
            <li>{count(counts.movedAtNextStep)} move to the new version at their next step</li>
            <li>{count(counts.movedNow)} moved to another step or got new times</li>
            <li>{count(counts.exited)} exited</li>
            <li>{count(counts.finished)} finish in their version</li>
            <li>{count(counts.passedOver)} couldn’t be moved by their rule and stay as they are</li>
          </ul>
          {failedReason ? <Note tone="bad">{failedReason}</Note> : null}
          {cancel.error ? <Problem error={cancel.error} /> : null}
          {completedAt === null ? (
            <div>
              <Button variant="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
                Stop migration
              </Button>
              <p className="muted">
                Contacts already moved stay moved. You can close this dialog; the migration continues.
              </p>
            </div>
          ) : null}
        </div>
      )}
    </Shown>
  );
}
