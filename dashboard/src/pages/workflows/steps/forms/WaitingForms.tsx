import { useState } from 'react';
import { CheckField, SelectField, TextField } from '../../../../ui/Field.tsx';
import { EventDataField, EventField } from '../EventField.tsx';
import type { EventTest } from '../settings.ts';
import { type Form, set, text } from './form.ts';

export function DelayForm(form: Form) {
  const { config } = form.draft;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] items-end gap-2">
      <TextField
        label="Duration"
        type="number"
        min="0"
        step="any"
        value={text(config.amount)}
        problem={form.problemOf('amount')}
        onChange={(event) => set(form, { amount: event.target.value === '' ? undefined : Number(event.target.value) })}
      />
      <SelectField
        label="Unit"
        value={text(config.unit) || 'days'}
        problem={form.problemOf('unit')}
        onChange={(event) => set(form, { unit: event.target.value })}
      >
        <option value="minutes">minutes</option>
        <option value="hours">hours</option>
        <option value="days">days</option>
      </SelectField>
    </div>
  );
}

const unitSeconds = { minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof unitSeconds;

export function WaitForEventForm(form: Form) {
  const { config } = form.draft;
  const seconds = typeof config.timeout === 'number' ? config.timeout : null;
  const fitting = (Object.keys(unitSeconds) as Unit[]).findLast((unit) => (seconds ?? 1) % unitSeconds[unit] === 0);
  const [unit, setUnit] = useState<Unit>(fitting ?? 'minutes');
  return (
    <>
      <EventField
        label="Event"
        value={text(config.eventName)}
        problem={form.problemOf('eventName')}
        onChange={(eventName) => set(form, { eventName })}
      />
      <EventDataField
        where={(config.where as EventTest[] | undefined) ?? null}
        problemOf={form.problemOf}
        onChange={(where) => set(form, { where: where ?? undefined })}
      />
      <SelectField
        label="Events that count"
        value={text(config.countsFrom) || 'step'}
        problem={form.problemOf('countsFrom')}
        onChange={({ target }) => set(form, { countsFrom: target.value === 'entry' ? 'entry' : undefined })}
      >
        <option value="step">Those after the wait starts</option>
        <option value="entry">Those since the contact entered the workflow</option>
      </SelectField>
      <CheckField
        label="Set a timeout"
        hint="When it passes, the “timeout” path is taken."
        checked={seconds !== null}
        onChange={(event) => set(form, { timeout: event.target.checked ? unitSeconds[unit] : undefined })}
      />
      {seconds !== null ? (
        <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] items-end gap-2">
          <TextField
            label="Timeout"
            type="number"
            min="0"
            step="any"
            value={String(seconds / unitSeconds[unit])}
            problem={form.problemOf('timeout')}
            onChange={(event) => set(form, { timeout: Number(event.target.value) * unitSeconds[unit] })}
          />
          <SelectField
            label="Unit"
            value={unit}
            onChange={(event) => {
              const next = event.target.value as Unit;
              set(form, { timeout: (seconds / unitSeconds[unit]) * unitSeconds[next] });
              setUnit(next);
            }}
          >
            <option value="minutes">minutes</option>
            <option value="hours">hours</option>
            <option value="days">days</option>
          </SelectField>
        </div>
      ) : null}
    </>
  );
}
