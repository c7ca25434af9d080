import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useOverlays } from './overlays/use-overlays.ts';

// Whoever only passes by sees nothing, and whoever goes from what is explained to the explanation has the time to.
const delays = { show: 300, hide: 120 };

/**
 * Says more about what it surrounds, on hover and on keyboard focus; `text` may have several lines, and is a function where it takes time to
 * make, such as in each row of a list.
 */
export function Tip({ text, children }: { text: string | (() => string); children: ReactNode }) {
  const place = useRef<HTMLSpanElement>(null);
  const [isShown, setShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  const turn = (isOn: boolean, delay: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(isOn), delay);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is inside has the focus; this only listens
    <span
      ref={place}
      aria-describedby={isShown ? id : undefined}
      onPointerEnter={({ pointerType }) => pointerType === 'touch' || turn(true, delays.show)}
      onPointerLeave={() => turn(false, delays.hide)}
      onPointerDown={() => turn(false, 0)}
      onFocus={({ target }) => target.matches(':focus-visible') && turn(true, 0)}
      onBlur={() => turn(false, 0)}
    >
      {children}
      {isShown ? (
        <ShownTip
          id={id}
          place={place}
          text={typeof text === 'string' ? text : text()}
          onEnter={() => turn(true, 0)}
          onLeave={() => turn(false, delays.hide)}
          onClose={() => turn(false, 0)}
        />
      ) : null}
    </span>
  );
}

function ShownTip(props: Parameters<NonNullable<ReturnType<typeof useOverlays>>['OpenTip']>[0]) {
  const part = useOverlays(true);
  return part ? <part.OpenTip {...props} /> : null;
}
