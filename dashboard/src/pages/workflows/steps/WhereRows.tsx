import { Button } from '../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../ui/Field.tsx';
import { operatorNames } from '../graph/graph.ts';
import type { EventTest } from './settings.ts';
import { TypedValueField } from './values.tsx';

const mostTests = 5;
const needsValue = (operator: string) => operator !== 'exists' && operator !== 'notExists';

/** The tests of an event's data, one below the other; all have to pass. */
export function WhereRows({
  where,
  problemOf,
  onChange,
}: {
  where: readonly EventTest[];
  problemOf: (field: string) => string | undefined;
  onChange: (where: EventTest[]) => void;
}) {
  const put = (place: number, test: EventTest) => onChange(where.map((each, n) => (n === place ? test : each)));
  return (
    <>
      {where.map((test, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: paths are being typed, only the place stays
        <fieldset className="field" key={n}>
          <legend>Filter {n + 1}</legend>
          <TextField
            label={`Data field of filter ${n + 1}`}
            hint="A key of the event’s data, for example total or order.country."
            value={test.path}
            problem={problemOf(`where.${n}.path`)}
            onChange={({ target }) => put(n, { ...test, path: target.value })}
          />
          <SelectField
            label={`Operator of filter ${n + 1}`}
            value={test.operator}
            problem={problemOf(`where.${n}.operator`)}
            onChange={({ target: { value: operator } }) => {
              const { value = '', ...rest } = test;
              put(n, { ...rest, operator, ...(needsValue(operator) ? { value } : {}) });
            }}
          >
            {Object.entries(operatorNames).map(([operator, name]) => (
              <option key={operator} value={operator}>
                {name}
              </option>
            ))}
          </SelectField>
          {needsValue(test.operator) ? (
            <TypedValueField
              label={`Value of filter ${n + 1}`}
              value={test.value}
              onChange={(value) => put(n, { ...test, value })}
            />
          ) : null}
          <Button
            size="small"
            disabled={where.length === 1}
            onClick={() => onChange(where.filter((_, place) => place !== n))}
          >
            Remove filter {n + 1}
          </Button>
        </fieldset>
      ))}
      <Button
        size="small"
        disabled={where.length >= mostTests}
        onClick={() => onChange([...where, { path: '', operator: 'equals', value: '' }])}
      >
        Add filter
      </Button>
    </>
  );
}
