import { useState } from 'react';
import { Button } from '../../../ui/Button.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Note, Problem, Shown } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count } from '../../../words/numbers.ts';
import type { Campaign } from '../campaign.ts';
import { type DryRun, useDryRun } from './dry-run.ts';
import { Findings } from './Findings.tsx';
import { LaunchReviewed } from './LaunchReviewed.tsx';
import { Samples } from './Samples.tsx';

// A smaller audience is rendered within seconds.
const sampledAbove = 10_000;
const sampleSize = 1_000;

/** Checks every message of a campaign before it is sent, and sends exactly what was checked. */
export function CampaignReview({
  campaign,
  recipients,
  hasChanges,
}: {
  campaign: Campaign;
  /** Contacts in the audience right now; 0 while that is unknown. */
  recipients: number;
  hasChanges: boolean;
}) {
  const { latest, start } = useDryRun(campaign.id);
  const [isSample, setSample] = useState(false);
  const isLarge = recipients > sampledAbove;
  return (
    <Card title="Check every message">
      <div className="stack">
        <p className="muted">
          Renders the email for each contact of the audience without sending it, and shows what’s wrong first.
        </p>
        {hasChanges ? <Note>Save your changes to check the campaign.</Note> : null}
        {isLarge ? (
          <SelectField
            label="Messages to render"
            hint="Either way, every contact in the audience is checked."
            value={isSample ? 'sample' : 'all'}
            onChange={(event) => setSample(event.target.value === 'sample')}
          >
            <option value="all">All messages</option>
            <option value="sample">A sample of {count(sampleSize)} (faster)</option>
          </SelectField>
        ) : null}
        {start.error ? <Problem error={start.error} /> : null}
        <div>
          <Button
            busy={start.isPending}
            disabled={hasChanges || latest.data?.state === 'RUNNING'}
            onClick={() => start.mutate(isLarge && isSample ? sampleSize : 'all')}
          >
            {latest.data ? 'Check again' : 'Check messages'}
          </Button>
        </div>
        <Shown query={latest}>
          {(run) => (run ? <Report run={run} campaign={campaign} hasChanges={hasChanges} /> : null)}
        </Shown>
      </div>
    </Card>
  );
}

function Report({ run, campaign, hasChanges }: { run: DryRun; campaign: Campaign; hasChanges: boolean }) {
  if (run.state === 'FAILED') return <Note tone="bad">The check ended early: {run.failedReason}</Note>;
  if (run.state === 'RUNNING')
    return (
      <label className="field">
        <span>Checking messages</span>
        <progress max={100} value={run.progress} />
      </label>
    );
  return (
    <>
      <p className="muted">
        Checked <Timestamp at={run.finishedAt} />
      </p>
      <Findings run={run} />
      <Samples samples={run.samples} />
      {run.changed.length > 0 ? (
        <Note tone="warn">The campaign has changed since this check ({run.changed.join(', ')}). Check it again.</Note>
      ) : null}
      <LaunchReviewed
        run={run}
        campaign={campaign}
        disabled={hasChanges || run.changed.length > 0 || run.fingerprint === null}
      />
    </>
  );
}
