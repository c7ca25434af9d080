import { useMutation } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { Button } from '../../../ui/Button.tsx';
import { Figure } from '../../../ui/Figure.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Note, Problem } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { count, counted, rate } from '../../../words/numbers.ts';
import type { Campaign } from '../campaign.ts';

type Canary = NonNullable<Campaign['canary']>;

const limits = [
  { name: 'Bounced', of: 'bounced', limit: 'bounceRate', code: 'canary_bounce_rate' },
  { name: 'Complaints', of: 'complained', limit: 'complaintRate', code: 'canary_complaint_rate' },
  { name: 'Unsubscribed', of: 'unsubscribed', limit: 'unsubscribeRate', code: 'canary_unsubscribe_rate' },
] as const;

/** The canary of a campaign: how far its slice is, its limits, and what a person may decide while it is held. */
export function CanaryCard({ campaign, onChange }: { campaign: Campaign; onChange: () => Promise<void> }) {
  const { id, canary, pausedAt, status } = campaign;
  const proceed = useMutation({
    mutationFn: () => answer(api.POST('/campaigns/{id}/canary/continue', { params: { path: { id } } })),
    onSuccess: async () => {
      toast('Sending continues to everyone else');
      await onChange();
    },
  });
  if (!canary) return null;
  const { counts, state, minDelivered, recipients } = canary;
  const isOpen = status === 'SENDING' && (state === 'SENDING' || state === 'HOLDING') && canary.releasedAt === null;
  return (
    <Card title="Send to a few first">
      <div className="stack">
        <Standing canary={canary} status={status} />
        {state === 'WAITING' ? null : (
          <>
            {isOpen ? (
              <label className="field">
                <span>
                  {count(counts.mailed)} of {counted(recipients, 'recipient')} sent
                </span>
                <progress max={recipients} value={Math.min(recipients, counts.mailed)} />
              </label>
            ) : null}
            <dl className="figures">
              <Figure
                name="Delivered"
                value={count(counts.delivered)}
                more={minDelivered > 0 ? `at least ${count(minDelivered)}` : ''}
              />
              {limits.map(({ name, of, limit }) => {
                const most = canary.stopIf[limit];
                const share = counts.mailed === 0 ? 0 : (counts[of] / counts.mailed) * 100;
                const held = most === null ? 'no limit' : `limit ${most}%`;
                return <Figure key={of} name={name} value={count(counts[of])} more={`${rate(share)}, ${held}`} />;
              })}
            </dl>
          </>
        )}
        {proceed.error ? <Problem error={proceed.error} /> : null}
        {isOpen && !pausedAt ? (
          <div>
            <Button busy={proceed.isPending} onClick={() => proceed.mutate()}>
              Continue to everyone else
            </Button>
          </div>
        ) : null}
      </div>
    </Card>
  );
}

function Standing({ canary, status }: { canary: Canary; status: Campaign['status'] }) {
  const { state, recipients, hold, heldUntil, stopped, releasedAt, endedAt } = canary;
  if (state === 'STOPPED' && stopped !== null)
    return <Note tone="bad">{reasonOf(stopped)} Resume the campaign to send to everyone else anyway, or stop it.</Note>;
  if (state === 'PASSED')
    return (
      <p>
        {releasedAt === null ? 'Passed' : 'Continued by a member'} <Timestamp at={releasedAt ?? endedAt} />. Sending
        continued to everyone else.
      </p>
    );
  if (status === 'CANCELLED') return <p>The campaign was stopped before it went to everyone else.</p>;
  if (releasedAt !== null) return <p>Continued by a member. Everyone else follows now.</p>;
  if (state === 'HOLDING')
    return (
      <p>
        Everyone else waits until <Timestamp at={heldUntil} /> for reports about these{' '}
        {counted(recipients, 'recipient')}. The campaign pauses if a limit is exceeded.
      </p>
    );
  return (
    <p>
      The first {counted(recipients, 'recipient')} get this campaign, then everyone else waits {hold} for reports about
      them.
    </p>
  );
}

function reasonOf({ code, count: found, of, limit }: NonNullable<Canary['stopped']>): string {
  if (code === 'canary_too_few_delivered')
    return `Paused: ${count(found)} of ${count(of)} were reported as delivered, and at least ${count(limit)} are needed.`;
  const kind = limits.find((each) => each.code === code)?.name.toLowerCase() ?? 'reported';
  return `Paused: ${count(found)} of ${count(of)} (${rate(of === 0 ? 0 : (found / of) * 100)}) ${kind}, more than the limit of ${limit}%.`;
}
