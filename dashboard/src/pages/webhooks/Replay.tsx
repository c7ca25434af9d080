import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count } from '../../words/numbers.ts';
import { localText, ownZone } from '../../words/times.ts';
import type { Endpoint } from './endpoint.ts';

const dayMs = 86_400_000;
const wall = (ms: number) => localText(new Date(ms).toISOString());

/** Delivers the events of a span once more, for a receiver that was away or lost them. */
export function Replay({ endpoint }: { endpoint: Endpoint }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [since, setSince] = useState(() => wall(Date.now() - dayMs));
  const [until, setUntil] = useState(() => wall(Date.now()));
  const [only, setOnly] = useState<'failed' | 'all'>('failed');
  const path = { id: endpoint.id };
  const queryKey = ['webhooks', project, endpoint.id, 'replays'];
  const replays = useQuery({
    queryKey,
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'RUNNING') ? 2_000 : false),
    queryFn: () => answer(api.GET('/webhook-endpoints/{id}/replays', { params: { path } })),
  });
  const start = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/webhook-endpoints/{id}/replay', {
          params: { path },
          body: {
            since: new Date(since).toISOString(),
            // A minute is named without its seconds: all of it belongs to the span.
            until: new Date(Date.parse(until) + 59_999).toISOString(),
            only,
          },
        }),
      ),
    onSuccess: async () => {
      toast('Replay started');
      await queries.invalidateQueries({ queryKey });
    },
  });
  return (
    <div className="stack">
      <Card title="Replay events">
        <Form onSubmit={() => start.mutate()}>
          <p className="muted">
            Events of the last 30 days. They keep their webhook ID, so your endpoint can skip those it has processed.
          </p>
          <div className="filters">
            <TextField
              label={`From (${ownZone()})`}
              type="datetime-local"
              required
              value={since}
              problem={problemOf(start.error, 'since')}
              onChange={(event) => setSince(event.target.value)}
            />
            <TextField
              label={`Until (${ownZone()})`}
              type="datetime-local"
              required
              value={until}
              problem={problemOf(start.error, 'until')}
              onChange={(event) => setUntil(event.target.value)}
            />
            <SelectField
              label="Events"
              value={only}
              onChange={(event) => setOnly(event.target.value as 'failed' | 'all')}
            >
              <option value="failed">Failed deliveries</option>
              <option value="all">All events</option>
            </SelectField>
            <Button type="submit" variant="primary" busy={start.isPending}>
              Start replay
            </Button>
          </div>
          <FormProblem error={start.error} fields={['since', 'until']} />
        </Form>
      </Card>
      <Shown query={replays}>{(all) => (all.length === 0 ? null : <Replays replays={all} />)}</Shown>
    </div>
  );
}

function Replays({ replays }: { replays: components['schemas']['WebhookReplay'][] }) {
  return (
    <Table
      label="Replays"
      rows={replays}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'status',
          title: 'Status',
          cell: ({ status }) => (
            <Badge tone={status === 'DONE' ? 'good' : 'info'}>{status === 'DONE' ? 'Done' : 'Running'}</Badge>
          ),
        },
        { key: 'since', title: 'From', cell: (each) => <Timestamp at={each.since} /> },
        { key: 'until', title: 'Until', cell: (each) => <Timestamp at={each.until} /> },
        { key: 'only', title: 'Events', cell: (each) => (each.only === 'failed' ? 'Failed' : 'All') },
        { key: 'requeued', title: 'Queued again', cell: ({ requeued }) => count(requeued) },
        { key: 'created', title: 'Started', cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
      ]}
    />
  );
}
