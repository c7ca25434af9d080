import { useSyncExternalStore } from 'react';
import { Signal } from '../api/signals.ts';
import type { Tone } from './Badge.tsx';
import { Button } from './Button.tsx';

interface Toast {
  id: number;
  tone: Tone;
  text: string;
}

const toasts = new Signal<readonly Toast[]>([]);
let last = 0;

/** Tells in a corner what has happened; goes away by itself unless it is bad news. */
export function toast(text: string, tone: Tone = 'good'): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get(), { id, tone, text }]);
  if (tone !== 'bad') setTimeout(() => dismiss(id), 6_000);
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((one) => one.id !== id));
}

/** Where toasts appear; once, in the shell. */
export function Toasts() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, text }) => (
        <div key={id} className="note toast" data-tone={tone}>
          <span className="break">{text}</span>
          <Button size="small" look="plain" onClick={() => dismiss(id)}>
            Close
          </Button>
        </div>
      ))}
    </div>
  );
}
