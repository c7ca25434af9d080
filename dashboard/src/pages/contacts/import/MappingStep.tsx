import { inputClass } from '../../../ui/Field.tsx';
import { Table } from '../../../ui/Table.tsx';
import { type CellType, type ColumnChoice, cellTypeNames } from './rules/mapping.ts';

/** Says for each column of a file which field it becomes. */
export function MappingStep({
  choices,
  fields,
  onChange,
}: {
  choices: readonly ColumnChoice[];
  /** Fields that contacts have, as `data.<key>`. */
  fields: readonly string[];
  onChange: (choices: ColumnChoice[]) => void;
}) {
  const rows = choices.map((choice, place) => ({ choice, place }));
  const change = (place: number, next: Partial<ColumnChoice>) =>
    onChange(choices.map((choice, each) => (each === place ? { ...choice, ...next } : choice)));
  return (
    <Table
      label="File columns"
      rows={rows}
      rowKey={({ place }) => String(place)}
      columns={[
        { key: 'name', title: 'Column', cell: ({ choice }) => <span dir="auto">{choice.name || '(no name)'}</span> },
        {
          key: 'samples',
          title: 'Values',
          cell: ({ choice }) => (
            <span className="line-clamp-2 text-muted" dir="auto">
              {choice.samples.join(' · ') || '(empty)'}
            </span>
          ),
        },
        {
          key: 'field',
          title: 'Import as',
          cell: ({ choice, place }) => (
            <FieldChoice choice={choice} fields={fields} onChange={(field) => change(place, { field })} />
          ),
        },
        {
          key: 'type',
          title: 'Type',
          cell: ({ choice, place }) =>
            choice.field.startsWith('data.') ? (
              <select
                className={`${inputClass} w-auto!`}
                aria-label={`Type of ${choice.name}`}
                value={choice.type}
                onChange={({ target }) => change(place, { type: target.value as CellType })}
              >
                {Object.entries(cellTypeNames).map(([type, name]) => (
                  <option key={type} value={type}>
                    {name}
                  </option>
                ))}
              </select>
            ) : (
              <span className="text-muted">–</span>
            ),
        },
      ]}
    />
  );
}

function FieldChoice({
  choice: { name, field },
  fields,
  onChange,
}: {
  choice: ColumnChoice;
  fields: readonly string[];
  onChange: (field: string) => void;
}) {
  const isNew = field.startsWith('data.') && !fields.includes(field);
  return (
    <div className="flex flex-wrap gap-2">
      <select
        className={`${inputClass} w-auto! max-w-60`}
        aria-label={`Import ${name} as`}
        disabled={name.trim() === ''}
        value={isNew ? 'new' : field}
        onChange={({ target }) => onChange(target.value === 'new' ? `data.${name.trim()}` : target.value)}
      >
        <option value="">Skip this column</option>
        <option value="email">Email address</option>
        <option value="subscribed">Subscription</option>
        <option value="new">New field</option>
        {fields.map((known) => (
          <option key={known} value={known}>
            {known.slice('data.'.length)}
          </option>
        ))}
      </select>
      {isNew ? (
        <input
          className={`${inputClass} w-auto! min-w-0 max-w-48`}
          aria-label={`Name of the field for ${name}`}
          dir="auto"
          maxLength={255}
          value={field.slice('data.'.length)}
          onChange={({ target }) => onChange(`data.${target.value}`)}
        />
      ) : null}
    </div>
  );
}
