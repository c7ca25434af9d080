import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { loaded } from '../../api/load.ts';
import { useProjectId } from '../../app/address.ts';
import { useCreatedHere } from '../../app/created.ts';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Loading } from '../../ui/States.tsx';
import { useSenderDomains } from '../mail/senders.ts';
import { campaignQuery, isOpen } from './campaign.ts';

// A campaign is either written or watched, and each half is large.
const CampaignEditor = lazy(() =>
  loaded(() => import('./CampaignEditor.tsx')).then((part) => ({ default: part.CampaignEditor })),
);
const CampaignRun = lazy(() =>
  loaded(() => import('./CampaignRun.tsx')).then((part) => ({ default: part.CampaignRun })),
);

/** One campaign: written while it is a draft, watched once it is sent. */
export function CampaignPage() {
  const project = useProjectId();
  const { campaign: id = 'new' } = useParams({ strict: false });
  const { key, isCreatedHere, onCreated } = useCreatedHere(id);
  const campaign = useQuery({
    ...campaignQuery(project, id),
    enabled: id !== 'new',
    refetchInterval: ({ state }) => (state.data?.status === 'SENDING' ? 1_500 : false),
  });
  const above = (
    <Link to="/app/$project/campaigns" params={{ project }}>
      Campaigns
    </Link>
  );
  const domains = useSenderDomains();
  if (id === 'new' && domains === undefined) return <Loading />;
  const written = id === 'new' ? null : isCreatedHere ? campaign.data : undefined;
  if (written === null || (written && isOpen(written)))
    return (
      <Suspense fallback={<Loading />}>
        <CampaignEditor key={key} campaign={written} senderDomains={domains} above={above} onCreated={onCreated} />
      </Suspense>
    );
  return (
    <ShownPage query={campaign} above={above}>
      {(each) => (
        <Suspense fallback={<Loading />}>
          {isOpen(each) ? (
            <CampaignEditor key={key} campaign={each} senderDomains={domains} above={above} onCreated={onCreated} />
          ) : (
            <CampaignRun key={each.id} campaign={each} above={above} />
          )}
        </Suspense>
      )}
    </ShownPage>
  );
}
