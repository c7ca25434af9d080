import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Figure } from '../../ui/Figure.tsx';
import { count } from '../../ui/numbers.ts';
import { Card } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';

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
    // What was counted while mail still left says nothing of the end.
    queryKey: ['campaigns', project, campaign, 'audit', isSending],
    enabled: asked || !isLarge,
    refetchInterval: ({ state }) => (isSending || state.data?.addsUp === false ? (isLarge ? 60_000 : 5_000) : false),
    queryFn: async () => (await answer(api.GET('/campaigns/{id}/audit', { params: { path: { id: campaign } } }))).data,
  });
  return (
    <Card title="Audit">
      {isLarge && !asked ? (
        <div className="stack">
          <p>
            An audit counts the ledger row by row and computes its hash. With {count(recipients)} recipients that takes
            a while.
          </p>
          <div>
            <Button onClick={() => setAsked(true)}>Audit the ledger</Button>
          </div>
        </div>
      ) : (
        <Shown query={audit}>{(told) => <Told told={told} isSending={isSending} />}</Shown>
      )}
    </Card>
  );
}

type AuditTold = paths['/campaigns/{id}/audit']['get']['responses'][200]['content']['application/json']['data'];

function Told({ told, isSending }: { told: AuditTold; isSending: boolean }) {
  return (
    <div className="stack">
      {isSending ? null : told.addsUp ? (
        <Note tone="good">The rows add up: every recipient has one verdict.</Note>
      ) : (
        <Note tone="warn">The rows do not add up yet: {count(told.unknown + told.pending)} have no verdict.</Note>
      )}
      <dl className="figures">
        {(
          [
            ['Handed over', told.handedOver],
            ['Left out', told.skipped],
            ['Failed', told.failed],
            ['Unknown', told.unknown],
            ['Waiting', told.pending],
            ['Deleted since', told.removed],
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
