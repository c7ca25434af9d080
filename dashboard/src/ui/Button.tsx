import type { ButtonHTMLAttributes, MouseEvent, ReactNode } from 'react';

type Look = 'primary' | 'danger' | 'plain';

/**
 * A button; `busy` says that its work is under way and keeps it from being pressed twice. One that cannot be pressed keeps
 * the focus, which the browser would take from it otherwise: who works by keyboard stays where they were.
 */
export function Button({
  look,
  size,
  busy = false,
  disabled = false,
  onClick,
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look; size?: 'small'; busy?: boolean; children: ReactNode }) {
  const isInert = busy || disabled;
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // Keeps the form of a submit button from being sent as well, also by Enter in one of its fields.
    if (isInert) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      type="button"
      className="button"
      data-look={look}
      data-size={size}
      aria-busy={busy}
      aria-disabled={isInert || undefined}
      onClick={press}
      {...rest}
    >
      {children}
    </button>
  );
}
