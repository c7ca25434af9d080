import { useId, useState } from 'react';
import { withType } from './edits.ts';
import { needsOf, typesFor, units, type ValueType } from './grammar.ts';
import { partClass } from './part.tsx';
import type { FormFilter } from './tree.ts';
import { useKnownValues, type Vocabulary } from './vocabulary.tsx';

const typeNames: Record<ValueType, string> = {
  text: 'text',
  number: 'number',
  boolean: 'yes or no',
  day: 'day',
  moment: 'day and time (UTC)',
  null: 'nothing (empty)',
  json: 'JSON',
};

interface Props {
  filter: FormFilter;
  isRefused: boolean;
  onChange: (filter: FormFilter) => void;
}

/** The control for a filter's value, with its unit or the choice of its type where there is one. */
export function ValueField({ filter, known, isRefused, onChange }: Props & { known: Vocabulary }) {
  if (needsOf(filter.operator) === 'window') return <WindowField {...{ filter, isRefused, onChange }} />;
  const types = typesFor(filter.kind, filter.operator);
  // A value that the API was given in an unusual form stays as it is until somebody chooses another.
  const offered = types.includes(filter.type) ? types : [...types, filter.type];
  return (
    <>
      {offered.length > 1 ? (
        <select
          className={partClass('flex-[0_1_8rem]')}
          aria-label="Value type"
          value={filter.type}
          onChange={(event) => onChange(withType(filter, event.target.value as ValueType))}
        >
          {offered.map((type) => (
            <option key={type} value={type}>
              {typeNames[type]}
            </option>
          ))}
        </select>
      ) : null}
      <TypedField {...{ filter, isRefused, onChange }} isKnownKey={known.dataTypes.has(filter.name)} />
    </>
  );
}

function WindowField({ filter, isRefused, onChange }: Props) {
  return (
    <>
      <input
        className={partClass('flex-[0_1_6.5rem]')}
        type="number"
        min="0"
        step="any"
        aria-label="Amount"
        aria-invalid={isRefused || undefined}
        value={filter.text}
        onChange={(event) => onChange({ ...filter, type: 'number', text: event.target.value })}
      />
      <select
        className={partClass('flex-[0_1_6.5rem]')}
        aria-label="Unit"
        value={filter.unit}
        onChange={(event) => onChange({ ...filter, unit: event.target.value })}
      >
        {units.map((unit) => (
          <option key={unit} value={unit}>
            {unit}
          </option>
        ))}
      </select>
    </>
  );
}

function TypedField({ filter, isRefused, onChange, isKnownKey }: Props & { isKnownKey: boolean }) {
  const list = useId();
  const [isOpen, setOpen] = useState(false);
  const { kind, type, text } = filter;
  const canSuggest = kind === 'data' && isKnownKey && (type === 'text' || type === 'number');
  const values = useKnownValues(filter.name, isOpen && canSuggest);
  const set = (next: string) => onChange({ ...filter, text: next });
  const common = { className: partClass(), 'aria-label': 'Value', 'aria-invalid': isRefused || undefined } as const;
  switch (type) {
    case 'null':
      return null;
    case 'boolean':
      return (
        <select {...common} value={text} onChange={(event) => set(event.target.value)}>
          <option value="true">{kind === 'subscribed' ? 'subscribed' : 'yes'}</option>
          <option value="false">{kind === 'subscribed' ? 'not subscribed' : 'no'}</option>
        </select>
      );
    case 'day':
      return <input {...common} type="date" value={text} onChange={(event) => set(event.target.value)} />;
    case 'moment':
      return (
        <input
          {...common}
          type="datetime-local"
          step="1"
          value={text.replace(/Z$/, '')}
          onChange={({ target: { value } }) => set(value === '' ? '' : `${value}Z`)}
        />
      );
    case 'json':
      return <textarea {...common} dir="auto" rows={2} value={text} onChange={(event) => set(event.target.value)} />;
    default:
      return (
        <>
          <input
            {...common}
            dir="auto"
            type={type === 'number' ? 'number' : 'text'}
            step="any"
            list={canSuggest ? list : undefined}
            value={text}
            onFocus={() => setOpen(true)}
            onChange={(event) => set(event.target.value)}
          />
          {canSuggest ? (
            <datalist id={list}>
              {values.map((value) => (
                <option key={value} value={value} />
              ))}
            </datalist>
          ) : null}
        </>
      );
  }
}
