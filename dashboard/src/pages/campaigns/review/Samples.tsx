import { useState } from 'react';
import { Button } from '../../../ui/Button.tsx';
import type { DryRun } from './dry-run.ts';

/** A few of the checked messages as they would be sent, to flip through. */
export function Samples({ samples }: { samples: DryRun['samples'] }) {
  const [place, setPlace] = useState(0);
  const sample = samples[Math.min(place, samples.length - 1)];
  if (sample === undefined) return null;
  return (
    <section className="stack" aria-label="Sample messages">
      <div className="row">
        <Button size="small" disabled={place === 0} onClick={() => setPlace(place - 1)}>
          Previous message
        </Button>
        <Button size="small" disabled={place >= samples.length - 1} onClick={() => setPlace(place + 1)}>
          Next message
        </Button>
        <span className="muted" aria-live="polite">
          {place + 1} of {samples.length}
        </span>
      </div>
      <dl className="facts">
        <dt>To</dt>
        <dd className="break">{sample.email}</dd>
        <dt>Subject</dt>
        <dd dir="auto">{sample.subject}</dd>
      </dl>
      <iframe
        className="h-96 w-full rounded-md border border-line bg-white scheme-light"
        title={`Message to ${sample.email}`}
        sandbox=""
        srcDoc={sample.html}
      />
    </section>
  );
}
