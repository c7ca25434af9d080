import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useDialog, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Page.tsx';
import { Empty, Note, Shown } from '../../ui/States.tsx';
import { ShownOnce } from '../settings/keys/ShownOnce.tsx';
import { useMayAdminister } from '../settings/project.ts';
import { EndpointForm } from './EndpointForm.tsx';
import { type Endpoint, endpointState } from './endpoint.ts';
import { HealthBar } from './HealthBar.tsx';

/** Where events of the project are sent to, with the health of each. */
export function Endpoints() {
  const project = useProjectId();
  const isAdmin = useMayAdminister();
  const [dialog, setDialog] = useDialog();
  const [secret, setSecret] = useState<string | null>(null);
  const queries = useQueryClient();
  const endpoints = useQuery({
    queryKey: ['webhooks', project],
    enabled: isAdmin,
    refetchInterval: 60_000,
    queryFn: () => answer(api.GET('/webhook-endpoints', { params: { query: { include: 'health' } } })),
  });
  if (!isAdmin) return <Note>Only admins and the owner can see webhook endpoints.</Note>;
  const create = (
    <Button variant="primary" onClick={() => setDialog('new-endpoint')}>
      Add endpoint
    </Button>
  );
  return (
    <div className="stack">
      <p className="muted">
        Fernpost calls your endpoints with signed events (
        <a href="https://www.standardwebhooks.com">Standard Webhooks</a>
        ), tries again for three days, and keeps a log for 30 days.
      </p>
      <Shown query={endpoints}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No webhook endpoints yet" action={create}>
              Add one to get bounces, clicks, unsubscribes and your own events as they happen.
            </Empty>
          ) : (
            <>
              <ul className="stack">
                {all.map((endpoint) => (
                  <li key={endpoint.id}>
                    <OneEndpoint endpoint={endpoint} />
                  </li>
                ))}
              </ul>
              <div>{create}</div>
            </>
          )
        }
      </Shown>
      {dialog === 'new-endpoint' ? (
        <EndpointForm
          endpoint={null}
          onSaved={async (saved) => {
            setDialog(null);
            setSecret(saved.secret ?? null);
            await queries.invalidateQueries({ queryKey: ['webhooks', project] });
          }}
          onClose={() => setDialog(null)}
        />
      ) : null}
      {secret ? (
        <ShownOnce
          title="Endpoint added"
          what="the signing secret"
          secret={secret}
          more="Verify each request with it before you trust the body."
          onClose={() => setSecret(null)}
        />
      ) : null}
    </div>
  );
}

function OneEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const project = useProjectId();
  const state = endpointState(endpoint);
  return (
    <Card>
      <div className="stack">
        <div className="row">
          <Badge tone={state.tone}>{state.name}</Badge>
          <Link
            className="break font-medium"
            to="/app/$project/webhooks/$endpoint"
            params={{ project, endpoint: endpoint.id }}
          >
            {endpoint.url}
          </Link>
        </div>
        {endpoint.description ? <p dir="auto">{endpoint.description}</p> : null}
        <p className="break text-sm text-muted">{endpoint.events.join(', ')}</p>
        {endpoint.health ? <HealthBar health={endpoint.health} /> : null}
      </div>
    </Card>
  );
}
