import { useMemo } from 'react';
import { Field, TextField } from '../../../ui/Field.tsx';
import { bothZones, momentText, ownZone } from '../../../words/times.ts';
import { instantOf, timeZones, wallClock } from '../rules/zones.ts';

/** When a campaign is sent, as typed: at `at` of the clock in `timeZone`, or now. */
export interface When {
  isLater: boolean;
  at: string;
  timeZone: string;
}

/** The form, in a time zone, of a campaign that is scheduled for an instant; null for none, which proposes an hour from now. */
export function whenOf(scheduledFor: string | null, timeZone: string): When {
  const at = scheduledFor === null ? Date.now() + 3_600_000 : Date.parse(scheduledFor);
  return { isLater: scheduledFor !== null, at: wallClock(at, timeZone), timeZone };
}

/** The instant that the form says in milliseconds; null for now, NaN while the time is not whole. */
export function instantIn({ isLater, at, timeZone }: When): number | null {
  return isLater ? instantOf(at, timeZone) : null;
}

/** Chooses now, or a time by the clock of any time zone, which is also said in the reader's. */
export function WhenFields({
  when,
  ofProject,
  onChange,
}: {
  when: When;
  /** The time zone of the project; null for none. */
  ofProject: string | null;
  onChange: (when: When) => void;
}) {
  const at = instantIn(when);
  return (
    <fieldset className="field">
      <legend>When</legend>
      <label className="row">
        <input
          type="radio"
          name="when"
          checked={!when.isLater}
          onChange={() => onChange({ ...when, isLater: false })}
        />{' '}
        Now
      </label>
      <label className="row">
        <input type="radio" name="when" checked={when.isLater} onChange={() => onChange({ ...when, isLater: true })} />{' '}
        At a time
      </label>
      {when.isLater ? (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <TextField
              label="Date and time"
              type="datetime-local"
              required
              value={when.at}
              onChange={(event) => onChange({ ...when, at: event.target.value })}
            />
            <ZoneField
              value={when.timeZone}
              ofProject={ofProject}
              onChange={(timeZone) => onChange({ ...when, timeZone })}
            />
          </div>
          {at === null || Number.isNaN(at) ? null : (
            <p className="text-sm text-muted" title={bothZones(at)}>
              {momentText(at, Date.now())} in {ownZone()}
            </p>
          )}
        </>
      ) : null}
    </fieldset>
  );
}

function ZoneField({
  value,
  ofProject,
  onChange,
}: {
  value: string;
  ofProject: string | null;
  onChange: (zone: string) => void;
}) {
  const zones = useMemo(timeZones, []);
  const isOwn = ofProject === null || ofProject === ownZone();
  return (
    <Field label="Time zone">
      {(props) => (
        <select {...props} value={value} onChange={(event) => onChange(event.target.value)}>
          {isOwn ? null : (
            <optgroup label="The project’s">
              <option>{ofProject}</option>
            </optgroup>
          )}
          <optgroup label={ofProject === ownZone() ? 'The project’s and yours' : 'Yours'}>
            <option>{ownZone()}</option>
          </optgroup>
          <optgroup label="All time zones">
            {zones
              .filter((each) => each !== ownZone() && each !== ofProject)
              .map((each) => (
                <option key={each}>{each}</option>
              ))}
          </optgroup>
        </select>
      )}
    </Field>
  );
}
