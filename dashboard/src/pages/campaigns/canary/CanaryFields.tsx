import { TextField } from '../../../ui/Field.tsx';

/** What the form of a canary holds; texts, as they are typed. */
export interface CanaryForm {
  isOn: boolean;
  recipients: string;
  minutes: string;
  bounceRate: string;
  complaintRate: string;
  unsubscribeRate: string;
}

/** What stands in the form at first: a tenth of the audience, up to 1,000. */
export function usualCanary(recipients: number): CanaryForm {
  return {
    isOn: false,
    recipients: String(Math.max(1, Math.min(1000, Math.floor(recipients / 10)))),
    minutes: '60',
    bounceRate: '3',
    complaintRate: '0.1',
    unsubscribeRate: '2',
  };
}

/** The form as the API takes it. */
export function canaryOf({ recipients, minutes, bounceRate, complaintRate, unsubscribeRate }: CanaryForm) {
  const limit = (text: string) => (text === '' ? null : Number(text));
  return {
    recipients: Number(recipients),
    hold: `${Number(minutes)}m`,
    stopIf: {
      bounceRate: limit(bounceRate),
      complaintRate: limit(complaintRate),
      unsubscribeRate: limit(unsubscribeRate),
    },
  };
}

const limits = [
  ['bounceRate', 'Bounce limit (%)'],
  ['complaintRate', 'Complaint limit (%)'],
  ['unsubscribeRate', 'Unsubscribe limit (%)'],
] as const;

/** Chooses whether a first slice is sent alone, for how long it is held, and what pauses the campaign. */
export function CanaryFields({
  form,
  audience,
  onChange,
}: {
  form: CanaryForm;
  audience: number;
  onChange: (form: CanaryForm) => void;
}) {
  return (
    <fieldset className="field">
      <legend>Canary</legend>
      <label className="row">
        <input
          type="checkbox"
          checked={form.isOn}
          onChange={(event) => onChange({ ...form, isOn: event.target.checked })}
        />{' '}
        Send to a small part first, and pause if reports are bad
      </label>
      {form.isOn ? (
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Canary recipients"
            type="number"
            required
            min={1}
            max={Math.max(1, Math.min(100_000, audience - 1))}
            value={form.recipients}
            onChange={(event) => onChange({ ...form, recipients: event.target.value })}
          />
          <TextField
            label="Wait for reports (minutes)"
            type="number"
            required
            min={1}
            max={4320}
            value={form.minutes}
            onChange={(event) => onChange({ ...form, minutes: event.target.value })}
          />
          {limits.map(([field, label]) => (
            <TextField
              key={field}
              label={label}
              type="number"
              min={0}
              max={100}
              step={0.01}
              value={form[field]}
              onChange={(event) => onChange({ ...form, [field]: event.target.value })}
            />
          ))}
        </div>
      ) : null}
    </fieldset>
  );
}
