import { Button } from '../../../ui/Button.tsx';
import { tableClass } from '../../../ui/Table.tsx';
import { columns, presets, type Scope, scopeAreas } from './scopes.ts';

/** Chooses what a key may do: a row for each area of the API, a column for each way to use it. */
export function ScopeMatrix({
  value,
  problem,
  onChange,
}: {
  value: readonly Scope[];
  problem?: string | undefined;
  onChange: (scopes: Scope[]) => void;
}) {
  const toggle = (scope: Scope) =>
    onChange(value.includes(scope) ? value.filter((each) => each !== scope) : [...value, scope]);
  return (
    <fieldset className="field">
      <legend>Scopes</legend>
      <div className="row mb-1">
        {Object.entries(presets).map(([key, { name, scopes }]) => (
          <Button key={key} size="small" onClick={() => onChange([...scopes])}>
            {name}
          </Button>
        ))}
      </div>
      <div className="rounded-lg border border-line">
        <table className={tableClass}>
          <thead>
            <tr>
              <th scope="col" className="text-start">
                Area
              </th>
              {Object.values(columns).map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {scopeAreas.map((area) => (
              <tr key={area.name}>
                <th scope="row" className="bg-transparent! text-start text-base! whitespace-normal! text-ink!">
                  {area.name}
                </th>
                {(Object.keys(columns) as (keyof typeof columns)[]).map((column) => {
                  const scope = area[column];
                  return (
                    <td key={column} className="text-center align-middle!">
                      {scope ? (
                        <input
                          type="checkbox"
                          className="size-4"
                          aria-label={`${area.name}: ${columns[column]}`}
                          checked={value.includes(scope)}
                          onChange={() => toggle(scope)}
                        />
                      ) : null}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {problem ? (
        <span className="text-sm text-bad" role="alert">
          {problem}
        </span>
      ) : null}
    </fieldset>
  );
}
