import { useState } from 'react';
import { Button } from '../../../ui/Button.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Note, Problem, Shown } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count } from '../../../words/numbers.ts';
import { type Checking, type DryRun, sampleOf, sampleSize } from './dry-run.ts';
import { Findings } from './Findings.tsx';
import { Samples } from './Samples.tsx';

/** What the check of every message found, and the messages as they will be sent. */
export function Checks({
  checking: { latest, start },
  recipients,
  disabled,
}: {
  checking: Checking;
  /** Contacts in the audience right now; 0 while that is unknown. */
  recipients: number;
  /** Whether the campaign can't be checked as it is on the page. */
  disabled: boolean;
}) {
  const [isAll, setAll] = useState(false);
  const sample = sampleOf(recipients);
  return (
    <Card title="Checks">
      <div className="stack">
        {sample !== 'all' ? (
          <SelectField
            label="Messages to render"
            hint="Either way, every contact in the audience is checked."
            value={isAll ? 'all' : 'sample'}
            onChange={(event) => setAll(event.target.value === 'all')}
          >
            <option value="sample">A sample of {count(sampleSize)} (faster)</option>
            <option value="all">All messages</option>
          </SelectField>
        ) : null}
        {start.error ? <Problem error={start.error} /> : null}
        <Shown query={latest}>{(run) => (run ? <Report run={run} /> : null)}</Shown>
        <div>
          <Button
            busy={start.isPending}
            disabled={disabled || latest.data === undefined || latest.data?.state === 'RUNNING'}
            onClick={() => start.mutate(isAll ? 'all' : sample)}
          >
            {latest.data === null ? 'Check messages' : 'Check again'}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Report({ run }: { run: DryRun }) {
  if (run.state === 'FAILED') return <Note tone="bad">The check ended early: {run.failedReason}</Note>;
  if (run.state === 'RUNNING')
    return (
      <label className="field">
        <span>Checking every message before it is sent</span>
        <progress max={100} value={run.progress} />
      </label>
    );
  return (
    <>
      {run.changed.length > 0 ? (
        <Note tone="warn">The campaign has changed since this check ({run.changed.join(', ')}). Check it again.</Note>
      ) : null}
      <Findings run={run} />
      <Samples samples={run.samples} />
      <p className="muted">
        Checked <Timestamp at={run.finishedAt} />
      </p>
    </>
  );
}
