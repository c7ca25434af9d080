import { Tabs as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';

/** Parts of a page of which one is shown. */
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
  return (
    <Primitive.Root value={value} onValueChange={(key) => onChange(key as Key)}>
      <Primitive.List aria-label={label} className="mb-4 flex flex-wrap gap-x-4 border-b border-line">
        {tabs.map(({ key, name }) => (
          <Primitive.Trigger
            key={key}
            value={key}
            className="-mb-px cursor-pointer border-b-2 border-transparent py-1.5 font-medium text-muted hover:text-ink aria-selected:border-accent-solid aria-selected:text-ink"
          >
            {name}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      {tabs.map(({ key, content }) => (
        <Primitive.Content key={key} value={key}>
          {content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  );
}
