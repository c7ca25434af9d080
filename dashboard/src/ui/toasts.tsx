import { useSyncExternalStore } from 'react';
import { Signal, serviceReachable } from '../api/signals.ts';
import type { Tone } from './Badge.tsx';
import { Button } from './Button.tsx';
import { Note } from './States.tsx';

/** An action that a toast offers, such as undoing the change or opening what was created. */
export interface ToastAction {
  text: string;
  run: () => void;
}

interface Toast {
  id: number;
  tone: Tone;
  text: string;
  action: ToastAction | undefined;
}

const toasts = new Signal<readonly Toast[]>([]);
let last = 0;

/** Tells in a corner what has happened; goes away by itself unless it is bad news. With something to do it stays longer. */
export function toast(text: string, tone: Tone = 'good', action?: ToastAction): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get(), { id, tone, text, action }]);
  if (tone !== 'bad') setTimeout(() => dismiss(id), action ? 15_000 : 6_000);
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((one) => one.id !== id));
}

/**
 * Where toasts appear; once, around all pages. While the service does not answer the first of them says so: within the page it would move what is
 * below it, and a press that begins before that would be lost.
 */
export function Toasts() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get);
  const isReachable = useSyncExternalStore(serviceReachable.subscribe, serviceReachable.get);
  return (
    <div
      className="fixed right-4 bottom-4 z-40 flex max-w-[min(26rem,calc(100vw-2rem))] flex-col gap-2"
      role="status"
      aria-live="polite"
    >
      {isReachable ? null : (
        <div data-slot="toast" className="rounded-lg bg-raised shadow-float">
          <Note tone="warn">
            Fernpost can’t be reached. Your changes stay on this page, which reconnects by itself.
          </Note>
        </div>
      )}
      {shown.map(({ id, tone, text, action }) => (
        <div key={id} data-slot="toast" className="rounded-lg bg-raised shadow-float">
          <Note tone={tone}>
            <div className="flex items-start justify-between gap-3">
              <span className="break py-1">{text}</span>
              <span className="flex shrink-0 gap-1">
                {action ? (
                  <Button
                    size="small"
                    onClick={() => {
                      dismiss(id);
                      action.run();
                    }}
                  >
                    {action.text}
                  </Button>
                ) : null}
                <Button size="small" variant="plain" onClick={() => dismiss(id)}>
                  Close
                </Button>
              </span>
            </div>
          </Note>
        </div>
      ))}
    </div>
  );
}
