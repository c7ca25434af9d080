import { useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import type { Project } from './project.ts';
import { type Change, useSaved } from './saved.ts';

const periods = {
  31: '31 days',
  60: '60 days',
  90: '90 days',
  180: '180 days',
  365: '1 year',
  730: '2 years',
  1825: '5 years',
};
const rows = {
  emailRetentionDays: 'Emails',
  eventRetentionDays: 'Events',
  executionRetentionDays: 'Ended workflow runs',
} as const;
type Field = keyof typeof rows;
const fields = Object.keys(rows) as Field[];
type Days = Record<Field, Project[Field]>;

/** How long a project keeps its emails, events and runs. What a shorter time removes is asked for once more. */
export function Retention({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const [days, setDays] = useState<Days>(project);
  const [asking, setAsking] = useState(false);
  const save = useSaved(project.id, 'Retention saved');
  const { emailRetentionDays, eventRetentionDays, executionRetentionDays } = days;
  const body = { emailRetentionDays, eventRetentionDays, executionRetentionDays } as Pick<Change, Field>;
  const shorter = fields.filter((field) => (days[field] ?? Infinity) < (project[field] ?? Infinity));
  return (
    <Card title="Retention">
      <Form onSubmit={() => (shorter.length === 0 ? save.mutate(body) : setAsking(true))}>
        <FormProblem error={save.error} fields={fields} />
        {fields.map((field) => (
          <SelectField
            key={field}
            label={rows[field]}
            disabled={!isAdmin}
            value={days[field] ?? ''}
            problem={problemOf(save.error, field)}
            onChange={({ target: { value } }) => setDays({ ...days, [field]: value === '' ? null : Number(value) })}
          >
            <option value="">As long as the service keeps them</option>
            {Object.entries(periods).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </SelectField>
        ))}
        <div>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={!isAdmin}>
            Save retention
          </Button>
        </div>
      </Form>
      {asking ? (
        <ConfirmDialog
          title="Remove older data?"
          action="Remove older data"
          onConfirm={async () => {
            await save.mutateAsync(body);
          }}
          onClose={() => setAsking(false)}
        >
          {shorter.map((field) => (
            <p
              key={field}
            >{`${rows[field]} older than ${periods[days[field] as keyof typeof periods]} are removed.`}</p>
          ))}
          <p>
            This starts within the hour and can’t be undone. Counts, suppression and consent stay, and so does what
            segments need of each contact.
          </p>
        </ConfirmDialog>
      ) : null}
    </Card>
  );
}
