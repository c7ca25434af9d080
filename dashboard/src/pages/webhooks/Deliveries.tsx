import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter } from '../../app/filters.tsx';
import { usePages } from '../../app/pages.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Fact } from '../../ui/Fact.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Problem, Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { counted } from '../../words/numbers.ts';
import { AttemptResult } from './AttemptResult.tsx';
import { type Delivery, type DeliveryDetails, deliveryStates, type Endpoint, includes } from './endpoint.ts';

const eventIdIn = (text: string) => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0];

/** The log of an endpoint, the latest event first. */
export function Deliveries({ endpoint }: { endpoint: Endpoint }) {
  const project = useProjectId();
  const [{ status, type, event = '' }, change] = useFilters();
  const types = useTypes(endpoint, type);
  const queryKey = ['webhooks', project, endpoint.id, 'deliveries', { status, type }];
  const deliveries = usePages({
    queryKey,
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/webhook-endpoints/{id}/deliveries', {
          params: {
            path: { id: endpoint.id },
            query: {
              limit: 50,
              cursor,
              ...(status ? { status: status as Delivery['status'] } : {}),
              ...(type ? { type } : {}),
            },
          },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) => (data === undefined || data.pages.length === 1 ? 5_000 : false),
  });
  const shown = eventIdIn(event);
  return (
    <>
      <div className="filters">
        <ChoiceFilter
          name="status"
          label="Status"
          all="Any status"
          choices={Object.entries(deliveryStates).map(([value, { name }]) => [value, name])}
        />
        <ChoiceFilter name="type" label="Event type" all="Any type" choices={types.map((name) => [name, name])} />
        <SearchField label="Webhook or event ID" value={event} onChange={(text) => change({ event: text.trim() })} />
      </div>
      <EndlessRows
        label="Deliveries"
        query={deliveries}
        rowsOf={(page) => page.data}
        rowKey={({ eventId }) => eventId}
        empty={
          status || type ? (
            <Empty title="No deliveries match">Try another status or event type.</Empty>
          ) : (
            <Empty title="No deliveries yet">Events that this endpoint subscribes to appear here.</Empty>
          )
        }
      >
        {(delivery) => (
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 @2xl:grid @2xl:grid-cols-[7rem_minmax(0,1fr)_7rem_minmax(0,1fr)_auto]">
            <Badge tone={deliveryStates[delivery.status].tone}>{deliveryStates[delivery.status].name}</Badge>
            <span className="break font-medium">{delivery.type}</span>
            <span className="text-sm text-muted">{counted(delivery.attempts, 'attempt')}</span>
            <span className="muted">
              {delivery.nextAttemptAt && delivery.attempts > 0 ? (
                <>
                  Next <Timestamp at={delivery.nextAttemptAt} />
                </>
              ) : (
                <Timestamp at={delivery.eventAt} />
              )}
            </span>
            <Button
              size="small"
              aria-label={`Show delivery ${delivery.sequence}`}
              onClick={() => change({ event: delivery.webhookId })}
            >
              Show
            </Button>
          </div>
        )}
      </EndlessRows>
      {shown ? <OneDelivery endpoint={endpoint} eventId={shown} onClose={() => change({ event: undefined })} /> : null}
    </>
  );
}

/** The types that deliveries of an endpoint can have: what it subscribes to, and the events of the project among that. */
function useTypes({ events }: Endpoint, chosen: string | undefined): string[] {
  const project = useProjectId();
  const names = useQuery({
    queryKey: ['events', project, 'names'],
    queryFn: () => answer(api.GET('/events/names')),
  });
  const known = names.data?.eventNames.filter((name) => events.some((pattern) => includes(pattern, name))) ?? [];
  const all = [...events.filter((pattern) => pattern !== '*'), ...known, ...(chosen ? [chosen] : [])];
  return [...new Set(all)].sort();
}

function OneDelivery({ endpoint, eventId, onClose }: { endpoint: Endpoint; eventId: string; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const params = { path: { id: endpoint.id, eventId } };
  const queryKey = ['webhooks', project, endpoint.id, 'deliveries', eventId];
  const [isAgain, setAgain] = useState(false);
  const delivery = useQuery({
    queryKey,
    retry: false,
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? 2_000 : false),
    queryFn: () => answer(api.GET('/webhook-endpoints/{id}/deliveries/{eventId}', { params })),
  });
  const redeliver = useMutation({
    mutationFn: () => answer(api.POST('/webhook-endpoints/{id}/deliveries/{eventId}/redeliver', { params })),
    onSuccess: async () => {
      setAgain(true);
      toast('Event queued again');
      await queries.invalidateQueries({ queryKey: ['webhooks', project, endpoint.id] });
    },
  });
  return (
    <Dialog title={delivery.data?.type ?? 'Delivery'} onClose={onClose}>
      <Shown query={delivery}>{(found) => <DeliveryFacts delivery={found} />}</Shown>
      {redeliver.error ? <Problem error={redeliver.error} /> : null}
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button
          variant="primary"
          busy={redeliver.isPending}
          disabled={delivery.data === undefined || (isAgain && delivery.data.status === 'PENDING')}
          onClick={() => redeliver.mutate()}
        >
          Redeliver
        </Button>
      </footer>
    </Dialog>
  );
}

function DeliveryFacts({
  delivery: { status, webhookId, sequence, eventAt, nextAttemptAt, body, log },
}: {
  delivery: DeliveryDetails;
}) {
  return (
    <div className="stack">
      <dl className="facts">
        <Fact name="Status">
          <Badge tone={deliveryStates[status].tone}>{deliveryStates[status].name}</Badge>
        </Fact>
        <Fact name="Webhook ID">
          <code>{webhookId}</code>
        </Fact>
        <Fact name="Sequence">{sequence}</Fact>
        <Fact name="Event">
          <Timestamp at={eventAt} />
        </Fact>
        <Fact name="Next attempt">{nextAttemptAt ? <Timestamp at={nextAttemptAt} /> : null}</Fact>
      </dl>
      <h3>Body</h3>
      {body === null ? (
        <p className="muted">The event was deleted.</p>
      ) : (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
          <section className="json" tabIndex={0} aria-label="Request body">
            <pre>{indented(body)}</pre>
          </section>
          <div>
            <CopyButton text={body} what="the request body" />
          </div>
        </>
      )}
      <h3>Attempts</h3>
      {log.length === 0 ? <p className="muted">No attempts yet.</p> : null}
      <ol className="stack">
        {log.map((attempt, index) => (
          <li key={attempt.at}>
            <AttemptResult attempt={attempt} name={`Response ${index + 1} of ${log.length}`} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function indented(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
