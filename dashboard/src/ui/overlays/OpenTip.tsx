import * as Popper from '@radix-ui/react-popper';
import { type RefObject, useEffect } from 'react';
import { createPortal } from 'react-dom';

/** Renders an open `Tip`: its text beside its anchor, until Escape or scrolling closes it. */
export function OpenTip({
  id,
  place,
  text,
  onEnter,
  onLeave,
  onClose,
}: {
  id: string;
  place: RefObject<HTMLElement | null>;
  text: string;
  /** Called when the pointer is on the text, which then stays. */
  onEnter: () => void;
  onLeave: () => void;
  onClose: () => void;
}) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && onClose();
    document.addEventListener('keydown', onKey, true);
    window.addEventListener('scroll', onClose, true);
    return () => {
      document.removeEventListener('keydown', onKey, true);
      window.removeEventListener('scroll', onClose, true);
    };
  });
  return createPortal(
    <Popper.Root>
      <Popper.Anchor virtualRef={place as RefObject<HTMLElement>} />
      <Popper.Content
        id={id}
        role="tooltip"
        side="top"
        sideOffset={4}
        className="z-30 max-w-xs rounded-md bg-solid px-2 py-1 text-sm whitespace-pre-line text-on-solid shadow-float"
        onPointerEnter={onEnter}
        onPointerLeave={onLeave}
      >
        {text}
      </Popper.Content>
    </Popper.Root>,
    document.body,
  );
}
