import type { ReactNode } from 'react';
import type { components } from '../../../api/schema.d.ts';
import { Badge, type Tone } from '../../../ui/Badge.tsx';
import { Note } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { eventText, stepText } from '../../../words/events.ts';
import { StepIcon } from '../canvas/StepIcon.tsx';
import type { Drawing } from '../designer/shown.ts';
import { tracedWays, traceText, unsentBecause } from '../executions/trace.ts';

/** Shows what would happen to a contact, as returned by the API. */
export type TestRun = components['schemas']['WorkflowTestRun'];
type TestedStep = TestRun['steps'][number];

const outcomes: Record<TestedStep['outcome'], { name: string; tone?: Tone }> = {
  COMPLETED: { name: 'Would run', tone: 'good' },
  SKIPPED: { name: 'Would be skipped', tone: 'warn' },
  FAILED: { name: 'Would fail', tone: 'bad' },
  WAITING: { name: 'Would wait', tone: 'info' },
};

/** The graph with the path of a test run: what each step would do, and the transitions that the contact would take. */
export function withTestRun({ steps, ways }: Drawing, { steps: reached }: TestRun): Drawing {
  return {
    steps: steps.map((shown) => {
      const index = reached.findLastIndex(({ stepId }) => stepId === shown.step.id);
      const at = reached[index];
      if (at === undefined) return shown;
      const { name, tone } = outcomes[at.outcome];
      return { ...shown, trace: traceText(index, name, at.output), tone };
    }),
    ways: tracedWays(ways, reached),
  };
}

/** The steps of a test run with what each would do, and how it ends. */
export function TestRunResult({ run: { end, reason, endsAt, steps } }: { run: TestRun }) {
  return (
    <section aria-live="polite" aria-label="Test result" className="stack">
      <ol className="stack">
        {steps.map((step, index) => (
          <li key={step.stepId}>
            <h3 className="break row">
              <StepIcon type={step.type} /> {index + 1}. {stepText(step.name)}{' '}
              <Badge tone={outcomes[step.outcome].tone}>{outcomes[step.outcome].name}</Badge>
            </h3>
            <p className="break">
              <Deed step={step} />{' '}
              <span className="muted">
                (<Timestamp at={step.at} />)
              </span>
            </p>
          </li>
        ))}
      </ol>
      <Note tone={end === 'FAILED' ? 'bad' : end === 'WAITING' ? 'warn' : 'good'}>
        <p className="break">{endings[end](reason ?? '')}</p>
        {endsAt && end !== 'FAILED' ? (
          <p>
            Ends <Timestamp at={endsAt} />.
          </p>
        ) : null}
      </Note>
    </section>
  );
}

const endings: Record<TestRun['end'], (reason: string) => string> = {
  COMPLETED: () => 'The contact would reach the end of the workflow.',
  EXITED: (reason) => `The contact would leave the workflow: ${reason}.`,
  FAILED: (reason) => `The workflow would fail: ${reason}.`,
  WAITING: (reason) => `The contact would stay: ${reason}.`,
};

function Deed({ step: { type, outcome, output, error } }: { step: TestedStep }): ReactNode {
  if (error !== null) return `${error}.`;
  const text = (key: string) => String(output[key] ?? '');
  const event = eventText(text('eventName'));
  if (output.exit !== undefined) return `The contact leaves at this step: ${text('reason')}.`;
  switch (type) {
    case 'TRIGGER':
      if (outcome === 'SKIPPED') return 'The workflow does not start.';
      return output.eventName === null ? 'The workflow starts.' : `Starts with the event ${event}.`;
    case 'SEND_EMAIL': {
      if (outcome === 'SKIPPED') return `Sends nothing: ${unsentBecause[text('skipped')] ?? text('skipped')}.`;
      const missing = Array.isArray(output.missing) ? ` No value for ${output.missing.join(', ')}.` : '';
      const sends = `Sends “${text('subject')}” to ${text('recipientEmail')}`;
      if (output.heldUntil === undefined) return `${sends}.${missing}`;
      return (
        <>
          {sends}, on hold until <Timestamp at={text('heldUntil')} after /> (quiet hours).{missing}
        </>
      );
    }
    case 'DELAY':
      return (
        <>
          Waits until <Timestamp at={text('until')} after />.
        </>
      );
    case 'WAIT_UNTIL':
      if (outcome === 'WAITING') return 'Waits until the contact has a date.';
      if (output.passed === true) return 'Waits no more: the date has passed.';
      return (
        <>
          Waits until <Timestamp at={text('until')} after /> ({text('zone')}).
        </>
      );
    case 'WAIT_FOR_EVENT':
      if (outcome === 'WAITING') return `Waits for the event ${event}.`;
      return output.waitOutcome === 'EVENT'
        ? `Continues with the event ${event}.`
        : `Times out without the event ${event}.`;
    case 'CONDITION':
      if (typeof output.field !== 'string') return `Takes the path ${text('branch')}.`;
      return `${text('field')} is ${JSON.stringify(output.actualValue)}: takes the path ${text('branch')}.`;
    case 'SPLIT':
      return `Takes the path ${text('branch')}, as ${text('percent')}% of contacts do.`;
    case 'WEBHOOK':
      return `Calls ${text('method')} ${text('url')}.`;
    case 'UPDATE_CONTACT': {
      const keys = Object.keys((output.updates as object | null) ?? {});
      const subscription = output.subscribed === true ? 'subscribed' : 'unsubscribed';
      return keys.length > 0 ? `Updates ${keys.join(', ')}.` : `Leaves the contact ${subscription}.`;
    }
    case 'EXIT':
      return 'Ends the workflow for the contact.';
  }
}
