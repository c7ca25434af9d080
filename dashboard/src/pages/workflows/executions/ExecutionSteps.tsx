import { Link } from '@tanstack/react-router';
import { useProjectId } from '../../../app/address.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, buttonClass } from '../../../ui/Button.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Note } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { stepText } from '../../../words/events.ts';
import { stepNames } from '../graph/graph.ts';
import type { StepExecution } from '../workflow.ts';
import { type Outcome, outcomeOf } from './trace.ts';

/** Lists the events of each step, or of the selected one. */
export function ExecutionSteps({
  runs,
  outcomes,
  selected,
  onShowAll,
}: {
  runs: readonly StepExecution[];
  outcomes: ReadonlyMap<string, Outcome>;
  /** The step that is selected. */
  selected: { id: string; name: string } | null;
  onShowAll: () => void;
}) {
  const shown = selected ? runs.filter(({ stepId }) => stepId === selected.id) : runs;
  return (
    <Card title={selected ? `At ${selected.name}` : 'Steps'}>
      {selected ? (
        <p className="mb-3">
          <Button size="small" onClick={onShowAll}>
            Show all steps
          </Button>
        </p>
      ) : null}
      {shown.length === 0 ? <p>This run hasn’t reached this step.</p> : null}
      <ol className="stack">
        {shown.map((each) => (
          <li key={each.id}>
            <StepRun run={each} outcome={outcomes.get(each.id) ?? outcomeOf(each)} number={runs.indexOf(each) + 1} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function StepRun({ run, outcome, number }: { run: StepExecution; outcome: Outcome; number: number }) {
  const project = useProjectId();
  return (
    <article>
      <h3 className="break">
        {number}. {stepText(run.step.name)} <Badge tone={outcome.tone}>{outcome.name}</Badge>
      </h3>
      <p className="muted">
        {stepNames[run.step.type]}, started <Timestamp at={run.startedAt} />
        {run.completedAt ? `, took ${took(run.durationMs)}` : ''}
        {run.scheduledFor && !run.completedAt ? (
          <>
            , continues <Timestamp at={run.scheduledFor} />
          </>
        ) : null}
        {run.executeAfter && !run.completedAt ? (
          <>
            , until <Timestamp at={run.executeAfter} after /> at most
          </>
        ) : null}
      </p>
      {typeof run.output?.emailId === 'string' && run.output.skipped === undefined ? (
        <p>
          <Link
            className={buttonClass('plain', 'small')}
            to="/app/$project/emails/$email"
            params={{ project, email: run.output.emailId }}
          >
            View email
          </Link>
        </p>
      ) : null}
      {outcome.reason ? (
        <Note {...(outcome.tone ? { tone: outcome.tone } : {})}>
          <p className="break">{outcome.reason}</p>
        </Note>
      ) : null}
      {run.error ? <div className="break rounded-lg bg-bad-soft px-3 py-2 text-bad">{run.error}</div> : null}
      {run.input ? <Json label={`Input of ${stepText(run.step.name)}`} title="Input" value={run.input} /> : null}
      {run.output ? <Json label={`Output of ${stepText(run.step.name)}`} title="Output" value={run.output} /> : null}
    </article>
  );
}

/** A JSON value, behind its title where it has one. */
export function Json({ label, title, value }: { label: string; title?: string; value: unknown }) {
  const body = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section className="json" tabIndex={0} aria-label={label}>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </section>
  );
  if (title === undefined) return body;
  return (
    <details>
      <summary>{title}</summary>
      {body}
    </details>
  );
}

function took(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const seconds = ms / 1_000;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 120 ? `${Math.round(minutes)} minutes` : `${Math.round(minutes / 60)} hours`;
}
