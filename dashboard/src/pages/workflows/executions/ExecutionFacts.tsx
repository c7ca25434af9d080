import { Card } from '../../../ui/Page.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { eventText, stepText } from '../../../words/events.ts';
import { type Execution, isActive, type Version } from '../workflow.ts';

// An event is said by its name for people.
function waitText(waitingFor: string): string {
  const [, event] = /^event (.+)$/s.exec(waitingFor) ?? [];
  return event === undefined ? waitingFor : `the event “${eventText(event)}”`;
}

/** Where an execution is, since when, and by which version. */
export function ExecutionFacts({ execution, version }: { execution: Execution; version: Version }) {
  const { completedAt, currentStep, waitingFor, waitingUntil, waitingSince, nextVersion } = execution;
  return (
    <Card title="Status">
      <dl className="facts">
        <dt>Entered</dt>
        <dd>
          <Timestamp at={execution.startedAt} />
        </dd>
        {completedAt ? (
          <>
            <dt>Completed</dt>
            <dd>
              <Timestamp at={completedAt} />
            </dd>
          </>
        ) : null}
        {currentStep ? (
          <>
            <dt>{isActive(execution) ? 'At' : 'Ended at'}</dt>
            <dd>{stepText(currentStep.name)}</dd>
          </>
        ) : null}
        {waitingFor ? (
          <>
            <dt>Waiting for</dt>
            <dd>
              {waitText(waitingFor)}
              {waitingUntil ? (
                <>
                  , until <Timestamp at={waitingUntil} after />
                </>
              ) : null}
              {waitingSince ? (
                <>
                  , since <Timestamp at={waitingSince} after />
                </>
              ) : null}
            </dd>
          </>
        ) : null}
        <dt>Version</dt>
        <dd>
          {execution.version}
          {version.isCurrent ? ' (published)' : ' (older: shown as it was then)'}
          {nextVersion === null ? '' : `. Moves to version ${nextVersion} at the next step`}
        </dd>
      </dl>
    </Card>
  );
}
