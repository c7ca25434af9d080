import { useParams } from '@tanstack/react-router';
import { answer, api } from '../../../../api/client.ts';
import { CheckField, SelectField, TextField } from '../../../../ui/Field.tsx';
import { ownZone } from '../../../../words/times.ts';
import { weekdays } from '../../graph/graph.ts';
import { NextTimes, timesIn } from '../NextTimes.tsx';
import { type Form, set, text } from './form.ts';

/** The time of day, or the date of the contact, that a WAIT_UNTIL waits for, and what that means for a contact. */
export function WaitUntilForm(form: Form) {
  const { config } = form.draft;
  const { workflow: id = '' } = useParams({ strict: false });
  const isDate = typeof config.field === 'string';
  const ofContact = config.zone === undefined || config.zone === 'contact';
  return (
    <>
      <SelectField
        label="Wait until"
        value={isDate ? 'date' : 'time'}
        onChange={(event) => {
          const { zone, fallback } = config;
          const zones = { ...(zone !== undefined && { zone }), ...(fallback !== undefined && { fallback }) };
          form.onChange({
            config:
              event.target.value === 'date'
                ? { field: 'data.', offset: '-3d', at: '09:00', passed: 'continue', ...zones }
                : { time: '09:00', days: [1, 2, 3, 4, 5], ...zones },
          });
        }}
      >
        <option value="time">A time of day</option>
        <option value="date">A date of the contact</option>
      </SelectField>
      {isDate ? <DateFields {...form} /> : <TimeFields {...form} />}
      <SelectField
        label="Time zone"
        value={ofContact ? 'contact' : 'fixed'}
        onChange={(event) =>
          set(form, {
            zone: event.target.value === 'contact' ? 'contact' : text(config.fallback) || ownZone(),
            fallback: event.target.value === 'contact' ? text(config.zone) || ownZone() : undefined,
          })
        }
      >
        <option value="contact">Each contact’s, from data.timezone</option>
        <option value="fixed">The same for all contacts</option>
      </SelectField>
      <TextField
        label={ofContact ? 'Time zone if the contact has none' : 'Time zone for all'}
        hint="For example Europe/Berlin."
        list="time-zones"
        placeholder="UTC"
        value={text(ofContact ? config.fallback : config.zone)}
        problem={form.problemOf(ofContact ? 'fallback' : 'zone')}
        onChange={(event) =>
          set(form, ofContact ? { fallback: event.target.value || undefined } : { zone: event.target.value })
        }
      />
      <datalist id="time-zones">
        {Intl.supportedValuesOf('timeZone').map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <NextTimes linesOf={(contact) => timesOf(id, config, contact)} />
    </>
  );
}

function TimeFields(form: Form) {
  const { config } = form.draft;
  const days = Array.isArray(config.days) ? (config.days as number[]) : weekdays.map((_, n) => n + 1);
  const put = (day: number, isOn: boolean) =>
    set(form, { days: [...days.filter((each) => each !== day), ...(isOn ? [day] : [])].sort((a, b) => a - b) });
  return (
    <>
      <TextField
        label="Time"
        type="time"
        value={text(config.time)}
        problem={form.problemOf('time')}
        onChange={(event) => set(form, { time: event.target.value })}
      />
      <fieldset className="field">
        <legend>Days</legend>
        <div className="row">
          {weekdays.map((name, n) => (
            <CheckField
              key={name}
              label={name}
              checked={days.includes(n + 1)}
              onChange={(event) => put(n + 1, event.target.checked)}
            />
          ))}
        </div>
        {form.problemOf('days') ? <p className="text-bad">{form.problemOf('days')}</p> : null}
      </fieldset>
    </>
  );
}

function DateFields(form: Form) {
  const { config } = form.draft;
  return (
    <>
      <TextField
        label="Field"
        hint="A field with a date, for example data.trialEnds. Contacts without one wait until they have it."
        value={text(config.field)}
        problem={form.problemOf('field')}
        onChange={(event) => set(form, { field: event.target.value })}
      />
      <div className="grid grid-cols-2 items-end gap-2">
        <TextField
          label="Offset"
          hint="-3d is 3 days before, 2w is 2 weeks after."
          value={text(config.offset)}
          problem={form.problemOf('offset')}
          onChange={(event) => set(form, { offset: event.target.value || undefined })}
        />
        <TextField
          label="At"
          type="time"
          value={text(config.at)}
          problem={form.problemOf('at')}
          onChange={(event) => set(form, { at: event.target.value || undefined })}
        />
      </div>
      <SelectField
        label="If it has passed"
        value={text(config.passed) || 'continue'}
        onChange={(event) => set(form, { passed: event.target.value })}
      >
        <option value="continue">Continue at once</option>
        <option value="exit">Leave the workflow</option>
      </SelectField>
    </>
  );
}

/** The instants that the step means for a contact who reaches it now. */
async function timesOf(id: string, config: Form['draft']['config'], contactId: string): Promise<string[]> {
  const params = { path: { id } };
  const { steps } = await answer(api.GET('/workflows/{id}', { params }));
  const trigger = steps.find(({ type }) => type === 'TRIGGER');
  if (trigger === undefined) return [];
  const position = { x: 0, y: 0 };
  const graph = {
    steps: [
      { id: trigger.id, type: 'TRIGGER' as const, name: 'Trigger', position, config: {} },
      { id: 'wait', type: 'WAIT_UNTIL' as const, name: 'Wait', position, config },
    ],
    transitions: [{ fromStepId: trigger.id, toStepId: 'wait' }],
  };
  const run = await answer(api.POST('/workflows/{id}/test-run', { params, body: { contactId, graph } }));
  const { error = null, output = {} } = run.steps[1] ?? {};
  if (error !== null) return [`${error}.`];
  if (output.until === null) return ['The contact has no date in this field.'];
  const instants = Array.isArray(output.next) ? output.next : [output.until];
  return timesIn(output, instants, output.passed === true ? ' (has passed)' : '');
}
