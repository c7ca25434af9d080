import { useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { CheckField, TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import type { Project } from './project.ts';
import { useSaved } from './saved.ts';

type Hours = Required<NonNullable<Project['quietHours']>>;
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const usual: Hours = { from: '22:00', to: '08:00', days: null, types: ['MARKETING'] };
const types = ['MARKETING', 'HEADLESS'] as const;

/** The hours in which email of workflows and campaigns waits. */
export function QuietHours({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const [isOn, setOn] = useState(project.quietHours !== null);
  const [hours, setHours] = useState<Hours>({ ...usual, ...project.quietHours });
  const save = useSaved(project.id, 'Quiet hours saved');
  const problem = (field: string) => problemOf(save.error, `quietHours.${field}`);
  const days = hours.days ?? weekdays.map((_, n) => n + 1);
  const isDisabled = !isAdmin || !isOn;
  return (
    <Card title="Quiet hours">
      <Form onSubmit={() => save.mutate({ quietHours: isOn ? hours : null })}>
        <FormProblem error={save.error} fields={['quietHours.from', 'quietHours.to']} />
        <p className="muted">
          Emails from workflows and campaigns wait during these hours in each contact’s time zone, and are sent within
          10 minutes after they end. Without <code>data.timezone</code>, the time zone of the project counts.
        </p>
        <CheckField
          label="Hold emails from workflows and campaigns"
          disabled={!isAdmin}
          checked={isOn}
          onChange={(event) => setOn(event.target.checked)}
        />
        <div className="grid grid-cols-2 gap-2">
          {(['from', 'to'] as const).map((end) => (
            <TextField
              key={end}
              label={end === 'from' ? 'From' : 'To'}
              type="time"
              disabled={isDisabled}
              value={hours[end]}
              problem={problem(end)}
              onChange={(event) => setHours({ ...hours, [end]: event.target.value })}
            />
          ))}
        </div>
        <Choices
          legend="Days on which they start"
          names={weekdays}
          disabled={isDisabled}
          isOn={(n) => days.includes(n + 1)}
          onChange={(n, isOn) =>
            setHours({
              ...hours,
              days: [...days.filter((day) => day !== n + 1), ...(isOn ? [n + 1] : [])].sort(
                (one, other) => one - other,
              ),
            })
          }
        />
        <Choices
          legend="Email types"
          names={['Marketing', 'Own footer']}
          disabled={isDisabled}
          isOn={(n) => hours.types.some((type) => type === types[n])}
          onChange={(n, isOn) =>
            setHours({
              ...hours,
              types: types.filter((type, each) => (each === n ? isOn : hours.types.includes(type))),
            })
          }
        />
        <div>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={!isAdmin}>
            Save quiet hours
          </Button>
        </div>
      </Form>
    </Card>
  );
}

/** Check boxes of which any number can be chosen. */
function Choices({
  legend,
  names,
  disabled,
  isOn,
  onChange,
}: {
  legend: string;
  names: readonly string[];
  disabled: boolean;
  isOn: (n: number) => boolean;
  onChange: (n: number, isOn: boolean) => void;
}) {
  return (
    <fieldset className="field">
      <legend>{legend}</legend>
      <div className="row">
        {names.map((name, n) => (
          <CheckField
            key={name}
            label={name}
            disabled={disabled}
            checked={isOn(n)}
            onChange={(event) => onChange(n, event.target.checked)}
          />
        ))}
      </div>
    </fieldset>
  );
}
