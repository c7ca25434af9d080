import { SelectField } from '../ui/Field.tsx';
import { SearchField } from '../ui/SearchField.tsx';
import { daysOf, ranges } from '../words/ranges.ts';
import { useFilters } from './address.ts';

/** The search of a list, in the address as `search`; another search begins at the first page. */
export function SearchFilter({ label = 'Search', placeholder }: { label?: string; placeholder?: string }) {
  const [{ search = '' }, change] = useFilters();
  return (
    <SearchField
      label={label}
      placeholder={placeholder}
      value={search}
      onChange={(text) => change({ search: text, page: undefined })}
    />
  );
}

/** A choice that narrows a list, in the address under its name; nothing chosen is `all`. */
export function ChoiceFilter({
  name,
  label,
  all,
  choices,
}: {
  name: string;
  label: string;
  /** Label of the choice that filters nothing. */
  all: string;
  /** Values with what they are called. */
  choices: readonly (readonly [value: string, text: string])[];
}) {
  const [filters, change] = useFilters();
  return (
    <SelectField
      label={label}
      value={filters[name] ?? ''}
      onChange={(event) => change({ [name]: event.target.value, page: undefined })}
    >
      <option value="">{all}</option>
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </SelectField>
  );
}

/** The last days that a page is about, in the address as `days`. */
export function PeriodFilter() {
  const [{ days }, change] = useFilters();
  return (
    <SelectField label="Period" value={daysOf(days)} onChange={({ target }) => change({ days: target.value })}>
      {Object.entries(ranges).map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}
