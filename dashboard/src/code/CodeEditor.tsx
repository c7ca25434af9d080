import { type CSSProperties, type RefObject, useEffect, useRef, useState } from 'react';
import { nothingYet } from '../standby/early.ts';
import { Standby } from '../standby/Standby.tsx';
import { usePart } from '../standby/use-part.ts';
import { highlighted } from './highlight.ts';
import './code.css';

const load = () => import('./CodeMirror.tsx');
// The editor draws only the lines in view. A picture of a text of more than this would take longer than the editor takes to load.
const mostInPicture = 60_000;

/** Puts a text where the cursor of the editor is. */
export type Insert = (text: string) => void;

/**
 * An editor for HTML with Liquid. Tab leaves it, as it leaves every other field. `variables` are offered while typing; `insert`
 * is set while the editor stands. Until somebody uses the page it is a picture of the text, and what is typed there meanwhile
 * is done once the editor is there.
 */
export function CodeEditor({
  label,
  value,
  variables,
  insert: insertFrom,
  onChange,
}: {
  label: string;
  value: string;
  variables: readonly string[];
  insert?: RefObject<Insert | null>;
  onChange: (value: string) => void;
}) {
  const part = usePart(load, value.length > mostInPicture);
  const [isComposing, setComposing] = useState(false);
  const [early] = useState(nothingYet);
  const own = useRef<Insert | null>(null);
  const insert = insertFrom ?? own;
  const isThere = part !== null && !isComposing;
  useEffect(() => {
    if (!isThere) insert.current = (text) => early.inputs.push({ text });
  }, [isThere, insert, early]);
  if (part && !isComposing)
    return (
      <part.CodeMirror
        label={label}
        value={value}
        variables={variables}
        early={early}
        insert={insert}
        onChange={onChange}
      />
    );
  return (
    <Standby label={label} className="code-picture" early={early} onComposing={setComposing}>
      <Lines text={value.length > mostInPicture ? '' : value} />
    </Standby>
  );
}

function Lines({ text }: { text: string }) {
  const lines = highlighted(text);
  const starts: number[] = [0];
  for (const line of lines)
    starts.push((starts.at(-1) ?? 0) + 1 + line.reduce((sum, part) => sum + part.text.length, 0));
  return (
    <div style={{ '--digits': String(lines.length).length } as CSSProperties}>
      {lines.map((line, index) => (
        <div key={starts[index]} data-pos={starts[index]}>
          {line.length === 0 ? <br data-filler="" /> : null}
          {line.map((part, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never change
            <span key={place} data-kind={part.kind}>
              {part.text}
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}
