import { Link } from '@tanstack/react-router';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import type { Campaign } from '../campaign.ts';

/** A campaign whose audience is some of the recipients of an earlier one, which cannot be changed. */
type ToEarlier = Pick<Campaign, 'correction' | 'totalRecipients'> & { resendOf: string };

/** Whether the audience of a campaign is some of the recipients of an earlier one. */
export function isToEarlier<Draft extends Campaign>(campaign: Draft | null): campaign is Draft & ToEarlier {
  return campaign !== null && campaign.resendOf !== null;
}

const reaches: Record<NonNullable<Campaign['correction']>['who'], string> = {
  not_opened: 'Recipients who neither opened nor clicked a link in',
  not_clicked: 'Recipients who did not click a link in',
  opened: 'Recipients who opened',
  clicked: 'Recipients who clicked a link in',
  got: 'Everyone who got',
};

/** Which recipients of which campaign, in words. */
export function EarlierAudience({ campaign: { resendOf, correction } }: { campaign: ToEarlier }) {
  const project = useProjectId();
  return (
    <>
      {correction ? reaches[correction.who] : 'Recipients who missed'}{' '}
      <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: resendOf }}>
        an earlier campaign
      </Link>
    </>
  );
}

/** How many these are now. */
export async function countEarlier(
  { resendOf, correction, totalRecipients }: ToEarlier,
  signal: AbortSignal,
): Promise<{ recipients: number; unsubscribed: number }> {
  // Who was missed is sent to at once, and no draft of it is counted again.
  if (correction === null) return { recipients: totalRecipients, unsubscribed: 0 };
  const params = { path: { id: resendOf } };
  const { who, versions } = correction;
  if (who === 'not_opened' || who === 'not_clicked')
    return (await answer(api.POST('/campaigns/{id}/follow-up/audience', { params, body: { who }, signal }))).data;
  const body = { who, versions };
  return (await answer(api.POST('/campaigns/{id}/correction/audience', { params, body, signal }))).data;
}
