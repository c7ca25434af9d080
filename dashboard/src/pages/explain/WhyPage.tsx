import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Card, Page } from '../../ui/Page.tsx';
import { Shown } from '../../ui/States.tsx';
import { Trail } from './Trail.tsx';

/** An explanation that somebody has linked to, with what is known today. */
export function WhyPage() {
  const project = useProjectId();
  const { permalink = '' } = useParams({ strict: false });
  const explanation = useQuery({
    queryKey: ['explain', project, permalink],
    queryFn: () => answer(api.GET('/explain/{permalink}', { params: { path: { permalink } } })),
    refetchOnWindowFocus: false,
  });
  return (
    <Page title="Why?">
      <Card>
        <Shown query={explanation}>
          {(found) => <Trail explanation={found} onFixed={() => void explanation.refetch()} />}
        </Shown>
      </Card>
    </Page>
  );
}
