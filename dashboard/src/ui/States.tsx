import type { ReactNode } from 'react';
import { ApiError, Unreachable } from '../api/errors.ts';
import type { Tone } from './Badge.tsx';
import { Button } from './Button.tsx';

/** A sentence that stands out. */
export function Note({ tone, children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div className="note" data-tone={tone} role={tone === 'bad' ? 'alert' : undefined}>
      {children}
    </div>
  );
}

/** What went wrong and what can be done, in the service's own words. */
export function Problem({ error, again }: { error: unknown; again?: () => void }) {
  const known = error instanceof ApiError || error instanceof Unreachable;
  return (
    <Note tone="bad">
      <p>{known ? error.message : 'This page has failed. Load it again; if that does not help, tell the operator.'}</p>
      {error instanceof ApiError && error.fields.length > 0 ? (
        <ul>
          {error.fields.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      ) : null}
      {error instanceof ApiError && error.status >= 500 && error.requestId ? (
        <p className="muted">
          Request <code>{error.requestId}</code>
        </p>
      ) : null}
      {again ? (
        <Button size="small" onClick={again}>
          Try again
        </Button>
      ) : null}
    </Note>
  );
}

/** Says that something is being fetched. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <div className="loading" role="status">
      {what}…
    </div>
  );
}

/** There is nothing yet: says what it would be, and how to get it. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children ? <p>{children}</p> : null}
      {action}
    </div>
  );
}

/** The part of a query's result that a page needs. */
export interface Asked<Data> {
  data: Data | undefined;
  error: unknown;
  isPending: boolean;
  refetch: () => unknown;
}

/** Shows what a query has: waiting, failed with a way to try again, or its data. */
export function Shown<Data>({ query, children }: { query: Asked<Data>; children: (data: Data) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isPending && !query.error) return <Loading />;
  return <Problem error={query.error} again={() => void query.refetch()} />;
}
