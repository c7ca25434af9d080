import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Figure } from '../../ui/Figure.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';
import { count } from '../../words/numbers.ts';

// The service reads every row for it: some seconds for a hundred thousand.
const auditedAtOnce = 20_000;

/** Whether the rows of a send add up, and why some got nothing; of a large one when somebody asks. */
export function Audit({
  campaign,
  recipients,
  isSending,
}: {
  campaign: string;
  recipients: number;
  isSending: boolean;
}) {
  const project = useProjectId();
  const [asked, setAsked] = useState(false);
  const isLarge = recipients > auditedAtOnce;
  const audit = useQuery({
    queryKey: ['campaigns', project, campaign, 'audit'],
    enabled: !isSending && (asked || !isLarge),
    refetchInterval: ({ state }) => (state.data?.addsUp === false ? (isLarge ? 60_000 : 5_000) : false),
    queryFn: async () => (await answer(api.GET('/campaigns/{id}/audit', { params: { path: { id: campaign } } }))).data,
  });
  return (
    <Card title="Audit">
      {isSending ? (
        // While mail leaves, a count of its rows would differ from the progress above with every glance.
        <p className="muted">The audit runs when sending has finished.</p>
      ) : isLarge && !asked ? (
        <div className="stack">
          <p>
            An audit counts the ledger row by row and computes its hash. With {count(recipients)} recipients that takes
            a while.
          </p>
          <div>
            <Button onClick={() => setAsked(true)}>Run audit</Button>
          </div>
        </div>
      ) : (
        <Shown query={audit}>{(result) => <AuditFigures result={result} />}</Shown>
      )}
    </Card>
  );
}

type AuditReport = components['schemas']['GetCampaignAuditResult']['data'];

function AuditFigures({ result }: { result: AuditReport }) {
  return (
    <div className="stack">
      {result.addsUp ? (
        <Note tone="good">Balanced: every recipient is accounted for.</Note>
      ) : (
        <Note tone="warn">Not balanced yet: {count(result.unknown + result.pending)} without a final status.</Note>
      )}
      <dl className="figures">
        {(
          [
            ['Sent', result.handedOver],
            ['Skipped', result.skipped],
            ['Failed', result.failed],
            ['Unconfirmed', result.unknown],
            ['Pending', result.pending],
            ['Deleted', result.removed],
            ...(result.notKept === undefined ? [] : ([['No longer listed', result.notKept]] as const)),
          ] as const
        ).map(([name, value]) => (
          <Figure key={name} name={name} value={count(value)} />
        ))}
      </dl>
      {result.reasons.length > 0 ? (
        <ul>
          {result.reasons.map(({ reason, count: times }) => (
            <li key={reason}>
              {count(times)} × {reason}
            </li>
          ))}
        </ul>
      ) : null}
      {result.hash ? (
        <p className="muted break">
          SHA-256 of the ledger: <code>{result.hash}</code>
        </p>
      ) : null}
    </div>
  );
}
