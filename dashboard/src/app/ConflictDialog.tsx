import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Note } from '../ui/States.tsx';
import { tableClass } from '../ui/Table.tsx';
import type { SaveConflict } from './draft.ts';
import { isEqual } from './equal.ts';

/**
 * Asks which of two versions stays, with everything in which they differ. `names` gives the fields their names; `describe` says
 * in words what is no text.
 */
export function ConflictDialog<Content extends object>({
  what,
  conflict: { base, mine, theirs },
  names,
  describe,
  onMine,
  onTheirs,
  onClose,
}: {
  what: string;
  conflict: SaveConflict<Content>;
  names: Record<keyof Content, string>;
  describe?: (value: unknown, key: keyof Content) => string;
  onMine: () => void;
  onTheirs: () => void;
  onClose: () => void;
}) {
  const differing = (Object.keys(names) as (keyof Content)[]).filter((key) => !isEqual(mine[key], theirs[key]));
  const both = differing.filter((key) => !isEqual(mine[key], base[key]) && !isEqual(theirs[key], base[key]));
  const shown = (value: unknown, key: keyof Content) =>
    typeof value === 'string' ? value : (describe?.(value, key) ?? String(value));
  return (
    <Dialog
      title={`This ${what} changed while you were editing`}
      description="Someone else saved it first. Your changes are kept: choose which version to use."
      onClose={onClose}
    >
      {both.length > 0 ? (
        <Note tone="warn">Changed by both of you: {both.map((key) => names[key]).join(', ')}.</Note>
      ) : null}
      <section
        className="max-h-[45dvh] overflow-auto rounded-lg border border-line [&_table]:table-fixed [&_td]:break [&_td]:whitespace-pre-wrap [&_th:first-child]:w-32 [&_th]:text-start"
        aria-label="Differences"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
        tabIndex={0}
      >
        <table className={tableClass}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Your version</th>
              <th scope="col">Their version</th>
            </tr>
          </thead>
          <tbody>
            {differing.map((key) => {
              const [yours, others] = differingParts(shown(mine[key], key), shown(theirs[key], key));
              return (
                <tr key={String(key)}>
                  <th scope="row">{names[key]}</th>
                  <td dir="auto">{yours || <em>empty</em>}</td>
                  <td dir="auto">{others || <em>empty</em>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      <p className="muted">
        Keeping your version saves what you changed and keeps their changes to everything else. Using theirs discards
        your changes.
      </p>
      <footer>
        <Button onClick={onClose}>Decide later</Button>
        <Button onClick={onTheirs}>Use their version</Button>
        <Button variant="primary" onClick={onMine}>
          Keep my version
        </Button>
      </footer>
    </Dialog>
  );
}

// Of long texts only the lines that differ.
function differingParts(one: string, other: string): [string, string] {
  const [a, b] = [one.split('\n'), other.split('\n')];
  const shortest = Math.min(a.length, b.length);
  let start = 0;
  while (start < shortest && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shortest - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const part = (lines: string[]) => {
    const text = lines.slice(start, lines.length - end).join('\n');
    return `${start > 0 ? '…\n' : ''}${text}${end > 0 ? '\n…' : ''}`;
  };
  return [part(a), part(b)];
}
