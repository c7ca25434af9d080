import type { ReactNode } from 'react';

/** How a state is meant: colour never says it alone, the words do. */
export type Tone = 'good' | 'warn' | 'bad' | 'info';

/** A short state, such as the status of a campaign. */
export function Badge({ tone, children }: { tone?: Tone | undefined; children: ReactNode }) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}
