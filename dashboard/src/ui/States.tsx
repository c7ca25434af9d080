import { type ReactNode, useDeferredValue } from 'react';
import { ApiError, Refusal, Unreachable } from '../api/errors.ts';
import { fieldSentence } from '../words/sentences.ts';
import type { Tone } from './Badge.tsx';
import { Button } from './Button.tsx';

const noteTones = {
  good: 'border-transparent bg-good-soft text-good',
  warn: 'border-transparent bg-warn-soft text-warn',
  bad: 'border-transparent bg-bad-soft text-bad',
  info: 'border-transparent bg-info-soft text-info',
  none: 'border-line bg-sunken',
};

/** A sentence that stands out. */
export function Note({ tone, children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div
      data-slot="note"
      data-tone={tone}
      className={`rounded-lg border px-3 py-2 ${noteTones[tone ?? 'none']}`}
      role={tone === 'bad' ? 'alert' : undefined}
    >
      {children}
    </div>
  );
}

/** Shows an error and what to do about it, in words for people. */
export function Problem({ error, again }: { error: unknown; again?: () => void }) {
  const isInvalid = error instanceof ApiError && error.fields.length > 0;
  const known = error instanceof ApiError || error instanceof Unreachable || error instanceof Refusal;
  return (
    <Note tone="bad">
      <p>
        {isInvalid
          ? 'Check these fields:'
          : known
            ? error.message
            : 'Something went wrong on this page. Reload it. If that doesn’t help, contact your administrator.'}
      </p>
      {error instanceof ApiError && error.fields.length > 0 ? (
        <ul>
          {error.fields.map((problem) => (
            <li key={`${problem.field} ${problem.message}`}>{fieldSentence(problem)}</li>
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

const bars = ['w-11/12', 'w-2/3', 'w-5/6', 'w-1/2'];

/** Stands in for what is being fetched; with `what` it is said in a word, for what is no part of the page yet. */
export function Loading({ what }: { what?: string }) {
  return (
    <div data-slot="loading" role="status" className="flex flex-col gap-3 py-2">
      {what ? <span className="text-muted">{what}…</span> : <span className="sr-only">Loading…</span>}
      {what ? null : bars.map((width) => <div key={width} className={`h-4 animate-pulse rounded bg-hover ${width}`} />)}
    </div>
  );
}

/** There is nothing yet: says what it would be, and how to get it. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-lg border border-dashed border-edge px-4 py-10 text-center">
      <h2>{title}</h2>
      {children ? <p className="max-w-[46ch] text-muted">{children}</p> : null}
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

/**
 * Whether data that was waited for may be drawn by now: what arrives is drawn in pieces between which the browser can do other things, for a query tells of it by an update
 * that React would draw in one go. What was there from the first on is drawn at once.
 */
export function useArrived(data: unknown): boolean {
  return useDeferredValue(data !== undefined);
}

/** Shows what a query has: waiting, failed with a way to try again, or its data. */
export function Shown<Data>({ query, children }: { query: Asked<Data>; children: (data: Data) => ReactNode }) {
  const hasArrived = useArrived(query.data);
  if (query.data !== undefined) return hasArrived ? children(query.data) : <Loading />;
  if (query.isPending && !query.error) return <Loading />;
  return <Problem error={query.error} again={() => void query.refetch()} />;
}
