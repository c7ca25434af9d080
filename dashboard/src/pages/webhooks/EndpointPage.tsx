import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { ShownOnce } from '../settings/keys/ShownOnce.tsx';
import { Deliveries } from './Deliveries.tsx';
import { EndpointForm } from './EndpointForm.tsx';
import { type Endpoint, endpointState } from './endpoint.ts';
import { Replay } from './Replay.tsx';
import { RotateSecretDialog, TestCallDialog } from './SecretDialogs.tsx';
import { Verify } from './Verify.tsx';

/** One endpoint: its log, repeating what was missed, and how to check its calls. */
export function EndpointPage() {
  const project = useProjectId();
  const { endpoint: id = '' } = useParams({ strict: false });
  const endpoint = useQuery({
    queryKey: ['webhooks', project, id],
    refetchInterval: 15_000,
    queryFn: () => answer(api.GET('/webhook-endpoints/{id}', { params: { path: { id } } })),
  });
  return (
    <ShownPage query={endpoint} above={<Above />}>
      {(found) => <OneEndpoint endpoint={found} />}
    </ShownPage>
  );
}

function Above() {
  const project = useProjectId();
  return (
    <Link to="/app/$project/settings" params={{ project }} search={{ tab: 'webhooks' }}>
      Webhooks
    </Link>
  );
}

type Chosen = 'edit' | 'test' | 'rotate' | 'delete';

function OneEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const project = useProjectId();
  const [{ view }, change] = useFilters();
  const [dialog, setDialog] = useState<Chosen | null>(null);
  const queries = useQueryClient();
  const params = { path: { id: endpoint.id } };
  const refresh = () => queries.invalidateQueries({ queryKey: ['webhooks', project] });
  const isOn = endpoint.status === 'ENABLED';
  const flip = useMutation({
    mutationFn: () => answer(api.PATCH('/webhook-endpoints/{id}', { params, body: { paused: isOn } })),
    onSuccess: async ({ status }) => {
      toast(status === 'PAUSED' ? 'Endpoint paused' : 'Endpoint enabled');
      await refresh();
    },
  });
  const state = endpointState(endpoint);
  const views = [
    { key: 'log', name: 'Deliveries', content: <Deliveries endpoint={endpoint} /> },
    { key: 'replay', name: 'Replay', content: <Replay endpoint={endpoint} /> },
    { key: 'verify', name: 'Verify signatures', content: <Verify /> },
  ];
  return (
    <Page
      title={endpoint.description || URL.parse(endpoint.url)?.host || endpoint.url}
      above={<Above />}
      about={
        <span className="row">
          <Badge tone={state.tone}>{state.name}</Badge> <code className="break">{endpoint.url}</code>
        </span>
      }
      actions={
        <>
          <Button onClick={() => setDialog('test')}>Send test event</Button>
          <Button onClick={() => setDialog('edit')}>Edit</Button>
          <Button onClick={() => setDialog('rotate')}>Rotate secret</Button>
          <Button busy={flip.isPending} onClick={() => flip.mutate()}>
            {isOn ? 'Pause' : 'Enable'}
          </Button>
          <Button variant="danger" onClick={() => setDialog('delete')}>
            Delete
          </Button>
        </>
      }
    >
      <div className="stack">
        {flip.error ? <Problem error={flip.error} /> : null}
        <StateNotes endpoint={endpoint} />
        <Tabs
          label="Parts of the endpoint"
          value={views.find(({ key }) => key === view)?.key ?? 'log'}
          tabs={views}
          onChange={(key) => change({ view: key === 'log' ? undefined : key })}
        />
      </div>
      <Dialogs endpoint={endpoint} open={dialog} onOpen={setDialog} onChanged={refresh} />
    </Page>
  );
}

function StateNotes({ endpoint }: { endpoint: Endpoint }) {
  const isOn = endpoint.status === 'ENABLED';
  return (
    <>
      {endpoint.status === 'PAUSED' ? (
        <Note tone="warn">Paused. Events are kept and delivered once you enable the endpoint.</Note>
      ) : null}
      {endpoint.status === 'DISABLED' ? (
        <Note tone="bad">
          {endpoint.disabledReason}. Fix the endpoint, then enable it: deliveries resume where they stopped.
        </Note>
      ) : null}
      {isOn && endpoint.failingSince ? (
        <Note tone="bad">
          Every delivery has failed since <Timestamp at={endpoint.failingSince} after />. After five days the endpoint
          is disabled.
        </Note>
      ) : null}
      {isOn && endpoint.restingUntil ? (
        <Note tone="warn">
          The endpoint asked Fernpost to wait. Deliveries resume <Timestamp at={endpoint.restingUntil} />.
        </Note>
      ) : null}
    </>
  );
}

function Dialogs({
  endpoint,
  open,
  onOpen,
  onChanged,
}: {
  endpoint: Endpoint;
  open: Chosen | null;
  onOpen: (dialog: Chosen | null) => void;
  onChanged: () => Promise<unknown>;
}) {
  const project = useProjectId();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => onOpen(null);
  return (
    <>
      {open === 'edit' ? (
        <EndpointForm
          endpoint={endpoint}
          onSaved={async () => {
            close();
            toast('Endpoint saved');
            await onChanged();
          }}
          onClose={close}
        />
      ) : null}
      {open === 'test' ? <TestCallDialog endpoint={endpoint} onClose={close} /> : null}
      {open === 'rotate' ? (
        <RotateSecretDialog
          endpoint={endpoint}
          onRotated={(next) => {
            close();
            setSecret(next);
          }}
          onClose={close}
        />
      ) : null}
      {open === 'delete' ? (
        <ConfirmDialog
          title="Delete this endpoint and its log?"
          action="Delete endpoint"
          onConfirm={async () => {
            await answer(api.DELETE('/webhook-endpoints/{id}', { params: { path: { id: endpoint.id } } }));
            toast('Endpoint deleted');
            await navigate({ to: '/app/$project/settings', params: { project }, search: { tab: 'webhooks' } });
            await onChanged();
          }}
          onClose={close}
        >
          {endpoint.url} is no longer called, and its pending events are not delivered.
        </ConfirmDialog>
      ) : null}
      {secret ? (
        <ShownOnce
          title="New signing secret"
          what="the signing secret"
          secret={secret}
          onClose={() => setSecret(null)}
        />
      ) : null}
    </>
  );
}
