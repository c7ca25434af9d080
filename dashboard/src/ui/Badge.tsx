import type { ReactNode } from 'react';

/** How a state is meant: color never says it alone, the words do. */
export type Tone = 'good' | 'warn' | 'bad' | 'info';

const tones = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  none: 'bg-hover text-muted',
};

/** A short state, such as the status of a campaign. */
export function Badge({ tone, children }: { tone?: Tone | undefined; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 justify-self-start rounded-full px-2 text-xs/5 font-medium whitespace-nowrap ${tones[tone ?? 'none']}`}
      data-tone={tone}
    >
      <span aria-hidden className="size-1.5 shrink-0 rounded-full bg-current" />
      {children}
    </span>
  );
}
