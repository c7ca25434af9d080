import { type KeyboardEvent, type ReactNode, useId } from 'react';

/** Parts of a page of which one is shown. The arrow keys, Home and End go from one tab to another. */
export function Tabs<Key extends string>({
  label,
  value,
  tabs,
  onChange,
}: {
  label: string;
  value: Key;
  tabs: readonly { key: Key; name: string; content: ReactNode }[];
  onChange: (key: Key) => void;
}) {
  const id = useId();
  const go = (event: KeyboardEvent<HTMLElement>) => {
    const at = tabs.findIndex(({ key }) => key === value);
    const places = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    const place = places[event.key as keyof typeof places];
    const next = place === undefined ? undefined : tabs[(place + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    event.currentTarget.querySelector<HTMLElement>(`[data-key="${next.key}"]`)?.focus();
    onChange(next.key);
  };
  return (
    <div>
      <div
        role="tablist"
        aria-label={label}
        className="mb-4 flex flex-wrap gap-x-4 border-b border-line"
        onKeyDown={go}
      >
        {tabs.map(({ key, name }) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`${id}-${key}`}
            data-key={key}
            aria-selected={key === value}
            aria-controls={`${id}-${key}-panel`}
            tabIndex={key === value ? 0 : -1}
            className="-mb-px cursor-pointer border-b-2 border-transparent py-1.5 font-medium text-muted hover:text-ink aria-selected:border-accent-solid aria-selected:text-ink"
            onClick={() => onChange(key)}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ key, content }) => (
        <div
          key={key}
          role="tabpanel"
          id={`${id}-${key}-panel`}
          aria-labelledby={`${id}-${key}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the next place after the tabs, as the pattern of tabs has it
          tabIndex={0}
          hidden={key !== value}
        >
          {key === value ? content : null}
        </div>
      ))}
    </div>
  );
}
