import { SelectField, TextField } from '../../../ui/Field.tsx';

const kinds = { text: 'Text', number: 'Number', boolean: 'Yes or no', nothing: 'Nothing' } as const;
type Kind = keyof typeof kinds;

function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
}

const first: Record<Kind, unknown> = { text: '', number: 0, boolean: true, nothing: null };

/** Whether an operator compares with a value. */
export const needsValue = (operator: unknown) => operator !== 'exists' && operator !== 'notExists';

/** A value with its type: comparisons are exact, so that the text "1" is not the number 1. */
export function TypedValueField({
  label,
  value,
  nothing,
  onChange,
}: {
  label: string;
  value: unknown;
  /** The meaning of an empty value; where it is absent, a value is required. */
  nothing?: string;
  onChange: (value: unknown) => void;
}) {
  const kind = kindOf(value);
  const shown = (Object.keys(kinds) as Kind[]).filter((each) => each !== 'nothing' || nothing || kind === 'nothing');
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] items-end gap-2">
      <SelectField
        label={`${label}: type`}
        value={kind}
        onChange={(event) => onChange(first[event.target.value as Kind])}
      >
        {shown.map((each) => (
          <option key={each} value={each}>
            {each === 'nothing' ? (nothing ?? kinds.nothing) : kinds[each]}
          </option>
        ))}
      </SelectField>
      {kind === 'boolean' ? (
        <SelectField label={label} value={String(value)} onChange={(event) => onChange(event.target.value === 'true')}>
          <option value="true">yes</option>
          <option value="false">no</option>
        </SelectField>
      ) : kind === 'nothing' ? null : (
        <TextField
          label={label}
          {...(kind === 'number' ? { type: 'number', step: 'any' } : {})}
          value={typeof value === 'object' ? JSON.stringify(value) : String(value)}
          onChange={(event) => onChange(kind === 'number' ? Number(event.target.value) : event.target.value)}
        />
      )}
    </div>
  );
}
