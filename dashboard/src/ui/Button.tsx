import type { ButtonHTMLAttributes, ReactNode } from 'react';

type Look = 'primary' | 'danger' | 'plain';

/** A button; `busy` says that its work is under way and keeps it from being pressed twice. */
export function Button({
  look,
  size,
  busy = false,
  disabled,
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look; size?: 'small'; busy?: boolean; children: ReactNode }) {
  return (
    <button
      type="button"
      className="button"
      data-look={look}
      data-size={size}
      aria-busy={busy}
      disabled={busy || disabled}
      {...rest}
    >
      {children}
    </button>
  );
}
