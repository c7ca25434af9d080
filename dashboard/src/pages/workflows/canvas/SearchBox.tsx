import { Command } from 'cmdk';
import { useState } from 'react';
import { findSteps } from '../graph/find.ts';
import { stepNames } from '../graph/graph.ts';
import { StepIcon } from './StepIcon.tsx';
import type { ShownStep } from './StepNode.tsx';

/** The field that finds a step, with what it has found. */
export function SearchBox({
  steps,
  onFind,
  onClose,
}: {
  steps: readonly ShownStep[];
  onFind: (id: string) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState('');
  const found = findSteps(
    steps.map(({ step }) => step),
    text,
  );
  return (
    <Command
      label="Find a step"
      shouldFilter={false}
      loop
      className="w-72 max-w-[calc(100vw-4rem)] overflow-hidden rounded-lg border border-line bg-raised shadow-float"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        // The canvas keeps what is selected, and hears the next key.
        event.stopPropagation();
        event.currentTarget.closest<HTMLElement>('.canvas')?.focus();
        onClose();
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) onClose();
      }}
    >
      <Command.Input
        autoFocus
        value={text}
        onValueChange={setText}
        placeholder="Find a step by name or type"
        className="w-full border-b border-line bg-transparent px-3 py-2 text-base outline-none placeholder:text-muted"
      />
      <Command.List className="nowheel max-h-64 overflow-y-auto p-1" label="Steps found">
        <Command.Empty className="px-2 py-3 text-muted">No step matches “{text}”</Command.Empty>
        {found.map(({ id, type, name }) => (
          <Command.Item
            key={id}
            value={id}
            className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 data-[selected=true]:bg-hover"
            onMouseDown={(event) => event.preventDefault()}
            onSelect={() => onFind(id)}
          >
            <StepIcon type={type} />
            <span className="min-w-0 flex-1 truncate" dir="auto">
              {name}
            </span>
            <span className="shrink-0 text-sm text-muted">{stepNames[type]}</span>
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  );
}
