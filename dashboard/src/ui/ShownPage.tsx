import type { ReactNode } from 'react';
import { Page } from './Page.tsx';
import { type Asked, Shown, useArrived } from './States.tsx';

/** A page about one thing: while it is fetched, and where it cannot be shown, there is a title and the way back. */
export function ShownPage<Data>({
  query,
  above,
  children,
}: {
  query: Asked<Data>;
  above: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  const hasArrived = useArrived(query.data);
  if (query.data !== undefined && hasArrived) return <>{children(query.data)}</>;
  return (
    <Page title={query.error ? 'This couldn’t be loaded' : 'Loading…'} above={above}>
      <Shown query={query}>{() => null}</Shown>
    </Page>
  );
}
