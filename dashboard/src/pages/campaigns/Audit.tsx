import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Figure } from '../../ui/Figure.tsx';
import { count } from '../../ui/numbers.ts';
import { Card } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';

/** Whether the rows of a send add up, and why some got nothing. */
export function Audit({ campaign, isSending }: { campaign: string; isSending: boolean }) {
  const project = useProjectId();
  const audit = useQuery({
    // What was counted while mail still left says nothing of the end.
    queryKey: ['campaigns', project, campaign, 'audit', isSending],
    refetchInterval: ({ state }) => (isSending || state.data?.addsUp === false ? 5_000 : false),
    queryFn: async () => (await answer(api.GET('/campaigns/{id}/audit', { params: { path: { id: campaign } } }))).data,
  });
  return (
    <Card title="Audit">
      <Shown query={audit}>
        {(told) => (
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
        )}
      </Shown>
    </Card>
  );
}
