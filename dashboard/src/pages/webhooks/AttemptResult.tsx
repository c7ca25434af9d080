import type { components } from '../../api/schema.d.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count } from '../../words/numbers.ts';

interface AttemptResultProps {
  attempt: components['schemas']['WebhookAttempt'];
  /** The name of the answer's region, which those beside it must not have. */
  name?: string;
}

/** How one call went: the status, how long it took, and the first 4 KB of the answer. */
export function AttemptResult({ attempt, name = 'Response' }: AttemptResultProps) {
  const { at, statusCode, ms, answer, error } = attempt;
  const isTaken = statusCode !== null && statusCode >= 200 && statusCode < 300;
  return (
    <div className="field">
      <div className="row">
        <Badge tone={isTaken ? 'good' : 'bad'}>{statusCode === null ? 'No response' : `Status ${statusCode}`}</Badge>
        <span className="text-sm text-muted">
          <Timestamp at={at} />, {count(ms)} ms
        </span>
      </div>
      {error ? <p className="break text-sm text-bad">{error}</p> : null}
      {answer ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
        <section className="json" tabIndex={0} aria-label={name}>
          <pre>{answer}</pre>
        </section>
      ) : null}
    </div>
  );
}
