import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { ApiError } from '../../../api/errors.ts';
import { useProjectId } from '../../../app/address.ts';
import type { Condition } from '../../../conditions/tree.ts';
import { usePause } from '../../../ui/pause.ts';
import { Note, Problem } from '../../../ui/States.tsx';
import { counted } from '../../../words/numbers.ts';
import { audienceBody } from '../audience.ts';
import type { Campaign } from '../campaign.ts';
import { type Audience, missingAt } from '../rules/steps.ts';
import type { CampaignContent } from './draft.ts';
import { countEarlier, isToEarlier } from './EarlierAudience.tsx';

/** How many contacts an audience has now, while it is being chosen; nothing is saved for it. `campaign` is what is saved already. */
export function useAudienceCount(draft: CampaignContent, campaign: Campaign | null) {
  const project = useProjectId();
  const wanted = usePause(
    { type: draft.type, audience: draft.audience, isWhole: missingAt(draft).audience.length === 0 },
    400,
  );
  return useQuery({
    queryKey: ['campaigns', project, 'audience', wanted, campaign?.resendOf, campaign?.correction],
    enabled: wanted.isWhole,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    retry: false,
    queryFn: async ({ signal }) => {
      if (isToEarlier(campaign)) return countEarlier(campaign, signal);
      const body = { type: wanted.type, ...audienceBodyOf(wanted.audience) };
      return (await answer(api.POST('/campaigns/audience', { body, signal }))).data;
    },
  });
}

function audienceBodyOf(audience: Audience) {
  const body = audienceBody(audience);
  return 'audienceCondition' in body
    ? { ...body, audienceCondition: body.audienceCondition as Condition | null }
    : body;
}

/** The size of an audience in words. */
export function AudienceCount({ draft, campaign }: { draft: CampaignContent; campaign: Campaign | null }) {
  const found = useAudienceCount(draft, campaign);
  const [missing] = missingAt(draft).audience;
  if (missing !== undefined) return <Note>{missing} Then the number of recipients appears here.</Note>;
  // A condition that is faulty is named beside its filter.
  if (found.error)
    return isFaulty(found.error) ? null : <Problem error={found.error} again={() => void found.refetch()} />;
  if (found.data === undefined)
    return (
      <div role="status">
        <Note>Counting…</Note>
      </div>
    );
  const { recipients, unsubscribed } = found.data;
  const left = unsubscribed === 0 ? '' : ` ${counted(unsubscribed, 'unsubscribed contact')} excluded.`;
  return (
    <div aria-live="polite" aria-busy={found.isFetching}>
      <Note {...(recipients === 0 ? { tone: 'warn' as const } : {})}>
        {recipients === 0
          ? `No contacts match this audience, so the campaign can’t be sent.${left}`
          : `${counted(recipients, 'contact')} right now.${left} The final audience is fixed when sending starts.`}
      </Note>
    </div>
  );
}

function isFaulty(error: unknown): boolean {
  return error instanceof ApiError && typeof error.details.path === 'string';
}
