import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';

/** Says more about what it surrounds, on hover and on keyboard focus; `text` may have several lines. */
export function Tip({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>
        <span>{children}</span>
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          className="z-30 max-w-xs rounded-md bg-solid px-2 py-1 text-sm whitespace-pre-line text-on-solid shadow-float"
          sideOffset={4}
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
