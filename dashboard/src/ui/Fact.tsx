import type { ReactNode } from 'react';

/** A term and what it is, inside a list of class `facts`; nothing where there is nothing to show. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === false || children === '') return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
