import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/Field.tsx';
import { Problem } from '../../../ui/States.tsx';
import { counted, locale } from '../../../words/numbers.ts';
import { zone as ownZone } from '../../../words/times.ts';
import { ContactChoice } from '../executions/ContactChoice.tsx';
import { peopleQuery } from '../workflow.ts';
import type { DateSettings, Settings } from './settings.ts';

interface Part {
  workflowId: string;
  shown: Settings;
  /** Whether the trigger is saved as it is shown. */
  isSaved: boolean;
  problemOf: (field: string) => string | undefined;
  onChange: (part: Partial<Settings>) => void;
}

/** Which date of a contact starts an automation, when, and what that means for a contact. */
export function DateFields({ workflowId, shown, isSaved, problemOf, onChange }: Part) {
  const { date } = shown;
  const put = (part: Partial<DateSettings>) => onChange({ date: { ...date, ...part } });
  const of = (field: keyof DateSettings) => ({
    value: String(date[field]),
    problem: problemOf(`triggerConfig.${field}`),
    onChange: (event: { target: { value: string } }) => put({ [field]: event.target.value }),
  });
  const ofContact = date.zone === 'contact';
  const invalid = useQuery(peopleQuery(useProjectId(), workflowId)).data?.invalidDates ?? 0;
  return (
    <>
      <TextField
        label="Field"
        hint="A field with a date, for example data.birthday. Contacts without one do not enter."
        required
        {...of('field')}
      />
      {invalid > 0 && isSaved ? (
        <p className="text-sm text-bad">
          {counted(invalid, 'contact')} with a value that is not a date: use a date such as 2026-12-24.
        </p>
      ) : null}
      <div className="grid grid-cols-2 items-end gap-2">
        <TextField label="Offset" hint="-3d is 3 days before, 2w is 2 weeks after." {...of('offset')} />
        <TextField label="At" type="time" {...of('at')} />
      </div>
      <CheckField
        label="Repeat every year"
        hint="Allow re-entry as well, so that contacts can enter each year."
        checked={date.every === 'year'}
        onChange={(event) => put({ every: event.target.checked ? 'year' : '' })}
      />
      <SelectField
        label="Time zone"
        value={ofContact ? 'contact' : 'fixed'}
        onChange={(event) => put({ zone: event.target.value === 'contact' ? 'contact' : date.fallback || ownZone })}
      >
        <option value="contact">Each contact’s, from data.timezone</option>
        <option value="fixed">The same for all contacts</option>
      </SelectField>
      <TextField
        label={ofContact ? 'Time zone if the contact has none' : 'Time zone for all'}
        hint="For example Europe/Berlin."
        placeholder="UTC"
        {...of(ofContact ? 'fallback' : 'zone')}
      />
      {isSaved ? (
        <NextDates workflowId={workflowId} />
      ) : (
        <p className="text-sm text-muted">Save the settings to see the next times for a contact.</p>
      )}
    </>
  );
}

/** The next times at which the saved trigger enrolls a contact. */
function NextDates({ workflowId }: { workflowId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [contactId, setContactId] = useState('');
  const next = useMutation({
    async mutationFn(contact: string) {
      const params = { path: { id: workflowId } };
      const run = await answer(api.POST('/workflows/{id}/test-run', { params, body: { contactId: contact } }));
      const output = run.steps[0]?.output ?? {};
      const instants = Array.isArray(output.next) ? output.next : [];
      if (instants.length === 0) return ['The contact has no date to come in this field.'];
      const zone = `${String(output.zone)}${output.invalidZone ? ', because the contact’s own is invalid' : ''}`;
      const format = { dateStyle: 'full', timeStyle: 'short', timeZone: String(output.zone) } as const;
      const clock = new Intl.DateTimeFormat(locale, format);
      return [...instants.map((at) => clock.format(Date.parse(String(at)))), `Time zone: ${zone}.`];
    },
  });
  if (!isOpen)
    return (
      <Button size="small" onClick={() => setOpen(true)}>
        Show next times for a contact
      </Button>
    );
  return (
    <section className="stack" aria-label="Next times">
      <ContactChoice
        value={contactId}
        onChange={(chosen) => {
          setContactId(chosen);
          next.mutate(chosen);
        }}
      />
      {next.error ? <Problem error={next.error} /> : null}
      <ul aria-live="polite">
        {next.data?.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}
