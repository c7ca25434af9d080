import { useStore } from '@xyflow/react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { stepNames } from '../graph/graph.ts';
import { outlineOf } from '../graph/outline.ts';
import type { ShownWay } from './Canvas.tsx';
import { StepIcon } from './StepIcon.tsx';
import type { ShownStep } from './StepNode.tsx';

// Height of the buttons above the list and of the controls below it, in pixels.
const besideList = 112;

/** All steps in the order in which contacts reach them; choosing one shows it on the canvas. Arrow keys go from line to line. */
export function StepOutline({
  steps,
  ways,
  selected,
  onChoose,
  onClose,
}: {
  steps: readonly ShownStep[];
  ways: readonly ShownWay[];
  selected: string | null;
  onChoose: (id: string) => void;
  onClose: () => void;
}) {
  const list = useRef<HTMLOListElement>(null);
  const height = useStore((state) => state.height);
  const lines = outlineOf(
    steps.map(({ step }) => step),
    ways,
  );
  const [reached, setReached] = useState(0);
  const chosen = lines.findIndex(({ step }) => step.id === selected);
  // One tab stop for the whole list.
  const stop = chosen === -1 ? Math.min(reached, lines.length - 1) : chosen;
  useEffect(() => {
    if (chosen !== -1) list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys of the canvas are not for here.
    event.stopPropagation();
    if (event.key === 'Escape') {
      event.preventDefault();
      list.current?.closest('.step-search')?.querySelector<HTMLElement>('[aria-expanded]')?.focus();
      onClose();
      return;
    }
    const all = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = all.indexOf(event.target as HTMLButtonElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    all[next]?.focus();
  };
  return (
    <nav
      aria-label="Outline"
      className="nowheel nodrag mt-1 w-72 max-w-[calc(100vw-4rem)] overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-float"
      style={{ maxHeight: Math.max(120, height - besideList) }}
      onKeyDown={onKeyDown}
    >
      <ol ref={list}>
        {lines.map(({ step, by }, n) => (
          <li key={step.id}>
            <button
              type="button"
              tabIndex={n === stop ? 0 : -1}
              aria-current={step.id === selected || undefined}
              className="flex w-full cursor-pointer items-center gap-2 rounded-md px-2 py-1 text-start hover:bg-hover aria-[current]:bg-accent-soft"
              onFocus={() => setReached(n)}
              onClick={() => onChoose(step.id)}
            >
              <span className="w-6 shrink-0 text-end text-sm text-muted">{n + 1}</span>
              <StepIcon type={step.type} />
              <span className="min-w-0 flex-1 truncate" dir="auto">
                {step.name}
              </span>
              <span className="max-w-24 shrink-0 truncate text-sm text-muted" dir="auto">
                {by || stepNames[step.type]}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}
