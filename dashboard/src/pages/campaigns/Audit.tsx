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
        <Shown query={audit}>{(told) => <Told told={told} />}</Shown>
      )}
    </Card>
  );
}

type AuditTold = components['schemas']['GetCampaignAuditResult']['data'];

function Told({ told }: { told: AuditTold }) {
  return (
    <div className="stack">
      {told.addsUp ? (
        <Note tone="good">Balanced: every recipient is accounted for.</Note>
      ) : (
        <Note tone="warn">Not balanced yet: {count(told.unknown + told.pending)} without a final status.</Note>
      )}
      <dl className="figures">
        {(
          [
            ['Sent', told.handedOver],
            ['Skipped', told.skipped],
            ['Failed', told.failed],
            ['Unconfirmed', told.unknown],
            ['Pending', told.pending],
            ['Deleted', told.removed],
          ] as const
        ).map(([name, value]) => (
          <Figure key={name} name={name} value={count(value)} />
        ))}
      </dl>
      {told.reasons.length > 0 ? (
        <ul>
          {told.reasons.map(({ reason, count: times }) => (
            <li key={reason}>
              {count(times)} × {reason}
            </li>
          ))}
        </ul>
      ) : null}
      {told.hash ? (
        <p className="muted break">
          SHA-256 of the ledger: <code>{told.hash}</code>
        </p>
      ) : null}
    </div>
  );
}
