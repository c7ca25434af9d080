// biome-ignore-all lint/suspicious/noThenProperty: the field of the API.
import { Button } from '../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../ui/Field.tsx';
import { GoalResult } from '../GoalResult.tsx';
import { CauseFields, ExitsField } from './ExitsField.tsx';
import type { Goal, Settings } from './settings.ts';

type Ends = Pick<Settings, 'exits' | 'goal'>;

/** What ends executions early, and what the workflow is for, with how many have reached it. */
export function EndsField({
  workflow,
  ends,
  problemOf,
  onChange,
}: {
  workflow: string;
  ends: Ends;
  problemOf: (field: string) => string | undefined;
  onChange: (part: Partial<Ends>) => void;
}) {
  const { goal } = ends;
  return (
    <section className="stack" aria-label="Ends when">
      <ExitsField exits={ends.exits} problemOf={problemOf} onChange={(exits) => onChange({ exits })} />
      <h3>Goal</h3>
      <p className="text-sm text-muted">
        What contacts should do after they enter. Each entry counts once, also after the run has completed.
      </p>
      <GoalResult workflow={workflow} />
      {goal === null ? (
        <Button size="small" onClick={() => onChange({ goal: { on: { event: '' }, withinDays: 14, then: 'count' } })}>
          Add goal
        </Button>
      ) : (
        <GoalField
          goal={goal}
          problemOf={(field) => problemOf(`goal.${field}`)}
          onChange={(changed) => onChange({ goal: changed })}
        />
      )}
    </section>
  );
}

function GoalField({
  goal,
  problemOf,
  onChange,
}: {
  goal: Goal;
  problemOf: (field: string) => string | undefined;
  onChange: (goal: Goal | null) => void;
}) {
  return (
    <fieldset className="field">
      <legend>Goal</legend>
      <CauseFields on={goal.on} title="goal" problemOf={problemOf} onChange={(on) => onChange({ ...goal, on })} />
      <TextField
        label="Within days"
        hint="Counted from when the contact entered."
        required
        inputMode="numeric"
        pattern="[1-9][0-9]{0,2}"
        value={goal.withinDays === 0 ? '' : String(goal.withinDays)}
        problem={problemOf('withinDays')}
        onChange={({ target }) => onChange({ ...goal, withinDays: Number(target.value.replace(/\D/g, '')) })}
      />
      <SelectField
        label="When reached"
        value={goal.then}
        problem={problemOf('then')}
        onChange={({ target }) => onChange({ ...goal, then: target.value as Goal['then'] })}
      >
        <option value="count">Count only</option>
        <option value="exit">Count and exit the workflow</option>
      </SelectField>
      <Button size="small" onClick={() => onChange(null)}>
        Remove goal
      </Button>
    </fieldset>
  );
}
