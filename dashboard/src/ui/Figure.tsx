import type { ReactNode } from 'react';

/** A number with its name, inside a `<dl className="figures">`; `more` says it in another way, such as a rate. */
export function Figure({ name, value, more }: { name: ReactNode; value: string; more?: string }) {
  return (
    <div data-slot="figure">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
      {more ? <dd className="text-sm text-muted tabular-nums">{more}</dd> : null}
    </div>
  );
}
