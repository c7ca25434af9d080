import type { ComponentProps, MouseEvent, ReactNode } from 'react';

type Look = 'primary' | 'danger' | 'plain';

const variants = {
  primary: 'border-transparent bg-solid text-on-solid shadow-raised not-aria-disabled:hover:opacity-85',
  secondary: 'border-edge bg-surface text-ink shadow-raised not-aria-disabled:hover:bg-hover',
  danger:
    'border-edge bg-surface text-bad shadow-raised not-aria-disabled:hover:border-bad not-aria-disabled:hover:bg-bad-soft',
  plain: 'border-transparent text-muted not-aria-disabled:hover:bg-hover not-aria-disabled:hover:text-ink',
};

/** Returns the classes of a button, for links that are drawn as one. */
export function buttonClass(variant?: Look, size?: 'small'): string {
  return [
    'inline-flex cursor-pointer items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap no-underline select-none',
    'aria-disabled:cursor-not-allowed aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
    size === 'small' ? 'h-7 px-2 text-sm' : 'h-8 px-3 text-base',
    variants[variant ?? 'secondary'],
  ].join(' ');
}

/**
 * A button; `busy` says that its work is under way and keeps it from being pressed twice. One that cannot be pressed keeps
 * the focus, which the browser would take from it otherwise: who works by keyboard stays where they were.
 */
export function Button({
  variant,
  size,
  busy = false,
  disabled = false,
  onClick,
  children,
  ...rest
}: Omit<ComponentProps<'button'>, 'className'> & {
  variant?: Look;
  size?: 'small';
  busy?: boolean;
  children: ReactNode;
}) {
  const isInert = busy || disabled;
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // Keeps the form of a submit button from being sent as well, also by Enter in one of its fields.
    if (isInert) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      type="button"
      className={buttonClass(variant, size)}
      aria-busy={busy}
      aria-disabled={isInert || undefined}
      onClick={press}
      {...rest}
    >
      {children}
    </button>
  );
}
