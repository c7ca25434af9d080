import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { useDraft } from '../../../app/draft.ts';
import { toast } from '../../../ui/toasts.tsx';
import { contentBody, contentOf, type MailContent } from '../../mail/content.ts';
import { newMessage } from '../../mail/senders.ts';
import { audienceBody, audienceOf } from '../audience.ts';
import { type Campaign, campaignQuery, type SavedCampaign } from '../campaign.ts';
import type { Audience } from '../rules/steps.ts';

/** The editable part of a campaign: message and audience. */
export type CampaignContent = MailContent & { audience: Audience };

interface Stored {
  content: CampaignContent;
  revision: number | null;
}

function storedOf(campaign: SavedCampaign): Stored {
  return { content: { ...contentOf(campaign), audience: audienceOf(campaign) }, revision: campaign.revision };
}

/**
 * The draft of a campaign, saved under the revision it began with; null for one that is not saved yet, which begins from one of the
 * sender domains and whose ID `onCreated` receives.
 */
export function useCampaignDraft(
  campaign: Campaign | null,
  senderDomains: readonly string[] | undefined,
  onCreated: (id: string) => void,
) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { id: campaign?.id ?? '' };
  const begun = newMessage(senderDomains);
  return useDraft<CampaignContent, Stored & { id: string }>({
    stored: campaign ? storedOf(campaign) : { ...begun, content: { ...begun.content, audience: audienceOf(campaign) } },
    read: async () => storedOf((await answer(api.GET('/campaigns/{id}', { params: { path } }))).data),
    write: async ({ audience, ...content }, header) => {
      const body = { ...contentBody(content), ...audienceBody(audience) };
      const { data } =
        campaign === null
          ? await answer(api.POST('/campaigns', { body }))
          : await answer(api.PUT('/campaigns/{id}', { params: { path, header }, body }));
      return { ...storedOf(data), id: data.id };
    },
    onSaved: async ({ id }) => {
      toast('Campaign saved');
      await queries.invalidateQueries({ queryKey: ['campaigns', project] });
      if (campaign !== null) return;
      // It is there when the address changes, so that the editor goes on with what was typed meanwhile.
      await queries.fetchQuery(campaignQuery(project, id));
      onCreated(id);
      // The step stays the one that was gone to meanwhile.
      const to = '/app/$project/campaigns/$campaign';
      await navigate({ to, params: { project, campaign: id }, search: true, replace: true, ignoreBlocker: true });
    },
  });
}

/** The result of `useCampaignDraft`. */
export type CampaignDraft = ReturnType<typeof useCampaignDraft>;
