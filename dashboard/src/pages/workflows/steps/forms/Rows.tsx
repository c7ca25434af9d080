import { Button } from '../../../../ui/Button.tsx';
import { TextField } from '../../../../ui/Field.tsx';

/** Names with values: headers, fields. A name that is emptied takes its row away when it is left. */
export function Rows({
  rows,
  of,
  onChange,
  value: Value,
}: {
  rows: [string, unknown][];
  of: string;
  onChange: (rows: [string, unknown][]) => void;
  value: (props: { label: string; value: unknown; onChange: (value: unknown) => void }) => React.ReactNode;
}) {
  return (
    <>
      {rows.map(([name, value], n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names are being typed, only the place stays
        <fieldset className="field" key={n}>
          <legend className="sr-only">
            {of} {n + 1}
          </legend>
          <TextField
            label={`${of} ${n + 1}`}
            value={name}
            onChange={(event) => onChange(rows.map((row, at) => (at === n ? [event.target.value, value] : row)))}
          />
          <Value
            label={`Value of ${of.toLowerCase()} ${n + 1}`}
            value={value}
            onChange={(next) => onChange(rows.map((row, at) => (at === n ? [name, next] : row)))}
          />
          <Button size="small" onClick={() => onChange(rows.filter((_, at) => at !== n))}>
            Remove {of.toLowerCase()} {n + 1}
          </Button>
        </fieldset>
      ))}
      <Button size="small" onClick={() => onChange([...rows, [freeName(rows, of), '']])}>
        Add {of.toLowerCase()}
      </Button>
    </>
  );
}

function freeName(rows: [string, unknown][], of: string): string {
  const names = new Set(rows.map(([name]) => name));
  let n = rows.length + 1;
  while (names.has(`${of.toLowerCase()}${n}`)) n += 1;
  return `${of.toLowerCase()}${n}`;
}
