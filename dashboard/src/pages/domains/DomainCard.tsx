import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card } from '../../ui/Page.tsx';
import { Problem } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { toast } from '../../ui/toasts.tsx';

type Domain = paths['/domains/project/{projectId}']['get']['responses'][200]['content']['application/json'][number];

const states: Record<Domain['status'], { name: string; tone: Tone }> = {
  NotStarted: { name: 'Not looked at yet', tone: 'info' },
  Pending: { name: 'Waiting for the records', tone: 'warn' },
  Success: { name: 'Verified', tone: 'good' },
  Failed: { name: 'Records are wrong', tone: 'bad' },
  TemporaryFailure: { name: 'DNS does not answer; mail still leaves', tone: 'warn' },
};
const tones: Record<string, Tone> = { verified: 'good', failed: 'bad', pending: 'warn' };

/** One domain: its state, the records to copy, and what was found at each. */
export function DomainCard({ domain, isAdmin }: { domain: Domain; isAdmin: boolean }) {
  const [removing, setRemoving] = useState(false);
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['domains', domain.projectId] });
  const check = useMutation({
    mutationFn: () => answer(api.GET('/domains/{id}/verify', { params: { path: { id: domain.id } } })),
    onSuccess: async ({ verified }) => {
      toast(
        verified ? `${domain.domain} is verified` : `${domain.domain} is not verified yet`,
        verified ? 'good' : 'warn',
      );
      await refresh();
    },
  });
  const state = states[domain.status];
  return (
    <Card
      title={
        <>
          {domain.domain} <Badge tone={state.tone}>{state.name}</Badge>
        </>
      }
    >
      <div className="stack">
        {domain.records.length === 0 ? (
          <p className="muted">It needs no records here: nothing leaves this machine.</p>
        ) : (
          <Table
            label={`DNS records of ${domain.domain}`}
            rows={domain.records}
            rowKey={({ type, name, value }) => `${type} ${name} ${value}`}
            columns={[
              {
                key: 'purpose',
                title: 'For',
                cell: ({ purpose, required }) => `${purpose}${required ? '' : ' (advised)'}`,
              },
              {
                key: 'type',
                title: 'Type',
                cell: ({ type, priority }) => (priority === null ? type : `${type} ${priority}`),
              },
              {
                key: 'name',
                title: 'Name',
                cell: ({ name }) => (
                  <>
                    <code>{name}</code> <CopyButton text={name} what={`the name ${name}`} />
                  </>
                ),
              },
              {
                key: 'value',
                title: 'Value',
                cell: ({ value, purpose }) => (
                  <>
                    <code>{value}</code> <CopyButton text={value} what={`the value for ${purpose}`} />
                  </>
                ),
              },
              {
                key: 'found',
                title: 'Found',
                cell: ({ status, finding }) => (
                  <>
                    <Badge tone={tones[status]}>{status}</Badge> {finding}
                  </>
                ),
              },
            ]}
          />
        )}
        {check.error ? <Problem error={check.error} /> : null}
        <div className="row">
          <Button busy={check.isPending} onClick={() => check.mutate()}>
            Look at the records now
          </Button>
          {isAdmin ? (
            <Button look="danger" onClick={() => setRemoving(true)}>
              Remove
            </Button>
          ) : null}
        </div>
      </div>
      {removing ? (
        <ConfirmDialog
          title={`Remove ${domain.domain}`}
          action="Remove the domain"
          onConfirm={async () => {
            await answer(api.DELETE('/domains/{id}', { params: { path: { id: domain.id } } }));
            await refresh();
          }}
          onClose={() => setRemoving(false)}
        >
          Nothing can be sent from addresses of {domain.domain} afterwards. Its records in your DNS stay; delete them
          there.
        </ConfirmDialog>
      ) : null}
    </Card>
  );
}
