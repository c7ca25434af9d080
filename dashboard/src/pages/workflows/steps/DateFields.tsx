import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { CheckField, SelectField, TextField } from '../../../ui/Field.tsx';
import { counted } from '../../../words/numbers.ts';
import { ownZone } from '../../../words/times.ts';
import { peopleQuery } from '../workflow.ts';
import { NextTimes, timesIn } from './NextTimes.tsx';
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
        onChange={(event) => put({ zone: event.target.value === 'contact' ? 'contact' : date.fallback || ownZone() })}
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
        <NextTimes linesOf={(contact) => datesOf(workflowId, contact)} />
      ) : (
        <p className="text-sm text-muted">Save the settings to see the next times for a contact.</p>
      )}
    </>
  );
}

/** The next times at which the saved trigger enrolls a contact. */
async function datesOf(workflowId: string, contactId: string): Promise<string[]> {
  const params = { path: { id: workflowId } };
  const run = await answer(api.POST('/workflows/{id}/test-run', { params, body: { contactId } }));
  const output = run.steps[0]?.output ?? {};
  const instants = Array.isArray(output.next) ? output.next : [];
  return instants.length === 0 ? ['The contact has no date to come in this field.'] : timesIn(output, instants);
}
