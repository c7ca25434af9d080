import { Button } from '../../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../../ui/Field.tsx';
import { type Branch, branchesOf } from '../../graph/graph.ts';
import { type Form, set, text } from './form.ts';

/** The branches of a SPLIT with their shares, and which of them is the control group. */
export function SplitForm(form: Form) {
  const { config } = form.draft;
  const branches = branchesOf(config);
  const put = (n: number, change: Partial<Branch>) =>
    set(form, { branches: branches.map((branch, at) => (at === n ? { ...branch, ...change } : branch)) });
  // Hundredths are summed, because decimals of a percent have no exact form.
  const total = branches.reduce((sum, { percent }) => sum + Math.round((percent ?? 0) * 100), 0) / 100;
  return (
    <>
      {branches.map(({ name, percent, id }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names are being typed, only the place stays
        <fieldset className="field" key={n}>
          <legend>Branch {n + 1}</legend>
          <div className="grid grid-cols-[minmax(0,1fr)_6rem] items-end gap-2">
            <TextField
              label={`Name of branch ${n + 1}`}
              value={name ?? id}
              onChange={(event) => put(n, { name: event.target.value })}
            />
            <TextField
              label={`Percent of branch ${n + 1}`}
              type="number"
              min="0"
              max="100"
              step="any"
              value={text(percent)}
              problem={form.problemOf(`branches.${n}.percent`)}
              onChange={(event) => put(n, { percent: Number(event.target.value) })}
            />
          </div>
          <Button
            size="small"
            disabled={branches.length === 1}
            onClick={() =>
              set(form, {
                branches: branches.filter((_, at) => at !== n),
                holdout: config.holdout === id ? undefined : config.holdout,
              })
            }
          >
            Remove branch {n + 1}
          </Button>
        </fieldset>
      ))}
      <div className="row">
        <Button size="small" disabled={branches.length >= 10} onClick={() => set(form, { branches: grown(branches) })}>
          Add branch
        </Button>
        <Button size="small" onClick={() => set(form, { branches: evened(branches) })}>
          Split evenly
        </Button>
      </div>
      <p className={total === 100 ? 'muted' : 'text-bad'} role="status">
        {total === 100 ? 'Adds up to 100%.' : `Adds up to ${total}%. Change the shares so that they add up to 100%.`}
      </p>
      <SelectField
        label="Control group"
        hint="The branch that the others are compared with."
        value={text(config.holdout)}
        problem={form.problemOf('holdout')}
        onChange={(event) => set(form, { holdout: event.target.value || undefined })}
      >
        <option value="">None</option>
        {branches.map(({ id, name }) => (
          <option key={id} value={id}>
            {name || id}
          </option>
        ))}
      </SelectField>
      <p className="muted">
        A contact takes the same path whenever it enters, in test runs, and in later versions with the same shares.
      </p>
    </>
  );
}

const letters = 'abcdefghijklmnopqrstuvwxyz';

/** With one more branch, which gets what is missing from 100 percent. */
function grown(branches: readonly Branch[]): Branch[] {
  const taken = new Set(branches.map(({ id }) => id));
  const id = [...letters].find((letter) => !taken.has(letter)) ?? `branch-${branches.length + 1}`;
  const rest = 100 - branches.reduce((sum, { percent }) => sum + (percent ?? 0), 0);
  return [...branches, { id, name: id.toUpperCase(), percent: Math.max(0, Math.round(rest * 100) / 100) }];
}

/** With equal shares; the first ones get the hundredths that are left. */
function evened(branches: readonly Branch[]): Branch[] {
  const share = Math.floor(10_000 / branches.length);
  return branches.map((branch, n) => ({
    ...branch,
    percent: (share + (n < 10_000 - share * branches.length ? 1 : 0)) / 100,
  }));
}
