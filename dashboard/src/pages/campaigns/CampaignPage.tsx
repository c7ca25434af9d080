import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { CampaignEditor } from './CampaignEditor.tsx';
import { CampaignRun } from './CampaignRun.tsx';
import { isOpen } from './campaign.ts';

/** One campaign: written while it is a draft, watched once it is sent. */
export function CampaignPage() {
  const project = useProjectId();
  const { campaign: id = 'new' } = useParams({ strict: false });
  const campaign = useQuery({
    queryKey: ['campaigns', project, id],
    enabled: id !== 'new',
    refetchInterval: ({ state }) => (state.data?.status === 'SENDING' ? 1_500 : false),
    queryFn: async () => (await answer(api.GET('/campaigns/{id}', { params: { path: { id } } }))).data,
  });
  const above = (
    <Link to="/app/$project/campaigns" params={{ project }}>
      Campaigns
    </Link>
  );
  if (id === 'new') return <CampaignEditor key="new" campaign={null} above={above} />;
  return (
    <ShownPage query={campaign} above={above}>
      {(each) =>
        isOpen(each) ? (
          <CampaignEditor key={each.id} campaign={each} above={above} />
        ) : (
          <CampaignRun key={each.id} campaign={each} above={above} />
        )
      }
    </ShownPage>
  );
}
