import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { TextField } from '../../../ui/Field.tsx';
import { Note } from '../../../ui/States.tsx';
import { counted } from '../../../words/numbers.ts';

/** Values of the canary form, as typed. */
export interface CanaryForm {
  isOn: boolean;
  /** Null until somebody has typed, for a part that is proposed. */
  recipients: string | null;
  minutes: string;
  bounceRate: string;
  complaintRate: string;
  unsubscribeRate: string;
}

/** Initial values of the form. */
export const newCanary: CanaryForm = {
  isOn: false,
  recipients: null,
  minutes: '60',
  bounceRate: '3',
  complaintRate: '0.1',
  unsubscribeRate: '2',
};

// A tenth of the audience, up to 1,000.
function proposedPart(audience: number): string {
  return String(Math.max(1, Math.min(1000, Math.floor(audience / 10))));
}

/** The form as the API takes it. */
export function canaryOf(
  { recipients, minutes, bounceRate, complaintRate, unsubscribeRate }: CanaryForm,
  audience: number,
) {
  const limit = (text: string) => (text === '' ? null : Number(text));
  return {
    recipients: Number(recipients ?? proposedPart(audience)),
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
      <legend>Send to a few first</legend>
      <label className="row">
        <input
          type="checkbox"
          checked={form.isOn}
          onChange={(event) => onChange({ ...form, isOn: event.target.checked })}
        />{' '}
        Send to a few contacts first, and pause if reports are bad
      </label>
      {form.isOn ? <NewProjectLimits /> : null}
      {form.isOn ? (
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="First recipients"
            type="number"
            required
            min={1}
            max={Math.max(1, Math.min(100_000, audience - 1))}
            value={form.recipients ?? proposedPart(audience)}
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

// A new project is disabled at a number of bounces, which a canary may reach while its own limits, which are rates, still hold.
function NewProjectLimits() {
  const project = useProjectId();
  const { data } = useQuery({
    queryKey: ['deliverability', project, 1],
    queryFn: () => answer(api.GET('/deliverability', { params: { query: { days: 1 } } })),
  });
  const most = (of: 'bounces' | 'complaints') =>
    data?.limits.find(
      ({ applies, ...limit }) =>
        applies && limit.of === of && limit.window === 'twentyFourHour' && limit.unit === 'emails',
    )?.critical.count;
  const [bounces, complaints] = [most('bounces'), most('complaints')];
  if (!data?.pauses || bounces === undefined || complaints === undefined) return null;
  return (
    <Note tone="warn">
      This project is new: {counted(bounces, 'bounce')} or {counted(complaints, 'complaint')} within 24 hours disable
      it, even if the limits below hold. Then nothing more is sent. Choose fewer first recipients to stop sooner.
    </Note>
  );
}
