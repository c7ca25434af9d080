import { contactName } from '@fernpost/email-document/contact-name';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { NamedAddress } from '../../../ui/NamedAddress.tsx';
import { SearchField } from '../../../ui/SearchField.tsx';
import { Note, Shown } from '../../../ui/States.tsx';
import { eventText } from '../../../words/events.ts';
import { counted } from '../../../words/numbers.ts';
import { type Asked, type Compared, comparisonsOf, horizons, monthDays, type Whom } from '../graph/simulation/asked.ts';
import type { Workflow } from '../workflow.ts';

/** Chooses whom a simulation is for, how long each contact is followed, and what it is compared with. */
export function SimulationForm({
  asked,
  trigger,
  live,
  onChange,
}: {
  asked: Asked;
  /** What starts the workflow: the event, or null for anything else. */
  trigger: { eventName: string | null; type: Workflow['triggerType'] };
  /** The version that new contacts get; null where none was used yet. */
  live: { version: number; share: number } | null;
  onChange: (asked: Asked) => void;
}) {
  const { whom, compare, horizonDays } = asked;
  const isByEvent = trigger.eventName !== null;
  const choices = comparisonsOf(whom, isByEvent, live !== null);
  const choose = (next: Whom) => {
    const possible = comparisonsOf(next, isByEvent, live !== null);
    onChange({ ...asked, whom: next, compare: possible.includes(compare) ? compare : (possible[0] ?? 'none') });
  };
  const names: Record<Compared, string> = {
    live: live && live.share > 0 ? `Live version (${live.version})` : `Version ${live?.version ?? ''}`,
    actual: 'What really happened',
    check: 'Accuracy check: repeat runs',
    none: 'Nothing',
  };
  return (
    <>
      <div className="grid items-end gap-3 sm:grid-cols-3">
        <SelectField label="Contacts" value={whom} onChange={({ target }) => choose(target.value as Whom)}>
          <option value="month">
            {trigger.eventName !== null
              ? `Event ${eventText(trigger.eventName)}, last ${monthDays} days`
              : `Runs of the last ${monthDays} days`}
          </option>
          <option value="segment">In a segment</option>
          <option value="contacts">Chosen contacts</option>
        </SelectField>
        <SelectField
          label="Compare with"
          value={compare}
          onChange={({ target }) => onChange({ ...asked, compare: target.value as Compared })}
        >
          {choices.map((each) => (
            <option key={each} value={each}>
              {names[each]}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Follow each contact for"
          value={horizonDays}
          onChange={({ target }) => onChange({ ...asked, horizonDays: Number(target.value) })}
        >
          {horizons.map((days) => (
            <option key={days} value={days}>
              {days} days
            </option>
          ))}
        </SelectField>
      </div>
      {whom === 'segment' ? (
        <SegmentField
          value={asked.segmentId}
          onChange={(segmentId, segmentName) => onChange({ ...asked, segmentId, segmentName })}
        />
      ) : null}
      {whom === 'contacts' ? (
        <ContactsField chosen={asked.contacts} onChange={(contacts) => onChange({ ...asked, contacts })} />
      ) : null}
      <p className="muted">{explained(asked, trigger)}</p>
    </>
  );
}

const otherTriggers: Record<Workflow['triggerType'], string> = {
  EVENT: 'has no event set',
  MANUAL: 'is started manually or by the API',
  SCHEDULE: 'starts on a schedule',
  DATE: 'starts on a date of the contact',
  CONTACT_CREATED: 'starts when a contact is created',
};

/** Who is simulated, and what the choice leaves out. */
function explained(
  { whom, compare, horizonDays }: Asked,
  { eventName, type }: { eventName: string | null; type: Workflow['triggerType'] },
): string {
  if (compare === 'check')
    return 'Repeats finished runs in the version that each had, and compares every step and time with what was recorded. Your changes are not part of it.';
  const whose = {
    month: `that started in the last ${monthDays} days`,
    segment: 'of contacts in the segment',
    contacts: 'of the chosen contacts',
  };
  const limit =
    whom === 'month' && eventName === null
      ? ` This workflow ${otherTriggers[type]}, so the simulation can’t tell which contacts would have entered: only contacts who did enter are simulated. To simulate others, choose a segment or contacts.`
      : '';
  if (compare === 'actual')
    return `Takes the contacts of finished runs ${whose[whom]} through the draft, from the time they entered.${limit}`;
  if (whom === 'month') return 'Contacts enter when the event happened, by the rules of the workflow.';
  return `All contacts enter at once, ${counted(horizonDays, 'day')} ago, with their data of that time. The trigger is not applied.`;
}

function SegmentField({ value, onChange }: { value: string; onChange: (segmentId: string, name: string) => void }) {
  const project = useProjectId();
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const choose = (id: string) => onChange(id, segments.data?.find((each) => each.id === id)?.name ?? '');
  return (
    <Shown query={segments}>
      {(found) =>
        found.length === 0 ? (
          <Note>This project has no segments.</Note>
        ) : (
          <SelectField label="Segment" value={value} onChange={({ target }) => choose(target.value)}>
            <option value="">Select one</option>
            {found.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        )
      }
    </Shown>
  );
}

/** Finds contacts and collects them. */
function ContactsField({
  chosen,
  onChange,
}: {
  chosen: ReadonlyMap<string, string>;
  onChange: (chosen: ReadonlyMap<string, string>) => void;
}) {
  const project = useProjectId();
  const [search, setSearch] = useState('');
  const contacts = useQuery({
    queryKey: ['contacts', project, 'choice', search],
    placeholderData: (before) => before,
    queryFn: () => answer(api.GET('/contacts', { params: { query: { search, limit: 10 } } })),
  });
  const toggle = (id: string, name: string) =>
    onChange(new Map(chosen.has(id) ? [...chosen].filter(([each]) => each !== id) : [...chosen, [id, name]]));
  return (
    <div className="stack">
      <SearchField label="Search contacts" value={search} onChange={setSearch} />
      <Shown query={contacts}>
        {({ data }) => (
          <fieldset className="field">
            <legend>{counted(chosen.size, 'contact')} chosen</legend>
            {data.length === 0 ? <p>No contacts match.</p> : null}
            <div className="grid gap-x-4 gap-y-1 sm:grid-cols-2">
              {data.map(({ id, email, data: fields }) => (
                <label key={id} className="row break">
                  <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id, email)} />{' '}
                  <span>
                    <NamedAddress name={contactName(fields)} email={email} />
                  </span>
                </label>
              ))}
            </div>
          </fieldset>
        )}
      </Shown>
      {chosen.size > 0 ? (
        <div>
          <Button size="small" variant="plain" onClick={() => onChange(new Map())}>
            Clear contacts
          </Button>
        </div>
      ) : null}
    </div>
  );
}
